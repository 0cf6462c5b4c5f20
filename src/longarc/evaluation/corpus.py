"""A treebank file as flat arrays over all of its words: what alignment and measures work on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from longarc.data.conll import RowError
from longarc.data.sentence import HEAD, UPOS, XPOS, Sentence
from longarc.errors import LongarcError
from longarc.trees.structure import find_cycle

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

ROOT = -1
"""Stands among numbers of words for the artificial root; words of a file are numbered from 0, through all sentences."""


class Corpus:
    """The sentences of a file, whose words are numbered through from 0."""

    def __init__(self, name: str, sentences: Sequence[Sentence], *, one_line_each: bool = False) -> None:
        if not sentences:
            raise LongarcError(f"{name}: no sentences in it", "There is nothing to evaluate.")
        self.name = name
        """By which messages call the file."""
        self.sentences = sentences
        self._one_line_each = one_line_each  # JSON lines: all rows of a sentence stand on one line
        self.lengths: Numbers = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        """[sentences] words of each."""
        self.starts: Numbers = np.cumsum(self.lengths) - self.lengths
        """[sentences] the number of the first word of each."""
        self.sentence: Numbers = np.repeat(np.arange(len(sentences)), self.lengths)
        """[words] the sentence that each word is in."""

    def __len__(self) -> int:
        """The number of words."""
        return len(self.sentence)

    @cached_property
    def heads(self) -> Numbers:
        """[words] the number of each word's head, or ROOT."""
        within = np.concatenate([sentence.heads[1:] for sentence in self.sentences]).astype(np.int64)
        return np.where(within == 0, ROOT, within - 1 + self.starts[self.sentence])

    def column(self, column: int) -> list[str]:
        """[words] a column of the file."""
        return [word[column] for sentence in self.sentences for word in sentence.words]

    @cached_property
    def tags(self) -> list[str]:
        """[words] the coarse tag of each word, or the fine one where it has no coarse one."""
        pairs = zip(self.column(UPOS), self.column(XPOS), strict=True)
        return [fine if coarse == "_" else coarse for coarse, fine in pairs]

    def line(self, sentence: int, row: int = 0) -> int:
        """The line of the file on which a row of a sentence stands; 0 if it does not come from a file."""
        first = self.sentences[sentence].line
        return first + row if first and not self._one_line_each else first


def require_heads(sentence: Sentence) -> None:
    """A check for the reader: every word has a head."""
    for row, columns in enumerate(sentence.rows):
        if len(columns) > HEAD and columns[HEAD] == "_" and any(columns is word for word in sentence.words):
            raise RowError(row, "HEAD is _: the word has no head", "Only complete trees can be evaluated.")


def require_gold_tree(sentence: Sentence) -> None:
    """A check for the reader of the gold file: the heads form a tree."""
    require_heads(sentence)
    if cycle := find_cycle(sentence.heads):
        word = sentence.words[cycle[0] - 1]
        row = next(row for row, columns in enumerate(sentence.rows) if columns is word)
        path = " → ".join(map(str, [*cycle, cycle[0]]))
        raise RowError(row, f"the heads form a cycle: {path}", "The gold file must have trees.")


def cyclic_sentences(corpus: Corpus) -> int:
    """How many sentences have a word that does not lead to the root."""
    return sum(bool(find_cycle(sentence.heads)) for sentence in corpus.sentences)


def common_numbers(*lists: Sequence[object]) -> list[Numbers]:
    """Each list as an array in which equal things, also of different lists, have equal numbers."""
    known: dict[object, int] = {}
    return [np.array([known.setdefault(thing, len(known)) for thing in things], dtype=np.int64) for things in lists]
