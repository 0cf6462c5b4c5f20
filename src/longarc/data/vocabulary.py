"""The words, tags and relations that a model knows, by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import FEATS, UPOS, XPOS

UNKNOWN, ROOT = 0, 1
UNKNOWN_WORD, ROOT_WORD = "\0unknown", "\0root"
"""No form can be one of these: the reader refuses NUL."""

NOT_KNOWN = -1
"""The number of a tag or relation that a vocabulary lacks."""

TAG_COLUMNS = {"tags": UPOS, "fine_tags": XPOS, "features": FEATS}
"""The columns that a tagger can predict, by the names that models and scores have for them."""


class Labels:
    """Tags or relations, numbered by frequency."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._numbers = {name: number for number, name in enumerate(self.names)}

    @classmethod
    def from_counts(cls, counts: Counter[str]) -> Labels:
        """The most frequent first, ties in alphabetical order."""
        return cls(sorted(counts, key=lambda name: (-counts[name], name)))

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, number: int) -> str:
        return self.names[number]

    def numbers(self, names: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of names; NOT_KNOWN for those that are not in the vocabulary."""
        return np.array([self._numbers.get(name, NOT_KNOWN) for name in names], dtype=np.int64)


class Words:
    """Word forms by number: UNKNOWN, ROOT, then the words of the training data, then those that only have a vector."""

    def __init__(self, forms: Sequence[str], trained: int) -> None:
        self.forms = list(forms)
        self.trained = trained
        """How many, from the start, are trained: the others only ever have the vector that they came with."""
        self._numbers = {form: number for number, form in enumerate(self.forms)}

    @classmethod
    def build(cls, counts: Counter[str], min_count: int, vector_words: Sequence[str]) -> Words:
        """Words of the training data that have a vector or are seen `min_count` times, then other vectors' words."""
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
        """The number of a form, else of the form in lower case, else UNKNOWN."""
        found = self._numbers.get(form)
        if found is None:
            found = self._numbers.get(form.lower(), UNKNOWN)
        return found

    def numbers(self, forms: Iterable[str]) -> NDArray[np.int64]:
        """[n + 1] the numbers of a sentence's words, after that of the root."""
        return np.array([ROOT, *map(self.number, forms)], dtype=np.int64)
