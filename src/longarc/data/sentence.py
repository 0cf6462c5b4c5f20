"""One sentence of a treebank file. It keeps everything needed to write back the bytes that were read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from longarc.errors import LongarcError

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)

Format = Literal["conllu", "conllx"]

NO_HEAD = -1
"""The head of the root, and of a word that has no head (yet), in an array of heads."""

NOT_IN_A_FORM = re.compile("[\0\t\r\n\ud800-\udfff]")


class Sentence:
    """A sentence as rows of columns. `words` contains the rows of the syntactic words, the same objects as in `rows`.

    Arrays and lists about words are indexed by node: index 0 is the artificial root, index i is word i.
    """

    __slots__ = ("format", "lead", "line", "newline", "rows", "trail", "word_rows")

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
        self.lead = lead
        """The text before the first row, as in the file: comments, extra blank lines, a byte order mark."""
        self.newline = newline
        self.trail = trail
        """The text after the last row: its line end and the blank line after the sentence."""
        self.format: Format = format
        self.line = line
        """Line number of the first row in its file; 0 if the sentence was not read from a file."""

    @classmethod
    def from_forms(cls, forms: Sequence[str]) -> Sentence:
        """Return a sentence of words without annotation."""
        if not forms:
            raise LongarcError("a sentence without words", "Each sentence needs at least one word.")
        for form in forms:
            if not isinstance(form, str) or not form.strip() or NOT_IN_A_FORM.search(form):
                hint = "A word is a non-empty string without tabs and line ends."
                raise LongarcError(f"{ascii(form)[:40]} is not a word", hint)
        return cls([[str(i), form, *"________"] for i, form in enumerate(forms, 1)])

    @staticmethod
    def from_conll(text: str) -> Sentence:
        """Return the one sentence of a text in CoNLL-U or CoNLL-X; raise LongarcError if there is not exactly one."""
        from longarc.data.conll import parse_conll

        sentences = parse_conll(text)
        if len(sentences) != 1:
            hint = "Use longarc.data.conll.parse_conll for several sentences."
            raise LongarcError(f"the text contains {len(sentences)} sentences, expected 1", hint)
        return sentences[0]

    def __len__(self) -> int:
        """Return the number of syntactic words."""
        return len(self.word_rows)

    def __repr__(self) -> str:
        return f"<Sentence of {len(self)} words: {' '.join(word[FORM] for word in self.word_rows[:8])}…>"

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
        return Sentence(
            rows,
            words,
            lead=self.lead,
            newline=self.newline,
            trail=self.trail,
            format=self.format,
            line=self.line,
        )

    def without_annotation(self) -> Sentence:
        """Return a copy whose words keep only ID, FORM and, in CoNLL-U, MISC."""
        copy = self.copy()
        last = MISC if self.format == "conllx" else DEPS
        for word in copy.word_rows:
            word[LEMMA : last + 1] = "_" * (last + 1 - LEMMA)
        return copy

    def to_conll(self) -> str:
        """Return the text of the sentence in a file, including the blank line after it."""
        return self.lead + self.newline.join(["\t".join(row) for row in self.rows]) + self.trail


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
