"""The parser: sentences in, parsed sentences out, in order, in batches of similar length and bounded memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from longarc.cores import available_cores
from longarc.data.batches import batches_by_length
from longarc.data.characters import LineBreaks
from longarc.data.columns import Column
from longarc.data.document import Document
from longarc.data.raw_text import set_starts
from longarc.data.sentence import DEPREL, HEAD, Sentence
from longarc.decoding.beam import parse_with_beam
from longarc.decoding.greedy import Parses, parse_greedily
from longarc.errors import LongarcError
from longarc.runtime.ensemble import Ensemble
from longarc.runtime.installed_models import find_model
from longarc.runtime.model_file import ModelFile, read_model_file
from longarc.runtime.session import BatchScores, Session
from longarc.runtime.tokenizer import make_tokenizer
from longarc.transitions import get_system
from longarc.trees.pseudo_projective import deprojectivize

if TYPE_CHECKING:
    from longarc.runtime.auto_parser import AutoParser

Context = TypeVar("Context")
Source = str | Path | ModelFile
"""A model file, or its content."""

WINDOW_WORDS = 50_000
"""Words that are read ahead and sorted by length."""
GROUP_CHARACTERS = 50_000
"""Characters of short texts that are split into words at once."""
BATCH_WORDS = 600
"""Words in a batch, memory permitting; larger batches are no faster and take more memory."""
MEGABYTE = 1 << 20
LEAST_MEMORY, MOST_BEAM = 16, 64
"""Limits of the options."""
BYTES_PER_WORD = 60_000
BYTES_PER_PAIR = 24
"""Approximate memory of a batch during scoring and search, per word and per pair of words of a sentence."""


class Parser:
    """A loaded model; call it to parse text. Thread-safe, and usable in worker processes.

    >>> nlp = longarc.load(threads=1)
    >>> doc = nlp("She left. Nobody knew why.")
    >>> [sentence.root.text for sentence in doc]
    ['left', 'knew']
    """

    def __init__(
        self,
        source: Source | Sequence[Source],
        *,
        threads: int | None = None,
        memory: int = 256,
        beam: int = 1,
    ) -> None:
        """Load a model file, or use one that was read already; several models parse together as an ensemble.

        threads: processor threads, all available cores by default. memory: megabytes for the batches being parsed.
        beam: hypotheses per sentence.
        """
        for name, value, least, most in (
            ("threads", 1 if threads is None else threads, 1, None),
            ("memory", memory, LEAST_MEMORY, None),
            ("beam", beam, 1, MOST_BEAM),
        ):
            if not isinstance(value, int) or value < least or (most is not None and value > most):
                limits = f"at least {least}" if most is None else f"{least} to {most}"
                raise LongarcError(f"{name} is {value}, expected a whole number, {limits}")
        self._sources = [source] if isinstance(source, (str, Path, ModelFile)) else list(source)
        names = ["model" if isinstance(one, ModelFile) else str(one) for one in self._sources]
        self.name = ",".join(names)
        models = [_read(one) for one in self._sources]
        model = models[0]
        self.card = model.card
        self.description = model.description
        self.profile = model.profile
        self.threads = threads or available_cores()
        self.memory = memory
        self.beam = beam
        self.columns: dict[str, Column] = {
            name: column for name, column in self.description.columns.items() if column.labels.names != ["_"]
        }
        """The columns that the model predicts besides HEAD and DEPREL, by name, except columns that are always empty"""
        self.system = get_system(self.description.system)
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0
        sessions = [
            Session(one, partial(_read, of), name) for one, of, name in zip(models, self._sources, names, strict=True)
        ]
        self.session: Session | Ensemble = sessions[0]
        if len(sessions) > 1:
            self.session = Ensemble(sessions, [one.description for one in models], names)
        self.tokenizer = make_tokenizer(model, partial(_read, self._sources[0]), self.name)

    def model_file(self) -> ModelFile:
        """Return the content of the model file, which is read again unless the parser was made from its content."""
        if len(self._sources) > 1:
            raise LongarcError("an ensemble has several model files", "Load one of its models to save it.")
        return _read(self._sources[0])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the names of the files; the other process loads them again."""
        return _restore, (self._sources, self.threads, self.memory, self.beam)

    def parse(self, sentence: Sequence[str] | Sentence) -> Sentence:
        """Parse one sentence, given as a list of words or as a Sentence, which is not changed.

        >>> longarc.load().parse(["She", "left", "."]).root.text
        'left'
        """
        if isinstance(sentence, str):
            raise LongarcError("a sentence is a list of words", 'Call the parser to parse a text: nlp("…").')
        copy = sentence.copy() if isinstance(sentence, Sentence) else Sentence.from_forms(sentence)
        return next(self.stream([copy], probabilities=True))

    def split(self, text: str, *, ranges: bool = False, line_breaks: LineBreaks = "auto") -> Document:
        """Split a text into sentences and words without parsing them.

        A single line break may end a sentence (`auto`), ends a paragraph (`paragraphs`), or separates words like a
        space (`spaces`). A blank line always ends a paragraph.

        MISC records the white space between the words, so the text can be restored; with `ranges` also the character
        range of each token (TokenRange).

        >>> [sentence.text for sentence in longarc.load().split("She left. Nobody knew why.")]
        ['She left.', 'Nobody knew why.']
        """
        return self.tokenizer.split(text, ranges=ranges, line_breaks=line_breaks)

    @overload
    def __call__(self, text: str, *, line_breaks: LineBreaks = "auto") -> Document: ...
    @overload
    def __call__(self, text: list[str] | tuple[str, ...], *, line_breaks: LineBreaks = "auto") -> list[Document]: ...
    @overload
    def __call__(self, *, words: Sequence[str] | Sequence[Sequence[str]]) -> Document: ...
    def __call__(
        self,
        text: str | list[str] | tuple[str, ...] | None = None,
        *,
        words: Sequence[str] | Sequence[Sequence[str]] | None = None,
        line_breaks: LineBreaks = "auto",
    ) -> Document | list[Document]:
        """Parse a text, a list of texts, or `words`: the words of one sentence or of several.

        See `split` for `line_breaks`.

        >>> nlp = longarc.load()
        >>> nlp("She left.")[0].root.text
        'left'
        >>> [doc[0].root.text for doc in nlp(["She left.", "He stayed."])]
        ['left', 'stayed']
        >>> nlp(words=["She", "left", "."])[0].root.text
        'left'
        """
        if (text is None) == (words is None):
            raise LongarcError(
                "expected either a text or words", 'Call nlp("She left.") or nlp(words=["She", "left"]).'
            )
        if words is not None:
            return self._parse_words(words)
        if isinstance(text, str):
            return next(self.pipe([text], line_breaks=line_breaks))
        if not isinstance(text, (list, tuple)):
            hint = "Use nlp.pipe for an iterable of texts."
            raise LongarcError(f"a text is a string, not {type(text).__name__}", hint)
        return list(self.pipe(text, line_breaks=line_breaks))

    def _parse_words(self, words: Sequence[str] | Sequence[Sequence[str]]) -> Document:
        if isinstance(words, str):
            raise LongarcError("words is one string, expected a list", 'Call nlp("…") to parse a text.')
        if not all(isinstance(word, (str, list, tuple)) for word in words):
            raise LongarcError("words contains something else than words", "Each sentence is a list of strings.")
        forms = [word for word in words if isinstance(word, str)]
        sentences = [forms] if forms else words
        if forms and len(forms) < len(words):
            raise LongarcError("words mixes words and lists of words", "Each sentence is a list of words.")
        document = Document(map(Sentence.from_forms, sentences))
        set_starts(document)
        deque(self.stream(document, probabilities=True), maxlen=0)
        return document

    @overload
    def pipe(
        self,
        texts: Iterable[str],
        *,
        as_tuples: Literal[False] = False,
        probabilities: bool = True,
        line_breaks: LineBreaks = "auto",
    ) -> Generator[Document, None, None]: ...
    @overload
    def pipe(
        self,
        texts: Iterable[tuple[str, Context]],
        *,
        as_tuples: Literal[True],
        probabilities: bool = True,
        line_breaks: LineBreaks = "auto",
    ) -> Generator[tuple[Document, Context], None, None]: ...
    def pipe(
        self,
        texts: Iterable[Any],
        *,
        as_tuples: bool = False,
        probabilities: bool = True,
        line_breaks: LineBreaks = "auto",
    ) -> Generator[Any, None, None]:
        """Parse texts as they come and yield their documents in order, in batches across texts.

        With `as_tuples`, the texts are pairs of a text and anything that belongs to it, and so are the results.
        Leaving the `probabilities` out is a little faster.

        >>> pairs = [("She left.", {"line": 1}), ("He stayed.", {"line": 2})]
        >>> for doc, context in longarc.load().pipe(pairs, as_tuples=True):
        ...     print(context["line"], doc[0].root.text)
        1 left
        2 stayed
        """
        if isinstance(texts, str):
            raise LongarcError("texts is one string, expected several", 'Call nlp("…") to parse one text.')
        waiting: deque[tuple[Document, Any]] = deque()

        def split_all() -> Iterator[Sentence]:
            for pairs in _groups(texts if as_tuples else ((text, None) for text in texts)):
                documents = self.tokenizer.split_many([text for text, _ in pairs], line_breaks)
                for document, (_, context) in zip(documents, pairs, strict=True):
                    waiting.append((document, context))
                    yield from document

        with closing(self.stream(split_all(), probabilities=probabilities)) as parsed:
            left = 0  # sentences of the current document that are not parsed yet
            for _ in parsed:
                while not left:
                    document, context = waiting.popleft()
                    left = len(document)
                    if not left:
                        yield (document, context) if as_tuples else document
                left -= 1
                if not left:
                    yield (document, context) if as_tuples else document
        for document, context in waiting:
            yield (document, context) if as_tuples else document

    def stream(
        self,
        sentences: Iterable[Sentence],
        *,
        keep_tags: bool = False,
        probabilities: bool = False,
        on_parsed: Callable[[int], None] = lambda _: None,
    ) -> Generator[Sentence, None, None]:
        """Parse sentences as they come and yield them in order; their predicted columns are replaced in place.

        HEAD and DEPREL are always predicted; so are the model's other columns unless `keep_tags` is set. `on_parsed` is
        called with the size of each batch that is parsed, in the thread that parsed it.

        >>> nlp = longarc.load()
        >>> [len(sentence) for sentence in nlp.stream(longarc.read("examples/nonprojective.conllu"))]
        [9, 7]
        """
        windows: list[_Window] = []
        try:
            for window in _windows(sentences):
                windows.append(self._start(window, keep_tags, probabilities, on_parsed))
                if len(windows) > 1:
                    yield from windows[0].in_order()
                    del windows[0]
            if windows:
                yield from windows[0].in_order()
        finally:  # do not parse the rest after an error, or when the caller stops early
            for unfinished in windows:
                unfinished.cancel()

    def _start(
        self, sentences: list[Sentence], keep_tags: bool, probabilities: bool, on_parsed: Callable[[int], None]
    ) -> _Window:
        """Start parsing a window.

        Each thread runs network and search for one batch after the other, which uses the cores better than a network
        that divides each batch among them. The next window can be read meanwhile.
        """
        nodes = np.array([len(sentence) + 1 for sentence in sentences], dtype=np.int64)
        cost = (nodes * BYTES_PER_WORD + nodes**2 * BYTES_PER_PAIR * self.beam) * len(self._sources)
        limit = min(self.memory * MEGABYTE // self.threads, BATCH_WORDS * BYTES_PER_WORD)
        # Longest first, so that no thread is left alone with the largest batch at the end.
        batches = [indices.tolist() for indices in reversed(batches_by_length(cost, limit))]

        def parse(indices: list[int]) -> list[Sentence]:
            batch = [sentences[index] for index in indices]
            parsed = self.parse_batch(batch, keep_tags=keep_tags, probabilities=probabilities)
            on_parsed(len(parsed))
            return parsed

        if self.threads == 1 or len(batches) < 2:
            return _Window(batches, map(parse, batches))
        futures = deque(self._workers().submit(parse, batch) for batch in batches)
        return _Window(batches, (futures.popleft().result() for _ in batches), futures)

    def _workers(self) -> ThreadPoolExecutor:
        """Return the threads of this process; a forked process starts its own."""
        if self._pool is None or self._pool_process != os.getpid():
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="longarc")
            self._pool_process = os.getpid()
        return self._pool

    def parse_batch(
        self, sentences: Sequence[Sentence], *, keep_tags: bool = False, probabilities: bool = False
    ) -> list[Sentence]:
        """Parse sentences, preferably of similar length, as one batch in this thread; see `stream` for the options."""
        for sentence in sentences:
            _require_sentence(sentence)
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int32)
        scores = self.session.run([sentence.forms for sentence in sentences], totals=probabilities or self.beam > 1)
        parses = self._search(lengths, scores)
        relations, relation_probabilities = self.session.relations(scores, parses.heads)
        arc_probabilities = parses.probabilities if probabilities else None
        if arc_probabilities is not None and scores.totals is scores.scores:
            arc_probabilities = arc_probabilities * relation_probabilities
        for row, sentence in enumerate(sentences):
            nodes = slice(0, lengths[row] + 1)
            self._set_tree(sentence, parses.heads[row, nodes], relations[row, nodes])
            if not keep_tags:
                self._set_columns(sentence, {name: labels[row, nodes] for name, labels in scores.labels.items()})
            sentence.probabilities = None if arc_probabilities is None else arc_probabilities[row, nodes]
            sentence.system = self.system.name
        return list(sentences)

    def _search(self, lengths: NDArray[np.int32], scores: BatchScores) -> Parses:
        single_root = self.description.single_root
        if self.beam > 1:
            assert scores.totals is not None
            return parse_with_beam(
                self.system, lengths, scores.scores, scores.totals, beam=self.beam, single_root=single_root
            )
        return parse_greedily(self.system, lengths, scores.scores, scores.totals, single_root=single_root)

    def _set_tree(self, sentence: Sentence, heads: NDArray[np.int64], relation_numbers: NDArray[np.int64]) -> None:
        """Fill in HEAD and DEPREL; arrays are indexed by node."""
        names = self.description.relations.names
        relations = ["", *(names[number] for number in relation_numbers[1:].tolist())]
        scheme = self.description.scheme
        if self.system.projective and scheme != "none":
            lowered, relations = deprojectivize(heads.astype(np.int32), relations, scheme)
            heads = lowered.astype(np.int64)
        sentence.set_column(HEAD, [str(head) for head in heads.tolist()])
        sentence.set_column(DEPREL, relations)

    def _set_columns(self, sentence: Sentence, labels: dict[str, NDArray[np.int64]]) -> None:
        """Fill in the other predicted columns; arrays are indexed by node."""
        forms = sentence.forms
        cells: dict[str, list[str]] = {}
        for name, column in self.columns.items():
            cells[name] = column.decode(forms, labels[name][1:], cells)
            sentence.set_column(column.index, ["", *cells[name]])


