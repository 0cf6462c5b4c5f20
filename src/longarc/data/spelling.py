"""The characters of words as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNKNOWN_CHARACTER, ROOT_CHARACTER, FIRST_CHARACTER = 0, 1, 2
LONGEST = 24
"""Only the first and last 12 characters of a longer word are read."""
MIN_WORDS = 3
"""A character is known if this many distinct words of the training data contain it."""


@dataclass(frozen=True)
class Spellings:
    """The characters of distinct words; the first is the root."""

    characters: NDArray[np.int64]
    """[words, longest]; padded with UNKNOWN_CHARACTER"""
    lengths: NDArray[np.int32]
    """[words]"""


class Characters:
    """The characters that a model knows, by number."""

    def __init__(self, characters: str) -> None:
        self.characters = "".join(sorted(set(characters)))
        self._codes = code_points(self.characters)

    @classmethod
    def of_words(cls, forms: Iterable[str]) -> Characters:
        """Collect the characters that occur in enough distinct words."""
        counts = Counter(character for form in set(forms) for character in set(form))
        return cls("".join(character for character, count in counts.items() if count >= MIN_WORDS))

    def __len__(self) -> int:
        """Return how many numbers are in use, including those of the root and of unknown characters."""
        return FIRST_CHARACTER + len(self.characters)

    def numbers(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the numbers of characters given as code points."""
        if not len(self._codes):
            return np.full(len(codes), UNKNOWN_CHARACTER)
        positions = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        return np.where(self._codes[positions] == codes, FIRST_CHARACTER + positions, UNKNOWN_CHARACTER)

    def spell(self, forms: Sequence[str]) -> Spellings:
        """Return the root followed by the words, each of at least one character."""
        counts = np.array([1, *map(len, forms)], dtype=np.int64)
        numbers = self.numbers(code_points("\0" + "".join(forms)))
        numbers[0] = ROOT_CHARACTER
        word = np.repeat(np.arange(len(counts)), counts)
        position = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
        skipped = np.maximum(counts - LONGEST, 0)[word]
        is_read = (position < LONGEST // 2) | (position >= LONGEST // 2 + skipped)
        position = np.where(position < LONGEST // 2, position, position - skipped)
        lengths = np.minimum(counts, LONGEST)
        characters = np.full((len(counts), int(lengths.max())), UNKNOWN_CHARACTER, dtype=np.int64)
        characters[word[is_read], position[is_read]] = numbers[is_read]
        return Spellings(characters, lengths.astype(np.int32))


def code_points(text: str) -> NDArray[np.uint32]:
    """[characters] Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype=np.uint32)
