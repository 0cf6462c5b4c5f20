"""The parser: sentences in, parsed sentences out, in order, in batches of similar length and bounded memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.cores import available_cores
from longarc.data.batches import batches_by_length
from longarc.data.sentence import DEPREL, HEAD, Sentence
from longarc.data.vocabulary import TAG_COLUMNS
from longarc.decoding.beam import parse_with_beam
from longarc.decoding.greedy import Parses, parse_greedily
from longarc.errors import LongarcError
from longarc.runtime.installed_models import find_model
from longarc.runtime.model_file import ModelFile, read_model_file
from longarc.runtime.parsed import ParsedSentence
from longarc.runtime.session import BatchScores, Session
from longarc.runtime.tokenizer import make_tokenizer
from longarc.transitions import get_system
from longarc.trees.pseudo_projective import deprojectivize

WINDOW_WORDS = 50_000
"""Words that are read ahead and sorted by length."""
BATCH_WORDS = 600
"""Words in a batch, if memory allows: more make the network no faster, and take more memory."""
MEGABYTE = 1 << 20
BYTES_PER_WORD = 60_000
BYTES_PER_PAIR = 24
"""What a batch takes while it is scored and searched, roughly: per word, and per pair of words of a sentence."""


class Parser:
    """A loaded model. Safe to use from several threads at once, and in worker processes."""

    def __init__(
        self,
        source: str | Path | ModelFile,
        *,
        threads: int | None = None,
        memory: int = 256,
        beam: int = 1,
    ) -> None:
        """`source`: a model file, or what was read from one; `threads`: processor threads; `memory`: megabytes for a
        batch; `beam`: hypotheses per sentence."""
        if beam < 1:
            raise LongarcError(f"beam is {beam}, expected 1 at least")
        self.name = "model" if isinstance(source, ModelFile) else str(source)
        package = source if isinstance(source, ModelFile) else read_model_file(source)
        self.card = package.card
        self.description = package.description
        self.threads = threads or available_cores()
        self.memory = memory
        self.beam = beam
        self.system = get_system(self.description.system)
        self._source = source
        self._pool: ThreadPoolExecutor | None = None
        self._pool_owner = 0
        # The graph is read again where another process needs it, and not kept: the network has it already.
        self._session = Session(package, self.package, self.name)
        self.tokenizer = make_tokenizer(package, self.package, self.name)

    def package(self) -> ModelFile:
        """The content of the model file, which is read again unless the parser was made from its content."""
        return self._source if isinstance(self._source, ModelFile) else read_model_file(self._source)

    def __reduce__(self) -> tuple[Any, ...]:
        """Goes to another process as the name of its file; the network is set up anew there."""
        return _revive, (self._source, self.threads, self.memory, self.beam)

    def parse(self, sentence: Sequence[str] | Sentence) -> ParsedSentence:
        """Parses one sentence, given as the forms of its words or as a Sentence (which is not changed)."""
        if isinstance(sentence, str):
            raise LongarcError("a sentence is a list of words", 'A text is parsed by calling the parser: nlp("…").')
        given = sentence.copy() if isinstance(sentence, Sentence) else Sentence.from_forms(sentence)
        return next(self.stream([given], probabilities=True))

    def split(self, text: str, *, ranges: bool = False) -> list[Sentence]:
        """A text as sentences that are not parsed yet. Their MISC columns tell what stood between the words, so that
        the text can be had back; with `ranges`, also where each token stood in it (TokenRange)."""
        return self.tokenizer.split(text, ranges=ranges)

    def __call__(self, text: str) -> list[ParsedSentence]:
        """Splits and parses a text."""
        if not isinstance(text, str):
            raise LongarcError(f"a text is a string, not {type(text).__name__}", "Words are parsed by nlp.parse([…]).")
        return list(self.stream(self.split(text), probabilities=True))

    def stream(
        self, sentences: Iterable[Sentence], *, keep_tags: bool = False, probabilities: bool = False
    ) -> Generator[ParsedSentence, None, None]:
        """Parses sentences as they come and gives them back in order, with the predicted columns replaced.

        Predicted are HEAD and DEPREL, and with `keep_tags` = False the tags that the model knows.
        """
        begun: list[_Window] = []
        try:
            for window in _windows(sentences):
                begun.append(self._begin(window, keep_tags, probabilities))
                if len(begun) > 1:
                    yield from begun[0].in_order()
                    del begun[0]
            if begun:
                yield from begun[0].in_order()
        finally:  # after an error, or where someone has seen enough, nobody waits for the rest
            for unfinished in begun:
                unfinished.cancel()

    def _begin(self, sentences: list[Sentence], keep_tags: bool, probabilities: bool) -> _Window:
        """Sets the threads to work on a window.

        Each thread takes one batch after the other, network and search: that keeps the cores busier than a network that
        splits every step of a batch among them. The next window can be read while they work on this one.
        """
        nodes = np.array([len(sentence) + 1 for sentence in sentences], dtype=np.int64)
        cost = nodes * BYTES_PER_WORD + nodes**2 * BYTES_PER_PAIR * self.beam
        limit = min(self.memory * MEGABYTE // self.threads, BATCH_WORDS * BYTES_PER_WORD)
        # The longest first, so that in the end no thread is left alone with the largest batch.
        batches = [indices.tolist() for indices in reversed(batches_by_length(cost, limit))]

        def parse(indices: list[int]) -> list[ParsedSentence]:
            own = [sentences[index] for index in indices]
            return self.parse_batch(own, keep_tags=keep_tags, probabilities=probabilities)

        if self.threads == 1 or len(batches) < 2:
            return _Window(batches, map(parse, batches))
        futures = deque(self._workers().submit(parse, batch) for batch in batches)
        return _Window(batches, (futures.popleft().result() for _ in batches), futures)

    def _workers(self) -> ThreadPoolExecutor:
        """The threads of this process: those of the process that it was forked from are not here."""
        if self._pool is None or self._pool_owner != os.getpid():
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="longarc")
            self._pool_owner = os.getpid()
        return self._pool

    def parse_batch(
        self, sentences: Sequence[Sentence], *, keep_tags: bool = False, probabilities: bool = False
    ) -> list[ParsedSentence]:
        """Parses some sentences, best of similar length, at once and in this thread; see `stream` for the options."""
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int32)
        scores = self._session.run([sentence.forms for sentence in sentences], totals=probabilities or self.beam > 1)
        parses = self._search(lengths, scores)
        relations, relation_probabilities = self._session.relations(scores, parses.heads)
        certainty = parses.probabilities
        if certainty is not None and relation_probabilities is not None:
            certainty = certainty * relation_probabilities
        parsed = []
        for row, sentence in enumerate(sentences):
            own = slice(0, lengths[row] + 1)
            tags = {name: best[row, own] for name, best in scores.tags.items()}
            self._fill_in(sentence, parses.heads[row, own], relations[row, own], tags, keep_tags)
            found = certainty[row, own] if probabilities and certainty is not None else None
            parsed.append(ParsedSentence(sentence, self.system.name, found))
        return parsed

    def _search(self, lengths: NDArray[np.int32], scores: BatchScores) -> Parses:
        single_root = self.description.single_root
        if self.beam > 1:
            assert scores.totals is not None
            return parse_with_beam(
                self.system, lengths, scores.scores, scores.totals, beam=self.beam, single_root=single_root
            )
        return parse_greedily(self.system, lengths, scores.scores, scores.totals, single_root=single_root)

    def _fill_in(
        self,
        sentence: Sentence,
        heads: NDArray[np.int64],
        relation_numbers: NDArray[np.int64],
        tags: dict[str, NDArray[np.int64]],
        keep_tags: bool,
    ) -> None:
        """Replaces the predicted columns of a sentence; all arrays are indexed by node."""
        relation_names = self.description.relations.names
        relations = ["", *(relation_names[number] for number in relation_numbers[1:].tolist())]
        if self.system.projective:
            lowered, relations = deprojectivize(heads.astype(np.int32), relations, self.description.scheme)
            heads = lowered.astype(np.int64)
        sentence.set_column(HEAD, [str(head) for head in heads.tolist()])
        sentence.set_column(DEPREL, relations)
        if keep_tags:
            return
        for name, best in tags.items():
            labels = self.description.tags[name].names
            if labels != ["_"]:
                sentence.set_column(TAG_COLUMNS[name], [labels[number] for number in best.tolist()])


def _windows(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """The sentences in lists of about WINDOW_WORDS words."""
    window: list[Sentence] = []
    words = 0
    for sentence in sentences:
        if not isinstance(sentence, Sentence):
            hint = "longarc.read gives them from a file, Sentence.from_forms from words; nlp(…) takes text."
            raise LongarcError(f"expected sentences, not {type(sentence).__name__}", hint)
        window.append(sentence)
        words += len(sentence)
        if words >= WINDOW_WORDS:
            yield window
            window, words = [], 0
    if window:
        yield window


@dataclass
class _Window:
    """Sentences that are being parsed."""

    batches: list[list[int]]
    results: Iterable[list[ParsedSentence]]
    futures: Iterable[Future[list[ParsedSentence]]] = ()

    def in_order(self) -> Iterator[ParsedSentence]:
        """The sentences of all batches in the order of their indices."""
        found: dict[int, ParsedSentence] = {}
        for indices, parsed in zip(self.batches, self.results, strict=True):
            found.update(zip(indices, parsed, strict=True))
        for index in range(len(found)):
            yield found.pop(index)

    def cancel(self) -> None:
        """Leaves out the batches that no thread has begun with."""
        for future in self.futures:
            future.cancel()


def _revive(source: str | Path | ModelFile, threads: int, memory: int, beam: int) -> Parser:
    return Parser(source, threads=threads, memory=memory, beam=beam)


def load(model: str | Path | None = None, *, threads: int | None = None, memory: int = 256, beam: int = 1) -> Parser:
    """Loads a model, named by its file or by a name that `longarc models` lists; without one, the English model that
    comes with Longarc. See Parser for the options."""
    return Parser(find_model(model), threads=threads, memory=memory, beam=beam)
