"""One sentence of a treebank file. It keeps everything needed to write back the bytes that were read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.word import Arc, Token, Word

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)

Format = Literal["conllu", "conllx"]

NO_HEAD = -1
"""The head of the root, and of a word that has no head (yet), in an array of heads."""

DEFAULT_SYSTEM = "nl-covington"

NOT_IN_A_FORM = re.compile("[\0\t\r\n\ud800-\udfff]")


class Sentence:
    """A sentence of a file or of a text: a sequence of `Word`s that also keeps the bytes it was read from.

    >>> sentence = longarc.load()("She left. Nobody knew why.")[1]
    >>> sentence.text, sentence.root.text, [word.text for word in sentence[:2]]
    ('Nobody knew why.', 'knew', ['Nobody', 'knew'])

    Inside the library, sentences are rows of columns (`rows`, `word_rows`) and arrays indexed by node (`node_heads`):
    node 0 is the artificial root, node i is word i.
    """

    __slots__ = (
        "_offsets",
        "format",
        "lead",
        "line",
        "newline",
        "probabilities",
        "rows",
        "start",
        "system",
        "trail",
        "word_rows",
    )

    def __init__(
        self,
        rows: list[list[str]],
        words: list[list[str]] | None = None,
        *,
        lead: str = "",
        newline: str = "\n",
        trail: str = "\n\n",
        format: Format = "conllu",
        line: int = 0,
    ) -> None:
        self.rows = rows
        """All rows from the first token on: words, multiword tokens, empty nodes, and comments between them."""
        self.word_rows = rows if words is None else words
        """The rows of the syntactic words, the same objects as in `rows`."""
        self.lead = lead
        """The text before the first row, as in the file: comments, extra blank lines, a byte order mark."""
        self.newline = newline
        self.trail = trail
        """The text after the last row: its line end and the blank line after the sentence."""
        self.format: Format = format
        self.line = line
        """Line number of the first row in its file; 0 if the sentence was not read from a file."""
        self.start = 0
        """Where the sentence starts in the text of its document."""
        self.probabilities: NDArray[np.float64] | None = None
        """[n + 1] The probability of the arc into each node, NaN if unknown; None if they were not computed."""
        self.system = ""
        """The transition system of the parser that built the tree; empty if it was not parsed."""
        self._offsets: list[tuple[int, int]] | None = None

    @classmethod
    def from_forms(cls, forms: Sequence[str]) -> Sentence:
        """Return a sentence of words without annotation.

        >>> len(Sentence.from_forms(["She", "left", "."]))
        3
        """
        if not forms:
            raise LongarcError("a sentence without words", "Each sentence needs at least one word.")
        for form in forms:
            if not isinstance(form, str) or not form.strip() or NOT_IN_A_FORM.search(form):
                hint = "A word is a string that is valid in UTF-8 and not blank, without tabs and line ends."
                raise LongarcError(f"{ascii(form)[:40]} is not a word", hint)
        return cls([[str(i), form, *"________"] for i, form in enumerate(forms, 1)])

    @staticmethod
    def from_conll(text: str) -> Sentence:
        """Return the one sentence of a text in CoNLL-U or CoNLL-X; raise LongarcError if there is not exactly one.

        >>> sentence = Sentence.from_conll(longarc.load()("She left.").to_conllu())
        >>> sentence.root.text
        'left'
        """
        from longarc.data.conll import parse_conll

        sentences = parse_conll(text)
        if len(sentences) != 1:
            hint = "Use longarc.data.conll.parse_conll for several sentences."
            raise LongarcError(f"the text contains {len(sentences)} sentences, expected 1", hint)
        return sentences[0]

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.word_rows)

    @overload
    def __getitem__(self, index: int) -> Word: ...
    @overload
    def __getitem__(self, index: slice) -> list[Word]: ...
    def __getitem__(self, index: int | slice) -> Word | list[Word]:
        """Return a word, or the words of a slice; they are numbered from 0."""
        from longarc.data.word import Word

        if isinstance(index, slice):
            return [Word(self, position) for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"word {index} of a sentence of {len(self)} words")
        return Word(self, position)

    def __iter__(self) -> Iterator[Word]:
        return iter(self[:])

    def __repr__(self) -> str:
        words = " ".join(word[FORM] for word in self.word_rows[:8])
        return f"<Sentence of {len(self)} words: {words}{'…' if len(self) > 8 else ''}>"

    def __str__(self) -> str:
        return self.text

    @property
    def words(self) -> list[Word]:
        """The syntactic words, which are the nodes of the tree."""
        return self[:]

    @property
    def tokens(self) -> list[Token]:
        """The tokens of the text: words, and multiword tokens with their words."""
        from longarc.data.raw_text import surface_rows
        from longarc.data.word import Token

        tokens, next_word = [], 0
        for row in surface_rows(self):
            words = 1
            if is_multiword(row):
                first, _, last = row[ID].partition("-")
                words = int(last) - int(first) + 1
            tokens.append(Token(self, row, next_word, next_word + words - 1))
            next_word += words
        return tokens

    @property
    def text(self) -> str:
        """The text of the sentence, without the white space around it."""
        parts = []
        for token in self.tokens:
            parts += [token.text, token.spaces_after]
        return "".join(parts[:-1])

    @property
    def end(self) -> int:
        """Where the sentence ends in the text of its document."""
        return self.start + self.offsets[-1][1]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Start and end of each word, counted from the start of the sentence."""
        if self._offsets is None:
            self._offsets = []
            position = 0
            for token in self.tokens:
                span = (position, position + len(token.text))
                self._offsets += [span] * (token.last - token.first + 1)
                position = span[1] + len(token.spaces_after)
        return self._offsets

    @property
    def root(self) -> Word:
        """The first word that is attached to the artificial root."""
        for word in self:
            if word.is_root:
                return word
        raise LongarcError("the sentence has no root", "Parse it first.")

    @property
    def arcs(self) -> list[Arc]:
        """The arcs of the tree, in the order of the dependents."""
        return [word.arc for word in self]

    @property
    def is_projective(self) -> bool:
        """Whether no arc passes over a word that its head does not dominate."""
        from longarc.trees.structure import is_projective

        return is_projective(self.node_heads)

    @property
    def probability(self) -> float | None:
        """The product of the probabilities of the words; None if none is known."""
        probabilities = [word.probability for word in self]
        known = [probability for probability in probabilities if probability is not None]
        return math.prod(known) if known else None

    @property
    def comments(self) -> list[str]:
        """The comment lines before the first row, including the `#`."""
        lines = (line.rstrip("\r").lstrip("\ufeff") for line in self.lead.split("\n"))
        return [line for line in lines if line.startswith("#")]

    @property
    def forms(self) -> list[str]:
        """[n] The forms of the words; there is no entry for the root."""
        return [word[FORM] for word in self.word_rows]

    def node_column(self, column: int) -> list[str]:
        """Return [n + 1] one column of the words; an empty string for the root."""
        return ["", *(word[column] for word in self.word_rows)]

    @property
    def node_heads(self) -> NDArray[np.int32]:
        """[n + 1] The head of each node; NO_HEAD for the root and for words whose column is `_`."""
        heads = np.full(len(self.word_rows) + 1, NO_HEAD, dtype=np.int32)
        heads[1:] = [NO_HEAD if word[HEAD] == "_" else int(word[HEAD]) for word in self.word_rows]
        return heads

    @property
    def node_relations(self) -> list[str]:
        """[n + 1] The relation of each node to its head; an empty string for the root."""
        return self.node_column(DEPREL)

    def row_of(self, node: int) -> int:
        """Return the index in `rows` of a word."""
        return next(index for index, row in enumerate(self.rows) if row is self.word_rows[node - 1])

    def set_column(self, column: int, values: Sequence[str]) -> None:
        """Replace one column of the words by `values` [n + 1]; the value of the root is ignored."""
        for word, value in zip(self.word_rows, values[1:], strict=True):
            word[column] = value

    def set_tree(self, heads: NDArray[np.integer] | Sequence[int], relations: Sequence[str]) -> None:
        """Replace the columns HEAD and DEPREL."""
        self.set_column(HEAD, ["_" if head == NO_HEAD else str(int(head)) for head in heads])
        self.set_column(DEPREL, relations)

    def copy(self) -> Sentence:
        """Return a copy whose rows can be changed independently."""
        rows = [row.copy() for row in self.rows]
        copies = {id(row): copy for row, copy in zip(self.rows, rows, strict=True)}
        words = rows if self.word_rows is self.rows else [copies[id(word)] for word in self.word_rows]
        copy = Sentence(
            rows,
            words,
            lead=self.lead,
            newline=self.newline,
            trail=self.trail,
            format=self.format,
            line=self.line,
        )
        copy.start, copy.probabilities, copy.system = self.start, self.probabilities, self.system
        return copy

    def without_annotation(self) -> Sentence:
        """Return a copy whose words keep only ID, FORM and, in CoNLL-U, MISC."""
        copy = self.copy()
        copy.probabilities, copy.system = None, ""
        last = MISC if self.format == "conllx" else DEPS
        for word in copy.word_rows:
            word[LEMMA : last + 1] = "_" * (last + 1 - LEMMA)
        return copy

    def to_conll(self) -> str:
        """Return the text of the sentence in a file, including the blank line after it."""
        return self.lead + self.newline.join(["\t".join(row) for row in self.rows]) + self.trail

    def to_conllu(self) -> str:
        """Return the sentence in CoNLL-U, including the blank line after it."""
        from longarc.data.conllx import to_conllu

        return to_conllu(self).to_conll()

    def to_dict(self) -> dict[str, Any]:
        """Return the comments and tokens as dictionaries, as in a file of JSON lines."""
        from longarc.data.jsonl import to_dict

        return to_dict(self, self.probabilities)

    def tree(self, *, features: bool = False) -> str:
        """Return the tree as lines of text, for a terminal."""
        from longarc.drawing.text import text_tree

        return text_tree(self, features=features)

    def to_svg(self, *, features: bool = False) -> str:
        """Return the tree as an SVG picture."""
        from longarc.drawing.svg import svg_tree

        return svg_tree(self, features=features)

    _repr_svg_ = to_svg
    """The picture that notebooks show."""

    def to_tikz(self, *, features: bool = False) -> str:
        """Return the tree as a picture for LaTeX."""
        from longarc.drawing.tikz import tikz_tree

        return tikz_tree(self, features=features)

    def transitions(self, system: str | None = None) -> list[str]:
        """Return the transitions that build this tree, in the parser's system unless another is named.

        A system that builds only projective trees raises LongarcError if the tree is not projective.

        >>> longarc.load()("She left.")[0].transitions("arc-standard")
        ['Shift', 'Shift', 'Left-Arc', 'Shift', 'Right-Arc', 'Right-Arc']
        """
        from longarc.runtime.steps import oracle_steps
        from longarc.transitions import get_system

        name = system or self.system or DEFAULT_SYSTEM
        if get_system(name).projective and not self.is_projective:
            hint = "Use another system, or lift the arcs first with `longarc convert --projectivize`."
            raise LongarcError(f"the tree is not projective, so {name} cannot build it", hint)
        return [step.taken.name for step in oracle_steps(self, name).steps]


def is_multiword(row: list[str]) -> bool:
    """Return whether a row is a multiword token, such as `3-4`."""
    return "-" in row[ID] and not is_comment(row)


def is_empty_node(row: list[str]) -> bool:
    """Return whether a row is an empty node of the enhanced graph, such as `3.1`."""
    return "." in row[ID] and not is_comment(row)


def is_comment(row: list[str]) -> bool:
    """Return whether a row is a comment, which the rules do not allow between the rows of a sentence."""
    return row[ID].startswith("#")


def with_probability(misc: str, probability: float | None) -> str:
    """Return a MISC value with `Prob=` set to the probability of the word's arc, or removed if it is None."""
    items = [item for item in misc.split("|") if item != "_" and not item.startswith("Prob=")]
    if probability is not None:
        items.append(f"Prob={probability:.4f}")
    return "|".join(items) or "_"
