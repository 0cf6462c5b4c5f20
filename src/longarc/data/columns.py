"""The CoNLL columns that a model can predict besides HEAD and DEPREL. A new one is a class and an entry in COLUMNS."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import FEATS, UPOS, XPOS, Sentence
from longarc.data.vocabulary import NOT_KNOWN, Labels


class Column(ABC):
    """A predicted column: the network predicts one label per word, the column converts labels to cells and back."""

    name: ClassVar[str]
    """The key in configurations, model files, graph outputs and scores."""
    index: ClassVar[int]
    """The column's position in a CoNLL row."""
    measure: ClassVar[str]
    """The key of evaluation.measures that scores it."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels

    @classmethod
    @abstractmethod
    def learn(cls, sentences: Sequence[Sentence]) -> Column:
        """Collect the labels of the training data."""

    @abstractmethod
    def encode(self, sentence: Sentence) -> NDArray[np.int64]:
        """[n + 1] Return the labels of the sentence's cells; NOT_KNOWN for the root and for unknown labels."""

    @abstractmethod
    def decode(self, forms: Sequence[str], labels: NDArray[np.int64]) -> list[str]:
        """[n] Return the cells for the words' forms and labels [n]."""

    def as_json(self) -> Any:
        """Return what the model file stores."""
        return self.labels.names

    @classmethod
    def from_json(cls, data: Any) -> Column:
        """Return a column from what `as_json` gave; raise ValueError if the data is not as expected."""
        return cls(Labels.from_json(data, cls.name))


class TagColumn(Column):
    """A column whose labels are its cells."""

    @classmethod
    def learn(cls, sentences: Sequence[Sentence]) -> Column:
        return cls(Labels.from_counts(Counter(word[cls.index] for sentence in sentences for word in sentence.words)))

    def encode(self, sentence: Sentence) -> NDArray[np.int64]:
        return np.concatenate([[NOT_KNOWN], self.labels.numbers(word[self.index] for word in sentence.words)])

    def decode(self, forms: Sequence[str], labels: NDArray[np.int64]) -> list[str]:
        names = self.labels.names
        return [names[label] for label in labels.tolist()]


class Upos(TagColumn):
    """Universal part-of-speech tags, or the coarse tags of CoNLL-X."""

    name, index, measure = "upos", UPOS, "upos"


class Xpos(TagColumn):
    """Language-specific part-of-speech tags."""

    name, index, measure = "xpos", XPOS, "xpos"


class Feats(TagColumn):
    """Morphological features; a combination of features is one label."""

    name, index, measure = "feats", FEATS, "features"


COLUMNS: dict[str, type[Column]] = {column.name: column for column in (Upos, Xpos, Feats)}
