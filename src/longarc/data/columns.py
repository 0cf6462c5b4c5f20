"""The CoNLL columns that a model can predict besides HEAD and DEPREL. A new one is a class and an entry in COLUMNS."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from longarc.data.edit_scripts import apply_script, make_script
from longarc.data.sentence import FEATS, FORM, LEMMA, UPOS, XPOS, Sentence
from longarc.data.vocabulary import NOT_KNOWN, Labels


class Column(ABC):
    """A predicted column: the network predicts one label per word, the column converts labels to cells and back."""

    name: ClassVar[str]
    """The key in configurations, model files, graph outputs and scores."""
    index: ClassVar[int]
    """The column's position in a CoNLL row."""
    measure: ClassVar[str]
    """The key of evaluation.measures that scores it."""
    is_input: ClassVar[bool] = True
    """Whether the parser reads the predicted labels."""

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
    def decode(self, forms: Sequence[str], labels: NDArray[np.int64], cells: Mapping[str, list[str]]) -> list[str]:
        """[n] Return the cells for the words' forms and labels [n]; `cells` has the columns decoded before this one."""

    def variants(self) -> list[Column]:
        """Return the ways to decode this column, of which packaging keeps the best on the development data."""
        return [self]

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
        return cls(
            Labels.from_counts(Counter(word[cls.index] for sentence in sentences for word in sentence.word_rows))
        )

    def encode(self, sentence: Sentence) -> NDArray[np.int64]:
        return np.concatenate([[NOT_KNOWN], self.labels.numbers(word[self.index] for word in sentence.word_rows)])

    def decode(self, forms: Sequence[str], labels: NDArray[np.int64], cells: Mapping[str, list[str]]) -> list[str]:
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


class Lemma(Column):
    """Lemmas. A label is an edit script from form to lemma (see data.edit_scripts)."""

    name, index, measure = "lemma", LEMMA, "lemmas"
    is_input = False

    def __init__(self, labels: Labels, known: Mapping[str, Mapping[str, int]] | None = None) -> None:
        super().__init__(labels)
        self.known = known or {}
        """The scripts of the forms and UPOS tags that have a single lemma in the training data"""

    @classmethod
    def learn(cls, sentences: Sequence[Sentence]) -> Column:
        scripts: dict[tuple[str, str], set[str]] = {}
        counts: Counter[str] = Counter()
        for word in (word for sentence in sentences for word in sentence.word_rows if cls._has_lemma(word)):
            script = make_script(word[FORM], word[LEMMA])
            counts[script] += 1
            scripts.setdefault((word[FORM], word[UPOS]), set()).add(script)
        labels = Labels.from_counts(counts)
        known: dict[str, dict[str, int]] = {}
        for (form, tag), candidates in scripts.items():
            if len(candidates) == 1:
                known.setdefault(form, {})[tag] = int(labels.numbers(candidates)[0])
        return cls(labels, known)

    @staticmethod
    def _has_lemma(word: list[str]) -> bool:
        return word[LEMMA] != "_" or word[FORM] == "_"

    def encode(self, sentence: Sentence) -> NDArray[np.int64]:
        scripts = (make_script(word[FORM], word[LEMMA]) if self._has_lemma(word) else "" for word in sentence.word_rows)
        return np.concatenate([[NOT_KNOWN], self.labels.numbers(scripts)])

    def decode(self, forms: Sequence[str], labels: NDArray[np.int64], cells: Mapping[str, list[str]]) -> list[str]:
        names = self.labels.names
        numbers = labels.tolist()
        if self.known and "upos" in cells:
            rows = zip(forms, cells["upos"], numbers, strict=True)
            numbers = [
                self.known[form].get(tag, number) if form in self.known else number for form, tag, number in rows
            ]
        return [apply_script(form, names[number]) for form, number in zip(forms, numbers, strict=True)]

    def variants(self) -> list[Column]:
        return [self, Lemma(self.labels)] if self.known else [self]

    def as_json(self) -> Any:
        return {"scripts": self.labels.names, "known": self.known}

    @classmethod
    def from_json(cls, data: Any) -> Column:
        if not isinstance(data, dict):
            raise ValueError(cls.name)
        labels, known = Labels.from_json(data.get("scripts"), cls.name), data.get("known")
        tables = known.values() if isinstance(known, dict) else [None]
        for table in tables:
            numbers = table.values() if isinstance(table, dict) else [None]
            if not all(type(number) is int and 0 <= number < len(labels) for number in numbers):
                raise ValueError(cls.name)
        return cls(labels, known)


COLUMNS: dict[str, type[Column]] = {column.name: column for column in (Upos, Xpos, Feats, Lemma)}
