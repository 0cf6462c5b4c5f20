"""Reading pretrained word vectors: word2vec text and binary, GloVe (no header) and fastText `.vec`, also compressed.

The file is read once from start to end, and nothing but the vectors that are kept is ever in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from longarc.data.files import open_input
from longarc.errors import InputError

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class WordVectors:
    """Words, most frequent first, and their vectors [words, dimensions]."""

    words: list[str]
    vectors: NDArray[np.float32]

    def standardised(self) -> WordVectors:
        """The same with mean 0 and standard deviation 1 in each dimension."""
        mean, deviation = self.vectors.mean(axis=0), self.vectors.std(axis=0)
        scaled = (self.vectors - mean) / np.where(deviation > 0, deviation, 1)
        return WordVectors(self.words, scaled.astype(np.float32))


def read_vectors(path: str | Path, wanted: Collection[str], limit: int) -> WordVectors:
    """The vectors of the `wanted` words and of the `limit` first (most frequent) ones of a file."""
    words: list[str] = []
    kept: list[Vector] = []
    seen: set[str] = set()
    for rank, (word, vector) in enumerate(_entries(path)):
        if (rank < limit or word in wanted) and word not in seen:
            seen.add(word)
            words.append(word)
            kept.append(vector())
    if not words:
        raise InputError(str(path), 0, "no word vectors of use in it")
    return WordVectors(words, np.stack(kept))


class _Lazy:
    """A vector that is parsed only if it is asked for."""

    def __init__(self, path: str, line: int, raw: bytes, dimensions: int, binary: bool) -> None:
        self.path, self.line, self.raw, self.dimensions, self.binary = path, line, raw, dimensions, binary

    def __call__(self) -> Vector:
        try:
            if self.binary:
                vector = np.frombuffer(self.raw, dtype="<f4").copy()
            else:
                vector = np.array(self.raw.split(), dtype=np.float32)
        except ValueError:
            raise InputError(self.path, self.line, "not a vector of numbers", _HINT) from None
        if vector.shape != (self.dimensions,) or not np.isfinite(vector).all():
            found = f"{vector.size} numbers, expected {self.dimensions} finite ones"
            raise InputError(self.path, self.line, found, _HINT)
        return vector


_HINT = "Known formats: word2vec text and binary, GloVe, fastText .vec, also .gz and .xz."


def _entries(path: str | Path) -> Iterator[tuple[str, _Lazy]]:
    with open_input(path) as stream:
        first = stream.readline(1 << 20)
        fields = first.split()
        if not fields:
            raise InputError(str(path), 1, "an empty file or line, expected word vectors", _HINT)
        if len(fields) == 2 and all(field.isdigit() for field in fields):
            dimensions = int(fields[1])
            if not 0 < dimensions <= 10_000:
                raise InputError(str(path), 1, f"vectors of {dimensions} dimensions", _HINT)
            second = stream.readline(1 << 20)
            if _is_text_entry(second, dimensions):
                yield from _text(path, stream, dimensions, [second], 2)
            else:
                yield from _binary(path, stream, dimensions, second)
        else:
            yield from _text(path, stream, len(fields) - 1, [first], 1)


def _is_text_entry(line: bytes, dimensions: int) -> bool:
    try:
        numbers = line.rstrip().rsplit(b" ", dimensions)[1:]
        return len(numbers) == dimensions and all(float(number) is not None for number in numbers)
    except ValueError:
        return False


def _text(
    path: str | Path, stream: BinaryIO, dimensions: int, start: list[bytes], number: int
) -> Iterator[tuple[str, _Lazy]]:
    lines = iter(start)
    for source in (lines, stream):
        for line in source:
            # The word is what stands before the numbers: some files have words with spaces in them.
            word, *numbers = line.rstrip().rsplit(b" ", dimensions)
            if len(numbers) != dimensions:
                found = f"{len(numbers)} numbers, expected {dimensions}"
                raise InputError(str(path), number, found, _HINT)
            yield _decode(word), _Lazy(str(path), number, b" ".join(numbers), dimensions, binary=False)
            number += 1


def _binary(path: str | Path, stream: BinaryIO, dimensions: int, rest: bytes) -> Iterator[tuple[str, _Lazy]]:
    size = 4 * dimensions
    number = 2
    while True:
        while b" " not in rest.lstrip(b"\n") or len(rest) < 1 << 16:
            chunk = stream.read(1 << 20)
            if not chunk:
                break
            rest += chunk
        rest = rest.lstrip(b"\n")
        if not rest:
            return
        word, space, rest = rest.partition(b" ")
        if not space or len(word) > 10_000:
            raise InputError(str(path), number, "not a word2vec file", _HINT)
        if len(rest) < size:
            rest += stream.read(max(size, 1 << 20))
        if len(rest) < size:
            raise InputError(str(path), number, "the file ends within a vector", "Is it complete?")
        yield _decode(word), _Lazy(str(path), number, rest[:size], dimensions, binary=True)
        rest = rest[size:]
        number += 1


def _decode(word: bytes) -> str:
    return word.decode("utf-8", errors="replace")
