"""A spaCy pipeline component that sets trees, tags and sentence starts on spaCy's tokens.

spaCy finds it by its entry point: `nlp.add_pipe("longarc")` works without importing Longarc.
"""

# No `from __future__ import annotations` here: spaCy validates configurations by the factory's annotations.

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, IS_SPACE, LEMMA, MORPH, POS, SENT_START, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS as UNIVERSAL_TAGS
from spacy.tokens import Doc, Span, Token
from spacy.util import minibatch, raise_error
from spacy.vocab import Vocab

from longarc.data.sentence import NOT_IN_A_FORM, Sentence
from longarc.errors import LongarcError
from longarc.evaluation.conventions import CONTENT_RELATIONS, FUNCTION_RELATIONS
from longarc.runtime.model_file import ModelFile, model_file_bytes, read_model_file, write_model_file
from longarc.trees.noun_chunks import noun_chunks

if TYPE_CHECKING:
    from longarc.runtime.parser import Parser

MODEL_FILE = "model.longarc"
"""The name of the model in the component's folder of a saved pipeline."""
ATTRIBUTES = {"upos": POS, "xpos": TAG, "feats": MORPH, "lemma": LEMMA}
"""The spaCy attribute for each column that a model can predict."""
SPACE_VALUES = {POS: "SPACE", TAG: "_SP"}
"""The attributes of white space, as in spaCy's own models; the others are empty."""
SPACE_RELATION = "dep"
"""The relation of white space, as in spaCy's own models. spaCy ignores the head of a token without a relation."""
ROOT = "ROOT"
"""spaCy's name for the relation `root` of Universal Dependencies."""
PROBABILITY = "arc_probability"
UNIVERSAL_RELATIONS = CONTENT_RELATIONS | FUNCTION_RELATIONS | {"punct"}

_MARKS, _WIDE_MARKS, _CLOSERS = ".!?…؟۔।॥։።។", "。！？｡", r"[\"'”’»›)\]}」』）】]*"
_SENTENCE_END = re.compile(
    # The lookbehind makes a run of marks match only from its first one, so that the time is linear for any text.
    rf"(?<![{_MARKS}])(?P<mark>[{_MARKS}]+){_CLOSERS}\s+"
    rf"|(?<![{_WIDE_MARKS}])[{_WIDE_MARKS}]+{_CLOSERS}\s*"  # scripts without spaces between sentences
    r"|\n[^\S\n]*\n\s*"  # an empty line
)

ErrorHandler = Callable[[str, Any, list[Doc], Exception], None]


def find_sentence_starts(doc: Doc, parser: "Parser") -> NDArray[np.bool_]:
    """[tokens] Return which tokens start a sentence, by the model's tokenizer if it has one, else by punctuation.

    A sentence that starts inside a spaCy token is ignored.
    """
    if parser.description.tokenizer is None:
        return _starts_by_punctuation(doc)
    token_at = {token.idx: token.i for token in doc}
    offsets = (sentence[0].start for sentence in parser.tokenizer.spans(doc.text))
    starts = np.zeros(len(doc), dtype=np.bool_)
    starts[[token_at[offset] for offset in offsets if offset in token_at]] = True
    return starts


def _starts_by_punctuation(doc: Doc) -> NDArray[np.bool_]:
    """[tokens] Return which tokens follow the end of a sentence.

    A full stop ends no sentence if it is part of a token (`Mr.`, `z.B.`) or before a lower-case letter.
    """
    starts = np.zeros(len(doc), dtype=np.bool_)
    text = doc.text.rstrip()
    token_at = {token.idx: token.i for token in doc}
    for end in _SENTENCE_END.finditer(text):
        within_a_sentence = end["mark"] and (end.start() not in token_at or text[end.end()].islower())
        if end.end() in token_at and not within_a_sentence:
            starts[token_at[end.end()]] = True
    return starts


