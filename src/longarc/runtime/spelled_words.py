"""Words by their characters and by their subword pieces, one vector for each distinct word."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.pieces import LONGEST_WORD, Pieces
from longarc.data.spelling import LONGEST, Characters
from longarc.runtime.features import Arrays, Forms, TableRows

if TYPE_CHECKING:  # onnxruntime takes long to import
    from longarc.runtime.graph import Graph

SPELLING = "spelling"
"""The name of the graph that reads characters and pieces."""
WORD_LENGTHS = (3, 5, 7, 9, 12)
"""Words up to each of these lengths are read together: reading takes as many steps as the longest word."""
CACHE_SIZE = 20_000
"""Distinct words whose vectors are cached; a full cache is cleared. Their memory is bounded, see `_abbreviated`."""


class SpelledWords:
    """Reads words by their characters, by pieces with fixed vectors, or both; without either it reads nothing."""

    def __init__(self, characters: Characters | None, pieces: Pieces | None) -> None:
        self.characters = characters
        self.pieces = pieces
        self.graphs = (SPELLING,) if characters is not None or pieces is not None else ()

    def arrays(self, sentences: Forms) -> Arrays:
        """Return `spellings` [N, batch], the column of each word in the arrays of `spell`, and those arrays."""
        if not self.graphs:
            return {}
        distinct, spellings = distinct_words(sentences)
        return {"spellings": spellings, **self.spell(distinct)}

    def spell(self, forms: Sequence[str]) -> Arrays:
        """Return what the spelling graph reads of the root and some words: `characters` [longest, 1 + words] and
        `character_counts` [1 + words], `pieces` and `piece_counts`."""
        arrays: Arrays = {}
        if self.characters is not None:
            spelled = self.characters.spell(forms)
            arrays |= {"characters": np.ascontiguousarray(spelled.characters.T), "character_counts": spelled.lengths}
        if self.pieces is not None:
            arrays["pieces"], arrays["piece_counts"] = self.pieces.arrays(forms)
        return arrays

    def graph_inputs(self, graphs: Mapping[str, Graph]) -> Callable[[Forms], Arrays]:
        """Return a function like `arrays` that returns, instead of characters and pieces, what the main graph reads:
        `spelled` [distinct words, width], one cached vector per word."""
        if not self.graphs:
            return self.arrays
        cache = SpellingCache(graphs[SPELLING], self.spell)

        def inputs(sentences: Forms) -> Arrays:
            distinct, spellings = distinct_words(sentences)
            read = [form if len(form) <= LONGEST else self._abbreviated(form) for form in distinct]
            return {"spellings": spellings, "spelled": cache.read(read)}

        return inputs

    def _abbreviated(self, form: str) -> str:
        """Return the part of a long word that `spell` reads, so that the cache is bounded in bytes."""
        start, end = LONGEST // 2 if self.pieces is None else LONGEST_WORD, LONGEST // 2
        return form if len(form) <= start + end else form[:start] + form[-end:]

    def as_json(self) -> dict[str, Any]:
        characters = {} if self.characters is None else {"characters": self.characters.characters}
        pieces = {} if self.pieces is None else {"pieces": self.pieces.texts}
        return {**characters, **pieces}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SpelledWords:
        characters = data.get("characters")
        if not isinstance(characters, str | None):
            raise ValueError("characters")
        pieces = Pieces.from_json(data["pieces"]) if "pieces" in data else None
        return cls(None if characters is None else Characters(characters), pieces)

    def table_rows(self) -> TableRows:
        """See Featurizer."""
        tables = {"characters": self.characters, "pieces": self.pieces}
        return {SPELLING: {name: len(values) for name, values in tables.items() if values is not None}}

    def probe(self) -> str:
        """Return a word with the last character."""
        known = "" if self.characters is None else self.characters.characters
        return known[-1:] or "a"


def distinct_words(sentences: Forms) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct forms of a batch, and [N, batch] the number of each word's form, counted from 1.

    The root and padding have the number 0.
    """
    numbers: dict[str, int] = {}
    spellings = np.zeros((max(map(len, sentences)) + 1, len(sentences)), dtype=np.int64)
    for column, forms in enumerate(sentences):
        spellings[1 : len(forms) + 1, column] = [numbers.setdefault(form, len(numbers) + 1) for form in forms]
    return list(numbers), spellings


class SpellingCache:
    """Runs the spelling graph and caches its result per word. Thread-safe.

    A word's vector does not depend, to the last bit, on the words that it is read with.
    """

    def __init__(self, graph: Graph, spell: Callable[[Sequence[str]], Arrays]) -> None:
        self._graph = graph
        self._spell = spell
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self._used = 0
        root = self._run(spell([]))
        self._vectors = np.empty((1 + CACHE_SIZE, root.shape[1]), np.float32)
        """[1 + words, width]; row 0 is the root"""
        self._vectors[:1] = root

    def read(self, forms: Sequence[str]) -> NDArray[np.float32]:
        """[1 + words, width] Return the vectors of the root and of distinct words."""
        with self._lock:
            numbers = np.array([0, *(self._numbers.get(form, -1) for form in forms)])
            vectors: NDArray[np.float32] = self._vectors[numbers]
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            new = [forms[index - 1] for index in unknown.tolist()]
            vectors[unknown] = self._run(self._spell(new))[1:]
            self._store(new, vectors[unknown])
        return vectors

    def _store(self, forms: list[str], vectors: NDArray[np.float32]) -> None:
        forms = forms[:CACHE_SIZE]
        with self._lock:
            if self._used + len(forms) > CACHE_SIZE:
                self._numbers.clear()
                self._used = 0
            rows = range(1 + self._used, 1 + self._used + len(forms))
            self._vectors[rows.start : rows.stop] = vectors[: len(forms)]
            self._numbers.update(zip(forms, rows, strict=True))
            self._used += len(forms)

    def _run(self, arrays: Arrays) -> NDArray[np.float32]:
        lengths = arrays["character_counts"] if "character_counts" in arrays else arrays["piece_counts"]
        order = np.argsort(lengths, kind="stable")
        groups = np.split(order, np.searchsorted(lengths[order], WORD_LENGTHS, side="right"))
        parts = []
        for columns in filter(len, groups):
            inputs = {name: array[..., columns] for name, array in arrays.items()}
            for name in inputs.keys() & {"characters", "pieces"}:
                longest = int(inputs[f"{name[:-1]}_counts"].max())
                inputs[name] = np.ascontiguousarray(inputs[name][:longest])
            parts.append(self._graph.run(["spelled"], inputs)[0])
        vectors = np.empty((len(order), parts[0].shape[1]), np.float32)
        vectors[order] = np.concatenate(parts)
        return vectors