def _groups(pairs: Iterable[tuple[str, Any]]) -> Iterator[list[tuple[str, Any]]]:
    """Yield pairs of a text and its context in groups of about GROUP_CHARACTERS."""
    group: list[tuple[str, Any]] = []
    characters = 0
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise LongarcError("with as_tuples, each item is a pair of a text and anything that belongs to it")
        text, context = pair
        if not isinstance(text, str):
            raise LongarcError(f"a text is a string, not {type(text).__name__}", "Parse words with nlp(words=[…]).")
        group.append((text, context))
        characters += len(text) + 1
        if characters >= GROUP_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _require_sentence(sentence: object) -> None:
    if not isinstance(sentence, Sentence):
        hint = "Use longarc.read for files and Sentence.from_forms for words; call the parser to parse text."
        raise LongarcError(f"expected sentences, not {type(sentence).__name__}", hint)


def _windows(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """Yield the sentences in lists of about WINDOW_WORDS words."""
    window: list[Sentence] = []
    words = 0
    for sentence in sentences:
        _require_sentence(sentence)
        window.append(sentence)
        words += len(sentence)
        if words >= WINDOW_WORDS:
            yield window
            window, words = [], 0
    if window:
        yield window


@dataclass
class _Window:
    """Sentences being parsed."""

    batches: list[list[int]]
    results: Iterable[list[Sentence]]
    futures: Iterable[Future[list[Sentence]]] = ()

    def in_order(self) -> Iterator[Sentence]:
        """Yield the sentences of all batches in their original order."""
        parsed: dict[int, Sentence] = {}
        for indices, batch in zip(self.batches, self.results, strict=True):
            parsed.update(zip(indices, batch, strict=True))
        for index in range(len(parsed)):
            yield parsed.pop(index)

    def cancel(self) -> None:
        """Drop the batches that no thread has started."""
        for future in self.futures:
            future.cancel()


def _read(source: Source) -> ModelFile:
    return source if isinstance(source, ModelFile) else read_model_file(source)


def _restore(sources: list[Source], threads: int, memory: int, beam: int) -> Parser:
    return Parser(sources, threads=threads, memory=memory, beam=beam)


@overload
def load(  # type: ignore[overload-overlap]  # `auto` is no model's name
    model: Literal["auto"], *, threads: int | None = None, memory: int = 256, beam: int = 1
) -> AutoParser: ...
@overload
def load(
    model: str | Path | None = None, *, threads: int | None = None, memory: int = 256, beam: int = 1
) -> Parser: ...
def load(
    model: str | Path | None = None, *, threads: int | None = None, memory: int = 256, beam: int = 1
) -> Parser | AutoParser:
    """Load a model by file, by name or by language (`longarc models` lists them), by default the English model.

    Several models, separated by commas, parse together as an ensemble, which is slower. `auto`
    recognizes the language of each text and uses the installed model of that language. See Parser for the other
    options.

    >>> nlp = longarc.load("en_ewt", threads=2)
    >>> nlp("She left.")[0].root.text
    'left'
    """
    if model == "auto":
        from longarc.runtime.auto_parser import AutoParser  # which imports this module

        return AutoParser(threads=threads, memory=memory, beam=beam)
    is_file = model is None or isinstance(model, Path) or Path(model).is_file()
    names = [model] if is_file else [name.strip() for name in str(model).split(",")]
    if "" in names:
        raise LongarcError(f"{str(model)!r}: the name of a model is missing", "`longarc models` lists the models.")
    return Parser([find_model(name) for name in names], threads=threads, memory=memory, beam=beam)
