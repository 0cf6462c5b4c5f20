"""Tables of subword vectors: a word is split into known pieces, so that every word has a vector.

A table is a folder with `pieces.txt`, one piece a line, the most frequent first, and `vectors.npy`, a row per piece. A
piece that starts a word begins with `▁` (U+2581).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.vocabulary import is_list_of_texts
from longarc.errors import InputError, LongarcError

WORD_START = "▁"
PIECES_FILE, VECTORS_FILE = "pieces.txt", "vectors.npy"
NOTHING = 0
"""The number of padding, and of the root; pieces are numbered from 1."""
LONGEST_WORD = 100
"""Characters of a word that are split; the rest of a longer word is ignored."""


class Pieces:
    """The pieces that a model knows, by number."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)
        self._numbers = {text: number for number, text in enumerate(self.texts, 1)}
        self._longest = max(map(len, self.texts), default=0)
        self._cached_split = lru_cache(maxsize=1 << 15)(self._split)

    @classmethod
    def from_json(cls, data: Any) -> Pieces:
        """Return pieces from a list of distinct texts; raise ValueError if it is not one."""
        if not is_list_of_texts(data) or not all(data) or len(set(data)) != len(data):
            raise ValueError("pieces")
        return cls(data)

    def __len__(self) -> int:
        """Return how many numbers are in use, including that of padding."""
        return 1 + len(self.texts)

    def split(self, form: str) -> tuple[int, ...]:
        """Return the numbers of a word's pieces, the longest possible ones from left to right."""
        return self._cached_split(form[:LONGEST_WORD])

    def _split(self, form: str) -> tuple[int, ...]:
        text = WORD_START + form
        numbers = []
        start = 0
        while start < len(text):
            for end in range(min(len(text), start + self._longest), start, -1):
                if number := self._numbers.get(text[start:end]):
                    numbers.append(number)
                    start = end
                    break
            else:
                start += 1
        return tuple(numbers)

    def arrays(self, forms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the pieces [most, 1 + words] of the root and the words, and their counts [1 + words], at least 1."""
        splits = [(), *map(self.split, forms)]
        counts = np.array([len(split) for split in splits], dtype=np.int32)
        pieces = np.full((max(1, int(counts.max())), len(splits)), NOTHING, dtype=np.int64)
        for column, split in enumerate(splits):
            pieces[: len(split), column] = split
        return pieces, np.maximum(counts, 1)


@dataclass(frozen=True)
class PieceVectors:
    """Pieces and their vectors [1 + pieces, dimensions]; row 0, for padding, is zero."""

    pieces: Pieces
    vectors: NDArray[np.float32]


def is_piece_table(path: Path) -> bool:
    """Return whether a path is a folder of subword vectors, or its file of pieces."""
    return path.name == PIECES_FILE or (path / PIECES_FILE).is_file()


def read_piece_vectors(path: Path, alphabet: Collection[str], limit: int) -> PieceVectors:
    """Read the `limit` most frequent pieces that consist of characters of the alphabet, standardised by dimension."""
    folder = path.parent if path.name == PIECES_FILE else path
    try:
        texts = (folder / PIECES_FILE).read_text("utf-8").split("\n")
        table = np.load(folder / VECTORS_FILE, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise LongarcError(f"{folder}: cannot be read as subword vectors: {error}") from None
    texts = texts[:-1] if texts and not texts[-1] else texts
    if table.ndim != 2 or len(table) != len(texts):
        message = f"{len(texts)} pieces, but vectors of the shape {table.shape}"
        raise InputError(str(folder / VECTORS_FILE), 0, message, "Both files must have a row for every piece.")
    known = {*alphabet, WORD_START}
    seen: set[str] = set()
    rows = []
    for row, text in enumerate(texts):
        if text and text not in seen and known.issuperset(text):
            seen.add(text)
            rows.append(row)
            if len(rows) == limit:
                break
    if not rows:
        raise InputError(str(folder / PIECES_FILE), 0, "no pieces for the characters of the training data")
    vectors = np.asarray(table[rows], dtype=np.float32)
    if not np.isfinite(vectors).all():
        raise InputError(str(folder / VECTORS_FILE), 0, "vectors that are not finite numbers")
    deviation = vectors.std(axis=0)
    vectors = (vectors - vectors.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    zero = np.zeros((1, vectors.shape[1]), np.float32)
    return PieceVectors(Pieces([texts[row] for row in rows]), np.concatenate([zero, vectors.astype(np.float32)]))