@dataclass(frozen=True)
class DocPlan:
    """How to parse a document: which tokens are the words of which sentence."""

    spaces: NDArray[np.bool_]
    """[tokens] which are white space, and not words for the parser"""
    starts: NDArray[np.bool_]
    """[tokens] which are the first of their sentence"""
    words: list[NDArray[np.int64]]
    """For each sentence that has words, the indices of their tokens"""

    @classmethod
    def of(cls, doc: Doc, parser: "Parser") -> "DocPlan":
        """Plan a document. Its sentence starts are kept; `find_sentence_starts` decides where they are not set."""
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
        """Return the sentences that have words, for the parser."""
        forms = [NOT_IN_A_FORM.sub(" ", token.text) for token in doc]
        return [Sentence.from_forms([forms[index] for index in words.tolist()]) for words in self.words]

    def heads_of_spaces(self) -> NDArray[np.int64]:
        """[tokens] Return the heads of white space tokens: the word before in the sentence, else the word after,
        else the first token of the sentence. The entries of words are arbitrary."""
        tokens = np.arange(len(self.spaces))
        sentence = np.cumsum(self.starts)
        first = np.maximum.accumulate(np.where(self.starts, tokens, 0))
        before = np.maximum.accumulate(np.where(self.spaces, -1, tokens))
        after = np.minimum.accumulate(np.where(self.spaces, len(tokens), tokens)[::-1])[::-1]
        after_is_near = sentence[np.minimum(after, len(tokens) - 1)] == sentence
        after_is_near &= after < len(tokens)
        return np.where(before >= first, before, np.where(after_is_near, after, first))


class LongarcComponent:
    """Parses spaCy documents with a Longarc model.

    The model is loaded on first use: spaCy creates the components of a saved pipeline with the original options, whose
    model file may be gone, and loads the saved model afterwards.
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
        """`model`: a model's file, name or language, the content of a file, or None for the default; `threads`,
        `memory`, `beam`: see Parser; `overwrite_tags`: whether to replace existing tags and features;
        `arc_probability`: whether to set `token._.arc_probability`."""
        for option, value in (("threads", threads), ("memory", memory), ("beam", beam)):
            if value is not None and value < 1:
                raise LongarcError(f"{name}: {option} is {value}, it must be at least 1")
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
        """The parser, loaded on first use."""
        if self._parser is None:
            # spaCy imports this module for every pipeline; import onnxruntime only for parsing.
            from longarc.runtime.parser import Parser, load

            options: dict[str, Any] = {"threads": self.threads, "memory": self.memory, "beam": self.beam}
            if isinstance(self.model, ModelFile):
                self._parser = Parser(self.model, **options)
            else:
                self._parser = load(self.model, **options)
        return self._parser

    def _use(self, model: Path | ModelFile) -> None:
        """Load another model now, so that a damaged one is reported at once."""
        self.model, self._parser = model, None
        _ = self.parser

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document in place."""
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of documents, `batch_size` at a time."""
        for batch in minibatch(stream, size=batch_size):
            docs = list(batch)
            try:
                self._parse(docs)
            except Exception as error:
                self._error_handler(self.name, self, docs, error)
            else:
                yield from docs

    def _parse(self, docs: Sequence[Doc]) -> None:
        plans = [DocPlan.of(doc, self.parser) for doc in docs]
        sentences = (sentence for doc, plan in zip(docs, plans, strict=True) for sentence in plan.sentences(doc))
        parsed = self.parser.stream(sentences, probabilities=self.arc_probability)
        for doc, plan in zip(docs, plans, strict=True):
            self._annotate(doc, plan, [next(parsed) for _ in plan.words])

    def _annotate(self, doc: Doc, plan: DocPlan, parsed: Sequence[Sentence]) -> None:
        """Set the attributes of a document's tokens from its parsed sentences."""
        if not len(doc):
            return
        heads, relations = _tree(plan, parsed)
        attributes = {
            HEAD: (heads - np.arange(len(doc))).view(np.uint64),
            DEP: _to_numbers(relations, doc.vocab.strings.add),
        }
        for attribute, values in self._predicted_attributes(doc.vocab, plan, parsed).items():
            old = doc.to_array(attribute)
            attributes[attribute] = values if self.overwrite_tags else np.where(old == 0, values, old)
        doc.from_array(list(attributes), np.stack(list(attributes.values()), axis=1))
        # When heads are set, spaCy derives the sentence starts from the roots' subtrees, and may fail to find those of
        # non-projective trees.
        doc.from_array([SENT_START], np.where(plan.starts, 1, -1).astype(np.int64).view(np.uint64)[:, None])
        if self.arc_probability:
            for words, sentence in zip(plan.words, parsed, strict=True):
                for index, token in zip(words.tolist(), sentence, strict=True):
                    doc[index]._.set(PROBABILITY, token.probability)

    def _predicted_attributes(
        self, vocab: Vocab, plan: DocPlan, parsed: Sequence[Sentence]
    ) -> dict[int, NDArray[np.uint64]]:
        """Return the values [tokens] of the attributes that the model predicts.

        UPOS tags that are not universal cannot be a spaCy `pos`: they become the `tag`, unless the model predicts XPOS.
        """
        columns = {ATTRIBUTES[name]: column for name, column in self.parser.columns.items() if name in ATTRIBUTES}
        if POS in columns and not set(columns[POS].labels.names) <= {*UNIVERSAL_TAGS, "_"}:
            columns.setdefault(TAG, columns.pop(POS))
        interning = {POS: UNIVERSAL_TAGS.__getitem__, MORPH: vocab.morphology.add}
        values = {}
        for attribute, column in columns.items():
            names = _column(plan, parsed, column.index, SPACE_VALUES.get(attribute, ""))
            if any(names):
                values[attribute] = _to_numbers(names, interning.get(attribute, vocab.strings.add))
        return values

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        """Set the function to call, instead of raising the exception, when documents cannot be parsed."""
        self._error_handler = error_handler

    def get_error_handler(self) -> ErrorHandler:
        """Return the function to call when documents cannot be parsed."""
        return self._error_handler

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model in a folder; spaCy saves the options in the pipeline's configuration."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        write_model_file(folder / MODEL_FILE, self.parser.model_file())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "LongarcComponent":
        """Load the model that `to_disk` saved."""
        self._use(Path(path) / MODEL_FILE)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model as bytes."""
        return model_file_bytes(self.parser.model_file())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "LongarcComponent":
        """Load the model that `to_bytes` returned."""
        self._use(read_model_file(io.BytesIO(data)))
        return self


def find_noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Yield the start, end and label of each noun chunk, for `doc.noun_chunks`.

    spaCy's own functions for English and other languages expect other relations than those of Universal Dependencies.
    Raise if the document has no tree, no tags, or other relations.
    """
    doc = doclike.doc
    relations = ["", *(token.dep_ for token in doc)]
    unknown = {relation for relation in relations[1:] if relation.lower().partition(":")[0] not in UNIVERSAL_RELATIONS}
    if not doc.has_annotation("DEP"):
        raise LongarcError("noun chunks need a tree, and the document has none", "Parse it first.")
    if unknown:
        message = f"noun chunks need the relations of Universal Dependencies, found {min(unknown)!r}"
        raise LongarcError(message, "Use a model that was trained on a treebank of Universal Dependencies.")
    if not doc.has_annotation("POS"):
        message = "noun chunks need universal part-of-speech tags, and the document has none"
        raise LongarcError(message, "Use a model that predicts UPOS.")
    label = doc.vocab.strings.add("NP")
    heads = [0, *(0 if token.head.i == token.i else token.head.i + 1 for token in doc)]
    for first, last in noun_chunks(heads, relations, ["", *(token.pos_ for token in doc)]):
        yield first - 1, last, label


