"""Longarc as a component of spaCy pipelines: trees, tags and sentence starts on spaCy's own tokens.

spaCy finds it by its entry point: `nlp.add_pipe("longarc")` needs no import of Longarc.
"""

# No `from __future__ import annotations` here: spaCy checks a configuration by the annotations of the factory.

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, IS_SPACE, MORPH, POS, SENT_START, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS as UNIVERSAL_TAGS
from spacy.tokens import Doc, Token
from spacy.util import minibatch, raise_error

from longarc.data.sentence import FEATS, NOT_IN_A_FORM, UPOS, XPOS, Sentence
from longarc.errors import LongarcError
from longarc.runtime.model_file import ModelFile, model_file_bytes, read_model_file, write_model_file
from longarc.runtime.parsed import ParsedSentence

if TYPE_CHECKING:
    from longarc.runtime.parser import Parser

MODEL_FILE = "model.longarc"
"""The name of the model in the component's folder of a saved pipeline."""
ROOT = "ROOT"
"""What spaCy calls the relation that Universal Dependencies calls `root`."""
SPACE_TAG = "_SP"
"""What spaCy's own models call the tag of white space."""
SPACE_RELATION = "dep"
"""The relation of white space, also that of spaCy's own models. It cannot be empty: spaCy would not show the head."""
PROBABILITY = "arc_probability"

_MARKS, _WIDE_MARKS, _CLOSERS = ".!?…؟۔।॥։።។", "。！？｡", r"[\"'”’»›)\]}」』）】]*"
_SENTENCE_END = re.compile(
    # A run of marks is tried from its first only, so that the time is linear whatever the text.
    rf"(?<![{_MARKS}])(?P<mark>[{_MARKS}]+){_CLOSERS}\s+"
    rf"|(?<![{_WIDE_MARKS}])[{_WIDE_MARKS}]+{_CLOSERS}\s*"  # of scripts that have no space between sentences
    r"|\n[^\S\n]*\n\s*"  # an empty line
)

ErrorHandler = Callable[[str, Any, list[Doc], Exception], None]


def find_sentence_starts(doc: Doc, parser: "Parser") -> NDArray[np.bool_]:
    """[tokens] as the model has learnt to find sentences, or else by punctuation; where a token of spaCy begins at the
    first character of a sentence."""
    if parser.description.tokenizer is None:
        return _starts_by_punctuation(doc)
    token_at = {token.idx: token.i for token in doc}
    found = (sentence[0].start for sentence in parser.tokenizer.spans(doc.text))
    starts = np.zeros(len(doc), dtype=np.bool_)
    starts[[token_at[place] for place in found if place in token_at]] = True
    return starts


def _starts_by_punctuation(doc: Doc) -> NDArray[np.bool_]:
    """[tokens] A full stop that is part of a token (`Mr.`, `z.B.`) ends no sentence, nor does one before a small
    letter."""
    starts = np.zeros(len(doc), dtype=np.bool_)
    text = doc.text.rstrip()
    token_at = {token.idx: token.i for token in doc}
    for end in _SENTENCE_END.finditer(text):
        within_a_sentence = end["mark"] and (end.start() not in token_at or text[end.end()].islower())
        if end.end() in token_at and not within_a_sentence:
            starts[token_at[end.end()]] = True
    return starts


@dataclass(frozen=True)
class Plan:
    """Which tokens of a document are words of which sentence."""

    spaces: NDArray[np.bool_]
    """[tokens] which are white space, and no words for the parser"""
    starts: NDArray[np.bool_]
    """[tokens] which are the first of their sentence"""
    words: list[NDArray[np.int64]]
    """The tokens that are words, of each sentence that has any."""

    @classmethod
    def of(cls, doc: Doc, parser: "Parser") -> "Plan":
        """Sentence starts that the document has stay; of tokens that may or may not be one, the text decides."""
        spaces = doc.to_array(IS_SPACE).astype(np.bool_)
        known = doc.to_array(SENT_START).view(np.int64)
        starts = known == 1
        starts[:1] = True
        if (known[1:] == 0).any():
            starts |= (known == 0) & find_sentence_starts(doc, parser)
        words = np.flatnonzero(~spaces)
        numbers = np.cumsum(starts)[words]
        sentences = np.split(words, np.flatnonzero(np.diff(numbers)) + 1) if len(words) else []
        return cls(spaces, starts, sentences)

    def sentences(self, doc: Doc) -> list[Sentence]:
        """The sentences that have words, for the parser."""
        forms = [NOT_IN_A_FORM.sub(" ", token.text) for token in doc]
        return [Sentence.from_forms([forms[index] for index in words.tolist()]) for words in self.words]

    def heads_of_spaces(self) -> NDArray[np.int64]:
        """[tokens] for white space the word before it in its sentence, or else the first after it, or else, where a
        sentence has no words, its first token. The entries of words say nothing."""
        tokens = np.arange(len(self.spaces))
        sentence = np.cumsum(self.starts)
        first = np.maximum.accumulate(np.where(self.starts, tokens, 0))
        before = np.maximum.accumulate(np.where(self.spaces, -1, tokens))
        after = np.minimum.accumulate(np.where(self.spaces, len(tokens), tokens)[::-1])[::-1]
        after_is_near = sentence[np.minimum(after, len(tokens) - 1)] == sentence
        after_is_near &= after < len(tokens)
        return np.where(before >= first, before, np.where(after_is_near, after, first))


