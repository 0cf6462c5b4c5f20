"""What a model reads of the characters of words, in onnxruntime; words that were read before are remembered."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.spelling import Characters, Spellings

WORD_LENGTHS = (3, 5, 7, 9, 12)
"""Words up to these lengths are read together: reading takes as many steps as the longest has characters."""
MOST_REMEMBERED = 20_000
"""Different words; with more, it begins to remember anew."""


class WordReader:
    """May be used from several threads at once. A word is the same whatever it is read with, to the last bit."""

    def __init__(self, graph: Any, characters: Characters) -> None:
        self._graph = graph
        self._characters = characters
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self._used = 0
        root = self._read(characters.spell([]))
        self._vectors = np.empty((1 + MOST_REMEMBERED, root.shape[1]), np.float32)
        """[words, width] those remembered, the first of them the root"""
        self._vectors[:1] = root

    def read(self, forms: Sequence[str]) -> NDArray[np.float32]:
        """[1 + words, width] the root and some different words."""
        with self._lock:
            numbers = np.array([0, *(self._numbers.get(form, -1) for form in forms)])
            found: NDArray[np.float32] = self._vectors[numbers]
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            new = [forms[place - 1] for place in unknown.tolist()]
            found[unknown] = self._read(self._characters.spell(new))[1:]
            self._remember(new, found[unknown])
        return found

    def _remember(self, forms: list[str], vectors: NDArray[np.float32]) -> None:
        forms = forms[:MOST_REMEMBERED]
        with self._lock:
            if self._used + len(forms) > MOST_REMEMBERED:
                self._numbers.clear()
                self._used = 0
            own = range(1 + self._used, 1 + self._used + len(forms))
            self._vectors[own.start : own.stop] = vectors[: len(forms)]
            self._numbers.update(zip(forms, own, strict=True))
            self._used += len(forms)

    def _read(self, words: Spellings) -> NDArray[np.float32]:
        order = np.argsort(words.lengths, kind="stable")
        parts = np.split(order, np.searchsorted(words.lengths[order], WORD_LENGTHS, side="right"))
        read = []
        for rows in filter(len, parts):
            own = words.take(rows)
            given = {"characters": np.ascontiguousarray(own.characters.T), "character_counts": own.lengths}
            read.append(self._graph.run(["spelled"], given)[0])
        found = np.empty((len(order), read[0].shape[1]), np.float32)
        found[order] = np.concatenate(read)
        return found
