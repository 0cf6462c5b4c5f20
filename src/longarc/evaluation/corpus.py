"""A treebank file as flat arrays over all of its words, for alignment and scoring."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property

import numpy as np

from longarc.data.sentence import UPOS, XPOS, Sentence
from longarc.errors import LongarcError
from longarc.transitions.system import Ints
from longarc.trees.structure import find_cycle

ROOT = -1
"""The artificial root among word numbers. The words of a file are numbered from 0, through all sentences."""


class Corpus:
    """The sentences of a file, with flat arrays over their words."""

    def __init__(self, name: str, sentences: Sequence[Sentence], *, one_line_each: bool = False) -> None:
        if not sentences:
            raise LongarcError(f"{name}: no sentences found", "There is nothing to evaluate.")
        self.name = name
        """The name of the file in error messages."""
        self.sentences = sentences
        self._one_line_each = one_line_each  # JSON lines: all rows of a sentence are on one line
        self.lengths: Ints = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        """[sentences] number of words of each sentence."""
        self.starts: Ints = np.cumsum(self.lengths) - self.lengths
        """[sentences] number of the first word of each sentence."""
        self.sentence: Ints = np.repeat(np.arange(len(sentences)), self.lengths)
        """[words] the sentence of each word."""

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.sentence)

    @cached_property
    def heads(self) -> Ints:
        """[words] the number of each word's head, or ROOT."""
        heads = np.concatenate([sentence.node_heads[1:] for sentence in self.sentences]).astype(np.int64)
        return np.where(heads == 0, ROOT, heads - 1 + self.starts[self.sentence])

    def column(self, column: int) -> list[str]:
        """Return [words]: one column of the file."""
        return [word[column] for sentence in self.sentences for word in sentence.word_rows]

    @cached_property
    def tags(self) -> list[str]:
        """[words] UPOS, or XPOS where UPOS is empty."""
        pairs = zip(self.column(UPOS), self.column(XPOS), strict=True)
        return [xpos if upos == "_" else upos for upos, xpos in pairs]

    def line(self, sentence: int, row: int = 0) -> int:
        """Return the line number of a row of a sentence, or 0 if the sentence does not come from a file."""
        first = self.sentences[sentence].line
        return first + row if first and not self._one_line_each else first


def cyclic_sentences(corpus: Corpus) -> int:
    """Count the sentences whose heads form a cycle."""
    return sum(bool(find_cycle(sentence.node_heads)) for sentence in corpus.sentences)


def common_numbers(*sequences: Sequence[Hashable]) -> list[Ints]:
    """Number the distinct items of all sequences, and return each sequence as an array of these numbers."""
    numbers: dict[Hashable, int] = {}
    return [np.array([numbers.setdefault(item, len(numbers)) for item in items], dtype=np.int64) for items in sequences]