class LongarcComponent:
    """Parses spaCy's documents with a Longarc model.

    The model is loaded when it is first needed: a pipeline that was saved is set up with the name of a file that may no
    longer be there, and gets the model that was saved with it afterwards.
    """

    def __init__(
        self,
        name: str = "longarc",
        *,
        model: str | Path | ModelFile | None = None,
        threads: int | None = None,
        memory: int = 256,
        beam: int = 1,
        overwrite_tags: bool = True,
        arc_probability: bool = False,
    ) -> None:
        """`model`: a model file, what was read from one, or None for the one that comes with Longarc; `threads`,
        `memory`, `beam`: see Parser; `overwrite_tags`: whether tags and features that a token has are replaced;
        `arc_probability`: whether `token._.arc_probability` is set."""
        for option, value in (("threads", threads), ("memory", memory), ("beam", beam)):
            if value is not None and value < 1:
                raise LongarcError(f"{name}: {option} is {value}, and must be at least 1")
        self.name = name
        self.model = model
        self.threads = threads
        self.memory = memory
        self.beam = beam
        self.overwrite_tags = overwrite_tags
        self.arc_probability = arc_probability
        self._parser: Parser | None = None
        self._error_handler: ErrorHandler = raise_error
        if arc_probability and not Token.has_extension(PROBABILITY):
            Token.set_extension(PROBABILITY, default=None)

    @property
    def parser(self) -> "Parser":
        """The parser, loaded when it is first asked for."""
        if self._parser is None:
            # spaCy imports this module whenever a pipeline is made: onnxruntime is left for those who parse.
            from longarc.runtime.parser import Parser, load

            options: dict[str, Any] = {"threads": self.threads, "memory": self.memory, "beam": self.beam}
            self._parser = load(**options) if self.model is None else Parser(self.model, **options)
        return self._parser

    def _use(self, model: Path | ModelFile) -> None:
        """Loads another model, now, so that a damaged one is noticed at once."""
        self.model, self._parser = model, None
        _ = self.parser

    def __call__(self, doc: Doc) -> Doc:
        """Parses one document, in place."""
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parses documents as they come, the sentences of `batch_size` documents together."""
        for batch in minibatch(stream, size=batch_size):
            docs = list(batch)
            try:
                self._parse(docs)
            except Exception as error:
                self._error_handler(self.name, self, docs, error)
            else:
                yield from docs

    def _parse(self, docs: Sequence[Doc]) -> None:
        plans = [Plan.of(doc, self.parser) for doc in docs]
        sentences = (sentence for doc, plan in zip(docs, plans, strict=True) for sentence in plan.sentences(doc))
        parsed = self.parser.stream(sentences, probabilities=self.arc_probability)
        for doc, plan in zip(docs, plans, strict=True):
            self._annotate(doc, plan, [next(parsed) for _ in plan.words])

    def _annotate(self, doc: Doc, plan: Plan, parsed: Sequence[ParsedSentence]) -> None:
        """Writes the sentences of a document into it."""
        if not len(doc):
            return
        heads, relations = _tree(plan, parsed)
        columns = {
            HEAD: (heads - np.arange(len(doc))).view(np.uint64),
            DEP: _numbers(relations, doc.vocab.strings.add),
        }
        for attribute, values in self._tags(doc, plan, parsed).items():
            old = doc.to_array(attribute)
            columns[attribute] = values if self.overwrite_tags else np.where(old == 0, values, old)
        doc.from_array(list(columns), np.stack(list(columns.values()), axis=1))
        # Given heads, spaCy works the sentence starts out anew, from the edges of the roots' subtrees; it may give up
        # before it has found those of a tree that is not projective.
        doc.from_array([SENT_START], np.where(plan.starts, 1, -1).astype(np.int64).view(np.uint64)[:, None])
        if self.arc_probability:
            for words, sentence in zip(plan.words, parsed, strict=True):
                for index, token in zip(words.tolist(), sentence, strict=True):
                    doc[index]._.set(PROBABILITY, token.probability)

    def _tags(self, doc: Doc, plan: Plan, parsed: Sequence[ParsedSentence]) -> dict[int, NDArray[np.uint64]]:
        """By spaCy's attribute, [tokens] the tags and features that the model predicts.

        Tags that are not those of Universal Dependencies cannot be a spaCy `pos`: they become the `tag`, unless the
        model predicts finer ones.
        """
        predicted = self.parser.description.tags
        coarse, fine = (
            set(predicted[name].names) - {"_"} if name in predicted else set() for name in ("tags", "fine_tags")
        )
        universal = coarse <= set(UNIVERSAL_TAGS)
        found = {}
        if coarse and universal:
            found[POS] = _numbers(_column(plan, parsed, UPOS, "SPACE"), UNIVERSAL_TAGS.__getitem__)
        if fine or not universal:
            found[TAG] = _numbers(_column(plan, parsed, XPOS if fine else UPOS, SPACE_TAG), doc.vocab.strings.add)
        features = _column(plan, parsed, FEATS, "")
        if any(features):
            found[MORPH] = _numbers(features, doc.vocab.morphology.add)
        return found

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        """Sets what is called, in place of raising the exception, when documents cannot be parsed."""
        self._error_handler = error_handler

    def get_error_handler(self) -> ErrorHandler:
        """What is called when documents cannot be parsed."""
        return self._error_handler

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Saves the model in a folder; the options are in the pipeline's configuration."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        write_model_file(folder / MODEL_FILE, self.parser.package())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "LongarcComponent":
        """Takes the model that was saved in a folder."""
        self._use(Path(path) / MODEL_FILE)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model as bytes."""
        return model_file_bytes(self.parser.package())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "LongarcComponent":
        """Takes the model that `to_bytes` gave."""
        self._use(read_model_file(io.BytesIO(data)))
        return self


