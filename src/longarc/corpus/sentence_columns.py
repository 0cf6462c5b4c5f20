"""Parsed sentences as Arrow tables: one row per sentence, with lists for its words."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from longarc.data.conllx import to_conllu
from longarc.data.sentence import DEPREL, FEATS, FORM, HEAD, ID, LEMMA, MISC, UPOS, XPOS, Sentence, is_multiword

_WORDS = {"forms": FORM, "lemmas": LEMMA, "upos": UPOS, "xpos": XPOS, "feats": FEATS, "relations": DEPREL}
"""The columns of lists that contain cells of CoNLL-U, where `_` is an empty cell."""

SENTENCE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("sentence", pa.int32()),
        ("text", pa.string()),
        *((name, pa.list_(pa.string())) for name in ("forms", "lemmas", "upos", "xpos", "feats")),
        ("heads", pa.list_(pa.int32())),
        ("relations", pa.list_(pa.string())),
        ("probabilities", pa.list_(pa.float32())),
        ("starts", pa.list_(pa.int64())),
        ("ends", pa.list_(pa.int64())),
    ]
)
"""One row per sentence: the id of its document, its number there (from 1), its text, and lists with a value per word.

`heads` counts words from 1; 0 is the root. `probabilities` is null unless they were requested. `starts` and `ends` are
the characters of each word's token in the document; they are null if the input was not text.
"""

_TEXT_COMMENT = "# text = "
_RANGE = "TokenRange="
BATCH_WORDS = 10_000
"""Words that are collected as Python objects before they become arrays."""


class SentenceColumns:
    """Collects parsed sentences and returns them as a table."""

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._clear()

    def _clear(self) -> None:
        self._ids: list[str] = []
        self._numbers: list[int] = []
        self._texts: list[str | None] = []
        self._lengths: list[int] = []
        self._cells: dict[str, list[str]] = {name: [] for name in _WORDS}
        self._heads: list[int] = []
        self._probabilities: list[Any] = []
        self._ranges: list[tuple[int, int]] = []
        self._has_ranges: list[bool] = []

    def add(self, document: str, number: int, sentence: Sentence) -> None:
        """Add a sentence, which is the `number`-th of its document."""
        standard = to_conllu(sentence)
        words = standard.word_rows
        self._ids.append(document)
        self._numbers.append(number)
        self._texts.append(_text_of(standard))
        self._lengths.append(len(words))
        for name, column in _WORDS.items():
            self._cells[name].extend([word[column] for word in words])
        self._heads.extend([int(word[HEAD]) for word in words])
        self._probabilities.append(sentence.probabilities)
        ranges = _ranges_of(standard)
        self._has_ranges.append(bool(ranges))
        self._ranges.extend(ranges)
        if len(self._heads) >= BATCH_WORDS:
            self._flush()

    def table(self) -> pa.Table:
        """Return all sentences."""
        self._flush()
        return pa.Table.from_batches(self._batches, SENTENCE_SCHEMA)

    def _flush(self) -> None:
        if not self._ids:
            return
        everywhere = [True] * len(self._lengths)
        has_probabilities = [values is not None for values in self._probabilities]
        probabilities = [values[1:] for values in self._probabilities if values is not None]
        ranges = np.array(self._ranges, dtype=np.int64).reshape(-1, 2)
        columns = {
            "id": pa.array(self._ids, pa.string()),
            "sentence": pa.array(self._numbers, pa.int32()),
            "text": pa.array(self._texts, pa.string()),
            **{name: self._lists(pa.array(cells, pa.string()), everywhere) for name, cells in self._cells.items()},
            "heads": self._lists(pa.array(np.array(self._heads, dtype=np.int32)), everywhere),
            "probabilities": self._lists(_nullable(probabilities), has_probabilities),
            "starts": self._lists(pa.array(ranges[:, 0]), self._has_ranges),
            "ends": self._lists(pa.array(ranges[:, 1]), self._has_ranges),
        }
        self._batches.append(
            pa.RecordBatch.from_arrays([columns[name] for name in SENTENCE_SCHEMA.names], schema=SENTENCE_SCHEMA)
        )
        self._clear()

    def _lists(self, values: pa.Array, present: list[bool]) -> pa.Array:
        """Return one list per sentence of a flat array of the words; null for sentences that are not `present`."""
        lengths = (length if here else 0 for length, here in zip(self._lengths, present, strict=True))
        offsets = pa.array(list(accumulate(lengths, initial=0)), pa.int32())
        mask = None if all(present) else pa.array([not here for here in present])
        return pa.ListArray.from_arrays(offsets, values, mask=mask)


def _nullable(probabilities: list[Any]) -> pa.Array:
    """Return the probabilities as one flat array; a word that no transition attached has none."""
    values = np.concatenate(probabilities) if probabilities else np.zeros(0)
    return pa.array(values.astype(np.float32), from_pandas=True)


def _text_of(sentence: Sentence) -> str | None:
    comment = next((comment for comment in sentence.comments if comment.startswith(_TEXT_COMMENT)), None)
    return None if comment is None else comment.removeprefix(_TEXT_COMMENT)


def _ranges_of(sentence: Sentence) -> list[tuple[int, int]]:
    """Return the range of each word's token; an empty list unless all words have one."""
    ranges: list[tuple[int, int]] = []
    shared: tuple[int, int] | None = None  # of the multiword token that the next words belong to
    shared_until = 0
    for row in sentence.rows:
        if is_multiword(row):
            shared, shared_until = _range_in(row[MISC]), int(row[ID].partition("-")[2])
        elif row[ID].isdecimal():
            position = shared if int(row[ID]) <= shared_until else _range_in(row[MISC])
            if position is None:
                return []
            ranges.append(position)
    return ranges


def _range_in(misc: str) -> tuple[int, int] | None:
    for item in misc.split("|"):
        start, colon, end = item.removeprefix(_RANGE).partition(":")
        if item.startswith(_RANGE) and colon and start.isdecimal() and end.isdecimal():
            return int(start), int(end)
    return None
