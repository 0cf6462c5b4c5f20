"""How words are spelled, as numbers: what a model reads of a word that it may never have seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNKNOWN_CHARACTER, ROOT_CHARACTER, FIRST_CHARACTER = 0, 1, 2
LONGEST = 24
"""Of a longer word only the first and the last characters are read, half of them each."""
MIN_WORDS = 3
"""A character is known if so many different words of the training data have it."""


@dataclass(frozen=True)
class Spellings:
    """Different words of a batch, the first of them the root."""

    characters: NDArray[np.int64]
    """[words, longest]; padded with UNKNOWN_CHARACTER"""
    lengths: NDArray[np.int32]
    """[words]"""

    def take(self, rows: NDArray[np.int64]) -> Spellings:
        """Some of the words, with no more padding than they need."""
        lengths = self.lengths[rows]
        return Spellings(self.characters[rows, : int(lengths.max(initial=1))], lengths)


class Characters:
    """The characters that a model knows, by number."""

    def __init__(self, characters: str) -> None:
        self.characters = "".join(sorted(set(characters)))
        self._codes = _code_points(self.characters)

    @classmethod
    def of_words(cls, forms: Iterable[str]) -> Characters:
        """Those that enough of the different words have."""
        counts = Counter(character for form in set(forms) for character in set(form))
        return cls("".join(character for character, count in counts.items() if count >= MIN_WORDS))

    def __len__(self) -> int:
        """How many numbers there are, those of the root and of unknown characters included."""
        return FIRST_CHARACTER + len(self.characters)

    def spell(self, forms: Sequence[str]) -> Spellings:
        """The root and then the words, each of at least one character."""
        counts = np.array([1, *map(len, forms)], dtype=np.int64)
        codes = _code_points("\0" + "".join(forms))
        numbers = np.full(len(codes), UNKNOWN_CHARACTER)
        if len(self._codes):
            places = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
            numbers[:] = np.where(self._codes[places] == codes, FIRST_CHARACTER + places, UNKNOWN_CHARACTER)
        numbers[0] = ROOT_CHARACTER
        word = np.repeat(np.arange(len(counts)), counts)
        place = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        left_out = np.maximum(counts - LONGEST, 0)[word]
        kept = (place < LONGEST // 2) | (place >= LONGEST // 2 + left_out)
        place = np.where(place < LONGEST // 2, place, place - left_out)
        lengths = np.minimum(counts, LONGEST)
        characters = np.full((len(counts), int(lengths.max())), UNKNOWN_CHARACTER, dtype=np.int64)
        characters[word[kept], place[kept]] = numbers[kept]
        return Spellings(characters, lengths.astype(np.int32))


def different_words(sentences: Sequence[Sequence[str]], nodes: int) -> tuple[list[str], NDArray[np.int64]]:
    """The different forms of some sentences, and [batch, nodes] which of them each word is, counted from 1: 0 is the
    root, and what is beyond a sentence's end."""
    numbers: dict[str, int] = {}
    places = np.zeros((len(sentences), nodes), dtype=np.int64)
    for row, forms in enumerate(sentences):
        places[row, 1 : len(forms) + 1] = [numbers.setdefault(form, len(numbers) + 1) for form in forms]
    return list(numbers), places


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype=np.uint32)