def _tree(plan: Plan, parsed: Sequence[ParsedSentence]) -> tuple[NDArray[np.int64], list[str]]:
    """[tokens] the head of each token, a root being its own, and its relation.

    In spaCy a sentence has one root: where the model gives it several, the others are attached to the first.
    """
    heads = plan.heads_of_spaces()
    relations = [ROOT if head == index else SPACE_RELATION for index, head in enumerate(heads.tolist())]
    for words, sentence in zip(plan.words, parsed, strict=True):
        nodes = sentence.heads[1:]
        roots = np.flatnonzero(nodes == 0)
        heads[words] = words[nodes - 1]
        heads[words[roots]] = words[roots[0]]
        for index, relation in zip(words.tolist(), sentence.relations[1:], strict=True):
            relations[index] = relation
        first = int(words[roots[0]])
        if relations[first].lower() == "root":
            relations[first] = ROOT
    return heads, relations


def _column(plan: Plan, parsed: Sequence[ParsedSentence], column: int, space: str) -> list[str]:
    """[tokens] a column of the sentences of a document, `_` being nothing, and `space` for white space."""
    values = [space] * len(plan.spaces)
    for words, sentence in zip(plan.words, parsed, strict=True):
        for index, value in zip(words.tolist(), sentence.column(column)[1:], strict=True):
            values[index] = "" if value == "_" else value
    return values


def _numbers(names: Sequence[str], number: Callable[[str], int]) -> NDArray[np.uint64]:
    """[names] spaCy's number of each name; each name is looked up once."""
    known = {name: number(name) for name in set(names)}
    return np.array([known[name] for name in names], dtype=np.uint64)


def make_longarc(
    nlp: Language,
    name: str,
    model: str | None,
    threads: int | None,
    memory: int,
    beam: int,
    overwrite_tags: bool,
    arc_probability: bool,
) -> LongarcComponent:
    """The factory that spaCy calls."""
    return LongarcComponent(
        name,
        model=model,
        threads=threads,
        memory=memory,
        beam=beam,
        overwrite_tags=overwrite_tags,
        arc_probability=arc_probability,
    )


Language.factory(
    "longarc",
    default_config={
        "model": None,
        "threads": None,
        "memory": 256,
        "beam": 1,
        "overwrite_tags": True,
        "arc_probability": False,
    },
    assigns=["token.head", "token.dep", "token.pos", "token.tag", "token.morph", "token.is_sent_start", "doc.sents"],
    func=make_longarc,
)