def _tree(plan: DocPlan, parsed: Sequence[Sentence]) -> tuple[NDArray[np.int64], list[str]]:
    """[tokens] Return the heads, where a root is its own head, and the relations.

    In spaCy a sentence has one root: further roots are attached to the first.
    """
    heads = plan.heads_of_spaces()
    relations = [ROOT if head == index else SPACE_RELATION for index, head in enumerate(heads.tolist())]
    for words, sentence in zip(plan.words, parsed, strict=True):
        nodes = sentence.node_heads[1:]
        roots = np.flatnonzero(nodes == 0)
        heads[words] = words[nodes - 1]
        heads[words[roots]] = words[roots[0]]
        for index, relation in zip(words.tolist(), sentence.node_relations[1:], strict=True):
            relations[index] = relation
        first = int(words[roots[0]])
        if relations[first].lower() == "root":
            relations[first] = ROOT
    return heads, relations


def _column(plan: DocPlan, parsed: Sequence[Sentence], column: int, space: str) -> list[str]:
    """[tokens] Return a column of a document's sentences, with "" for `_`, and `space` for white space."""
    values = [space] * len(plan.spaces)
    for words, sentence in zip(plan.words, parsed, strict=True):
        for index, value in zip(words.tolist(), sentence.node_column(column)[1:], strict=True):
            values[index] = "" if value == "_" else value
    return values


def _to_numbers(names: Sequence[str], intern: Callable[[str], int]) -> NDArray[np.uint64]:
    """[names] Return spaCy's numbers of names; call `intern` once for each distinct name."""
    numbers = {name: intern(name) for name in set(names)}
    return np.array([numbers[name] for name in names], dtype=np.uint64)


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
    """Make the component; spaCy calls this factory."""
    nlp.vocab.get_noun_chunks = find_noun_chunks
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
