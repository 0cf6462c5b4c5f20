"""The pieces of words: the features of the encoder `transformer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from longarc.data.subword_tokenizer import MOST_PIECES, SubwordTokenizer
from longarc.runtime.features import MAIN, Arrays, Featurizer, Forms, TableRows, lengths_in_nodes
from longarc.runtime.spelled_words import SpelledWords

if TYPE_CHECKING:  # onnxruntime takes long to import
    from longarc.runtime.graph import Graph

Size = Annotated[int, Meta(gt=0, le=1 << 16)]
NEVER = np.float32(-1e9)
"""Added to the score of a piece that must not be read."""
LONGEST_WINDOW = 256
"""Longer sentences are read in overlapping windows: memory grows with the square of a window's length."""
LEAST_POSITIONS = MOST_PIECES + 2
"""A window must have room for one word of many pieces."""


class Architecture(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sizes of a transformer encoder."""

    layers: Size
    width: Size
    heads: Size
    inner: Size
    """Width of the layer between the two linear layers of each block"""
    embedding: Size
    """Width of the vectors of pieces, which are projected to `width` if that differs"""
    positions: Annotated[int, Meta(ge=LEAST_POSITIONS, le=1 << 16)]
    """Pieces that can be read at once"""
    activation: Literal["gelu", "tanh gelu", "relu"]
    epsilon: Annotated[float, Meta(gt=0, lt=1)]
    """Of layer normalization"""

    @property
    def window(self) -> int:
        """Pieces of words that are read at once."""
        return min(self.positions, LONGEST_WINDOW) - 2


class TransformerFeatures(Featurizer):
    """Splits words into pieces, and long sentences into windows; spells words if the model reads characters too."""

    kind = "transformer"
    padding_power, group_cost = 2, 2_500
    keeps_memory = True

    def __init__(self, architecture: Architecture, tokenizer: SubwordTokenizer, spelling: SpelledWords) -> None:
        self.architecture = architecture
        self.tokenizer = tokenizer
        self.spelling = spelling
        self.graphs = spelling.graphs

    def featurise(self, sentences: Forms) -> Arrays:
        """Return `lengths`; the `pieces` of all windows, end to end, with their `positions` [pieces]; a table of the
        windows, `cells` [windows, heads, P], that says which piece is in each cell (times heads, plus the head), a
        `mask` [windows, 1, 1, P] that is NEVER where there is none, and where each piece is in that table, `places`
        [pieces, heads]; and the pieces of each node, from `starts` to before `ends` [N, batch]. The root has the first
        piece of its sentence."""
        return {**self._split(sentences), **self.spelling.arrays(sentences)}

    def graph_inputs(self, graphs: Mapping[str, Graph]) -> Callable[[Forms], Arrays]:
        spelled = self.spelling.graph_inputs(graphs)
        return lambda sentences: {**self._split(sentences), **spelled(sentences)}

    def _split(self, sentences: Forms) -> Arrays:
        split = self.tokenizer.split
        lengths = lengths_in_nodes(sentences)
        words = [split(form) for forms in sentences for form in forms]
        counts = np.fromiter(map(len, words), np.int64, len(words))
        numbers = np.fromiter(chain.from_iterable(words), np.int64, int(counts.sum()))
        windows = _lay_out(lengths - 1, counts, self.architecture.window)
        widths = windows.ends - windows.begins + 2
        row_ends = np.cumsum(widths)
        row_begins = row_ends - widths
        positions = np.arange(row_ends[-1]) - np.repeat(row_begins, widths)
        pieces = np.empty(len(positions), np.int64)
        pieces[row_begins], pieces[row_ends - 1] = self.tokenizer.first, self.tokenizer.last
        for begin, end, row in zip(windows.begins.tolist(), windows.ends.tolist(), row_begins.tolist(), strict=True):
            pieces[row + 1 : row + 1 + end - begin] = numbers[begin:end]
        # Words are found in their own windows; padding is what the root is.
        starts = np.tile(row_begins[windows.first], (int(lengths.max()), 1))
        ends = starts + 1
        column = np.repeat(np.arange(len(sentences)), lengths - 1)
        node = 1 + np.arange(len(words)) - np.repeat(np.cumsum(lengths - 1) - (lengths - 1), lengths - 1)
        word_ends = np.cumsum(counts) + (row_begins + 1 - windows.begins)[windows.own]
        starts[node, column], ends[node, column] = word_ends - counts, word_ends
        longest, heads = int(widths.max()), np.arange(self.architecture.heads)
        in_row = np.arange(longest)
        cells = row_begins[:, None] + np.minimum(in_row, widths[:, None] - 1)
        rows = np.repeat(np.arange(len(widths)), widths)
        return {
            "lengths": lengths,
            "pieces": pieces,
            "positions": positions,
            "cells": cells[:, None] * len(heads) + heads[:, None],
            "places": (rows[:, None] * len(heads) + heads) * longest + positions[:, None],
            "mask": np.where(in_row < widths[:, None], np.float32(0), NEVER)[:, None, None],
            "starts": starts,
            "ends": ends,
        }

    def as_json(self) -> dict[str, Any]:
        definition = {"architecture": msgspec.to_builtins(self.architecture), "tokenizer": self.tokenizer.definition}
        return {**definition, **self.spelling.as_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TransformerFeatures:
        try:
            architecture = msgspec.convert(data.get("architecture"), Architecture)
        except msgspec.ValidationError:
            raise ValueError("architecture") from None
        if architecture.width % architecture.heads:
            raise ValueError("architecture")
        if not isinstance(data.get("tokenizer"), dict):
            raise ValueError("tokenizer")
        try:
            tokenizer = SubwordTokenizer(data["tokenizer"])
        except ValueError as error:
            raise ValueError(f"tokenizer: {error}") from None
        return cls(architecture, tokenizer, SpelledWords.from_json(data))

    def table_rows(self) -> TableRows:
        tables = {"pieces": len(self.tokenizer), "positions": self.architecture.positions}
        return {MAIN: tables, **self.spelling.table_rows()}

    def probe(self) -> list[str]:
        return ["a", self.spelling.probe()]


@dataclass(frozen=True)
class _Windows:
    """The windows of a batch; words and their pieces are counted over the whole batch."""

    begins: NDArray[np.int64]
    """[windows] the first piece"""
    ends: NDArray[np.int64]
    """[windows] the piece after the last"""
    first: NDArray[np.int64]
    """[batch] the first window of each sentence"""
    own: NDArray[np.int64]
    """[words] the window in which each word is read"""


def _lay_out(lengths: NDArray[np.integer[Any]], counts: NDArray[np.int64], size: int) -> _Windows:
    """Return windows over sentences of these lengths, in words; counts: the pieces of each word."""
    ends = np.cumsum(counts)
    spans: list[tuple[int, int]] = []
    own = np.zeros(len(counts), np.int64)
    first = []
    start = 0
    for length in lengths.tolist():
        first.append(len(spans))
        end = start + length
        before = int(ends[start - 1]) if start else 0
        pieces = (int(ends[end - 1]) if end else 0) - before
        if pieces <= size:
            own[start:end] = len(spans)
            spans.append((before, before + pieces))
        else:
            for first_word, last_word, own_start, own_end in _windows(counts[start:end], size):
                own[start + own_start : start + own_end] = len(spans)
                spans.append(
                    (int(ends[start + first_word] - counts[start + first_word]), int(ends[start + last_word - 1]))
                )
        start = end
    begins_and_ends = np.array(spans, np.int64).reshape(-1, 2)
    return _Windows(begins_and_ends[:, 0], begins_and_ends[:, 1], np.array(first), own)


def _windows(counts: NDArray[np.int64], size: int) -> list[tuple[int, int, int, int]]:
    """Return overlapping windows over words with these numbers of pieces, of at most `size` pieces: the first word,
    the one after the last, and the same for the words that are read in this window, which have neighbours on both
    sides there, unless they are at an end of the sentence."""
    ends = np.cumsum(counts)
    begins = ends - counts
    windows = []
    first = own_start = 0
    while True:
        last = int(np.searchsorted(ends, begins[first] + size, side="right"))
        if last == len(counts):
            windows.append((first, last, own_start, last))
            return windows
        own_end = max(own_start + 1, int(np.searchsorted(begins, begins[first] + 3 * size // 4)))
        windows.append((first, last, own_start, min(own_end, last)))
        own_start = min(own_end, last)
        # The next window begins a quarter of its size before the first word that is its own, if there is room for it.
        start = max(begins[own_start] - size // 4, ends[own_start] - size)
        first = max(first + 1, int(np.searchsorted(begins, start)))
