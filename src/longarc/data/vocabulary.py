"""The words and labels that a model knows, by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN, ROOT = 0, 1
UNKNOWN_WORD, ROOT_WORD = "\0unknown", "\0root"
"""No form equals one of these: the readers reject NUL."""

NOT_KNOWN = -1
"""The number of a label that a vocabulary lacks."""


class Labels:
    """Tags or relations, numbered by frequency."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._numbers = {name: number for number, name in enumerate(self.names)}

    @classmethod
    def from_counts(cls, counts: Counter[str]) -> Labels:
        """Number the most frequent names first, ties in alphabetical order."""
        return cls(sorted(counts, key=lambda name: (-counts[name], name)))

    @classmethod
    def from_json(cls, data: Any, key: str) -> Labels:
        """Return labels from a list of distinct texts; raise ValueError naming the key if it is not one."""
        if not is_list_of_texts(data) or not data or len(set(data)) != len(data):
            raise ValueError(key)
        return cls(data)

    def __len__(self) -> int:
        return len(self.names)

    def numbers(self, names: Iterable[str]) -> NDArray[np.int64]:
        """Return the numbers of names; NOT_KNOWN for names that the vocabulary lacks."""
        return np.array([self._numbers.get(name, NOT_KNOWN) for name in names], dtype=np.int64)


class Words:
    """Word forms by number: UNKNOWN, ROOT, the words of the training data, then words that only have a vector."""

    def __init__(self, forms: Sequence[str], trained: int) -> None:
        self.forms = list(forms)
        self.trained = trained
        """How many of the first words are trained; the others keep their pretrained vector."""
        self._numbers = {form: number for number, form in enumerate(self.forms)}

    @classmethod
    def build(cls, counts: Counter[str], min_count: int, vector_words: Sequence[str]) -> Words:
        """Take the training words that have a vector or occur `min_count` times, then the other words with vectors."""
        with_vector = set(vector_words)
        trained = sorted(
            (form for form, count in counts.items() if count >= min_count or form in with_vector),
            key=lambda form: (-counts[form], form),
        )
        known = set(trained)
        rest = [form for form in vector_words if form not in known]
        return cls([UNKNOWN_WORD, ROOT_WORD, *trained, *rest], len(trained) + 2)

    def __len__(self) -> int:
        return len(self.forms)

    def number(self, form: str) -> int:
        """Return the number of a form, else of the lower-cased form, else UNKNOWN."""
        number = self._numbers.get(form)
        return self._numbers.get(form.lower(), UNKNOWN) if number is None else number

    def numbers(self, forms: Iterable[str]) -> NDArray[np.int64]:
        """[n + 1] Return the numbers of the root and of a sentence's words."""
        return np.array([ROOT, *map(self.number, forms)], dtype=np.int64)


def is_list_of_texts(value: Any) -> bool:
    """Return whether a JSON value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
