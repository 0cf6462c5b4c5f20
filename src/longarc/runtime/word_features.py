"""Words by number and by their spelling: the features of the encoder `words`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from longarc.data.vocabulary import UNKNOWN, Words, is_list_of_texts
from longarc.runtime.features import MAIN, Arrays, Featurizer, Forms, TableRows, lengths_in_nodes
from longarc.runtime.spelled_words import SpelledWords

if TYPE_CHECKING:  # onnxruntime takes long to import
    from longarc.runtime.graph import Graph


class WordFeatures(Featurizer):
    """Numbers words, and spells the distinct words of a batch if the model reads characters or pieces."""

    kind = "words"

    def __init__(self, words: Words, spelling: SpelledWords) -> None:
        self.words = words
        self.spelling = spelling
        self.graphs = spelling.graphs

    def featurise(self, sentences: Forms) -> Arrays:
        """Return `words` and `lengths` and, if words are spelled, the arrays of SpelledWords."""
        return {**self._number(sentences), **self.spelling.arrays(sentences)}

    def graph_inputs(self, graphs: Mapping[str, Graph]) -> Callable[[Forms], Arrays]:
        spelled = self.spelling.graph_inputs(graphs)
        return lambda sentences: {**self._number(sentences), **spelled(sentences)}

    def _number(self, sentences: Forms) -> Arrays:
        lengths = lengths_in_nodes(sentences)
        words = np.full((int(lengths.max()), len(sentences)), UNKNOWN, dtype=np.int64)
        for column, forms in enumerate(sentences):
            words[: lengths[column], column] = self.words.numbers(forms)
        return {"words": words, "lengths": lengths}

    def as_json(self) -> dict[str, Any]:
        return {"words": self.words.forms, "trained": self.words.trained, **self.spelling.as_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> WordFeatures:
        forms: Any = data.get("words")
        trained = data.get("trained")
        if not is_list_of_texts(forms) or not 2 <= len(set(forms)) == len(forms):
            raise ValueError("words")
        if type(trained) is not int or not 2 <= trained <= len(forms):
            raise ValueError("trained")
        return cls(Words(forms, trained), SpelledWords.from_json(data))

    def table_rows(self) -> TableRows:
        return {MAIN: {"words": len(self.words)}, **self.spelling.table_rows()}

    def probe(self) -> list[str]:
        return [self.words.forms[-1], self.spelling.probe()]
