"""Read pretrained word vectors: word2vec text and binary, GloVe (no header) and fastText `.vec`, also compressed.

A file is read once, and only the vectors that are selected are kept in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from longarc.data.files import open_input
from longarc.errors import InputError

Vector = NDArray[np.float32]

MAX_WORD_BYTES = 10_000


@dataclass(frozen=True)
class WordVectors:
    """Words, most frequent first, and their vectors [words, dimensions]."""

    words: list[str]
    vectors: NDArray[np.float32]

    def standardised(self) -> WordVectors:
        """Return the vectors with mean 0 and standard deviation 1 in each dimension."""
        mean, deviation = self.vectors.mean(axis=0), self.vectors.std(axis=0)
        scaled = (self.vectors - mean) / np.where(deviation > 0, deviation, 1)
        return WordVectors(self.words, scaled.astype(np.float32))


def read_vectors(path: str | Path, vocabulary: Collection[str], limit: int) -> WordVectors:
    """Return the vectors of the words in `vocabulary` and of the first (most frequent) `limit` words of a file."""
    vectors: dict[str, Vector] = {}
    for rank, (word, entry) in enumerate(_entries(path)):
        if (rank < limit or word in vocabulary) and word not in vectors:
            vectors[word] = entry.parse()
    if not vectors:
        raise InputError(str(path), 0, "the file contains no vectors for these words")
    return WordVectors(list(vectors), np.stack(list(vectors.values())))


@dataclass
class _Entry:
    """A vector as it is in the file. Most vectors are not needed, and parsing them all would take long."""

    path: str
    line: int
    raw: bytes
    dimensions: int
    binary: bool

    def parse(self) -> Vector:
        """Return the vector; raise InputError if it is malformed."""
        try:
            if self.binary:
                vector = np.frombuffer(self.raw, dtype="<f4").copy()
            else:
                vector = np.array(self.raw.split(), dtype=np.float32)
        except ValueError:
            raise InputError(self.path, self.line, "not a vector of numbers", _HINT) from None
        if vector.shape != (self.dimensions,) or not np.isfinite(vector).all():
            message = f"{vector.size} numbers, expected {self.dimensions} finite numbers"
            raise InputError(self.path, self.line, message, _HINT)
        return vector


_HINT = "Supported formats: word2vec text and binary, GloVe, fastText .vec, also .gz and .xz."


def _entries(path: str | Path) -> Iterator[tuple[str, _Entry]]:
    with open_input(path) as stream:
        first = stream.readline(1 << 20)
        fields = first.split()
        if not fields:
            raise InputError(str(path), 1, "the first line is empty, expected word vectors", _HINT)
        if len(fields) == 2 and all(field.isdigit() for field in fields):
            dimensions = int(fields[1])
            if not 0 < dimensions <= 10_000:
                raise InputError(str(path), 1, f"{dimensions} dimensions, expected 1 to 10,000", _HINT)
            second = stream.readline(1 << 20)
            if _is_text_entry(second, dimensions):
                yield from _text_entries(path, stream, dimensions, second, 2)
            else:
                yield from _binary_entries(path, stream, dimensions, second)
        else:
            yield from _text_entries(path, stream, len(fields) - 1, first, 1)


def _is_text_entry(line: bytes, dimensions: int) -> bool:
    try:
        numbers = line.rstrip().rsplit(b" ", dimensions)[1:]
        return len(numbers) == dimensions and all(float(number) is not None for number in numbers)
    except ValueError:
        return False


def _text_entries(
    path: str | Path, stream: BinaryIO, dimensions: int, first_line: bytes, first_number: int
) -> Iterator[tuple[str, _Entry]]:
    for number, line in enumerate(chain([first_line], stream), first_number):
        word, *numbers = line.rstrip().rsplit(b" ", dimensions)  # some files have words that contain spaces
        if len(numbers) != dimensions:
            raise InputError(str(path), number, f"{len(numbers)} numbers, expected {dimensions}", _HINT)
        yield _decode(word), _Entry(str(path), number, b" ".join(numbers), dimensions, binary=False)


def _binary_entries(path: str | Path, stream: BinaryIO, dimensions: int, buffer: bytes) -> Iterator[tuple[str, _Entry]]:
    size = 4 * dimensions
    position = 0
    for number in count(2):  # entries are numbered like the lines of a text file
        if len(buffer) - position < MAX_WORD_BYTES + size + 2:
            buffer, position = buffer[position:].lstrip(b"\n") + stream.read(1 << 20), 0
        while buffer.startswith(b"\n", position):
            position += 1
        if position == len(buffer):
            return
        start = buffer.find(b" ", position, position + MAX_WORD_BYTES + 1) + 1
        if not start:
            raise InputError(str(path), number, "not a word2vec file", _HINT)
        if len(buffer) < start + size:
            raise InputError(str(path), number, "the file ends within a vector", "Is the file complete?")
        vector = buffer[start : start + size]
        yield _decode(buffer[position : start - 1]), _Entry(str(path), number, vector, dimensions, binary=True)
        position = start + size


def _decode(word: bytes) -> str:
    return word.decode("utf-8", errors="replace")
