"""The content of `model.json`: what a parser must know about a model besides its graphs.

A training folder and a model file use the same description.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from longarc.data.columns import COLUMNS, Column
from longarc.data.multiword import MultiwordRules
from longarc.data.sentence import NOT_IN_A_FORM
from longarc.data.spelling import Characters
from longarc.data.vocabulary import ROOT_WORD, UNKNOWN_WORD, Labels, is_list_of_texts
from longarc.errors import LongarcError
from longarc.runtime.features import Featurizer
from longarc.runtime.featurizers import FEATURIZERS
from longarc.runtime.untrusted_json import NOT_PRINTABLE, check_values
from longarc.transitions import SYSTEMS
from longarc.trees.pseudo_projective import PROJECTIVIZATIONS, Projectivization

FORMAT = 2
MAX_TEXT = 1000
"""Characters of a label, or of a word of a multiword token."""
MAX_MULTIWORD = 100
"""Words of a multiword token."""
MAX_CROSSING_COST = 1000.0
LOOKUPS = {
    *(("encoder", key) for key in ("words", "characters", "pieces")),
    ("tokenizer", "characters"),
    ("columns", "lemma", "known"),
}
"""Texts that are only compared with words of the input, and may contain whatever these may contain."""
IS_IT_A_MODEL = "Is the file a Longarc model?"


@dataclass(frozen=True)
class TokenizerDescription:
    """What is needed besides its graph to tokenize text."""

    characters: Characters
    has_spaces: bool
    """Whether a token may contain a space"""
    multiword: MultiwordRules
    line_breaks: bool = False
    """Whether the network distinguishes line breaks from spaces"""
    abbreviations: frozenset[str] = frozenset()
    """Abbreviations in lower case, with their full stop; see runtime.tokenizer"""
    splits_numbers: bool = False
    """Whether a token may end at `.` or `,` between two digits"""

    def numbers(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the numbers of characters; 0 is padding."""
        return 1 + self.characters.numbers(codes)

    @property
    def character_numbers(self) -> int:
        """How many distinct numbers there are."""
        return 1 + len(self.characters)

    @classmethod
    def from_json(cls, data: Any) -> TokenizerDescription:
        """Return a description; raise ValueError if the data is not as expected."""
        if not isinstance(data, dict) or not isinstance(data.get("has_spaces"), bool):
            raise ValueError("tokenizer")
        # Older models read line breaks as spaces.
        line_breaks, splits_numbers = data.get("line_breaks", False), data.get("splits_numbers", False)
        for key, value in (("line_breaks", line_breaks), ("splits_numbers", splits_numbers)):
            if not isinstance(value, bool):
                raise ValueError(key)
        abbreviations = data.get("abbreviations", [])
        if not is_list_of_texts(abbreviations):
            raise ValueError("abbreviations")
        # An ending may leave nothing of its part of the first word.
        for key, first in (("multiword_tokens", 0), ("multiword_endings", 1)):
            table = data.get(key)
            if not isinstance(table, dict) or not all(_are_words(words, first) for words in table.values()):
                raise ValueError(key)
        if not _is_text(data.get("characters")):
            raise ValueError("tokenizer")
        rules = MultiwordRules(data["multiword_tokens"], data["multiword_endings"])
        characters = Characters(data["characters"])
        return cls(characters, data["has_spaces"], rules, line_breaks, frozenset(abbreviations), splits_numbers)

    def as_json(self) -> dict[str, Any]:
        return {
            "characters": self.characters.characters,
            "has_spaces": self.has_spaces,
            "line_breaks": self.line_breaks,
            "abbreviations": sorted(self.abbreviations),
            "splits_numbers": self.splits_numbers,
            "multiword_tokens": _printable_rules(self.multiword.tokens),
            "multiword_endings": _printable_rules(self.multiword.endings),
        }


def _printable_rules(rules: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Leave out rules that a reader would refuse: the words of badly encoded text."""
    return {form: words for form, words in rules.items() if not NOT_PRINTABLE.search(form + "".join(words))}


def _are_words(words: Any, first: int) -> bool:
    """Whether this is a list of words; those before `first` may be empty."""
    return is_list_of_texts(words) and 0 < len(words) <= MAX_MULTIWORD and all(words[first:])


def _is_text(value: Any) -> bool:
    """Whether this is a text without lone surrogates."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


@dataclass(frozen=True)
class Description:
    """The vocabularies of a model and how it parses."""

    system: str
    scheme: Projectivization
    single_root: bool
    features: Featurizer
    columns: dict[str, Column]
    """The predicted columns by name"""
    relations: Labels
    crossing_cost: float = 0.0
    """What the search subtracts from the score of an arc for each arc that it crosses"""
    arc_score: Literal["best", "total"] = "best"
    """What the search compares arcs by, if each arc is scored with each relation; see Configuration.arc_score"""
    tokenizer: TokenizerDescription | None = None
    """None if the model has no tokenizer of its own"""

    @classmethod
    def from_json(cls, data: Mapping[str, Any], name: str) -> Description:
        """Validate everything, since the file may come from anywhere."""
        data = _current_format(data, name)
        try:
            check_values(_without_lookups(data), MAX_TEXT)
        except ValueError as error:
            raise LongarcError(f"{name}: {error}", IS_IT_A_MODEL) from None
        try:
            return cls(
                system=_one_of(SYSTEMS, data, "system"),
                scheme=_one_of(PROJECTIVIZATIONS, data, "scheme"),
                single_root=_single_root(data),
                features=_features(data.get("encoder")),
                columns=_columns(data.get("columns")),
                relations=_relations(data.get("relations")),
                crossing_cost=_crossing_cost(data),
                arc_score=_one_of(("best", "total"), {"arc_score": "best", **data}, "arc_score"),
                tokenizer=TokenizerDescription.from_json(data["tokenizer"]) if "tokenizer" in data else None,
            )
        except ValueError as error:
            message = f"{name}: {error} is missing or not as expected"
            raise LongarcError(message, IS_IT_A_MODEL) from None

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "system": self.system,
            "scheme": self.scheme,
            "single_root": self.single_root,
            "encoder": {"kind": self.features.kind, **self.features.as_json()},
            "columns": {name: column.as_json() for name, column in self.columns.items()},
            "relations": self.relations.names,
            "crossing_cost": self.crossing_cost,
            "arc_score": self.arc_score,
            **({} if self.tokenizer is None else {"tokenizer": self.tokenizer.as_json()}),
        }


def _current_format(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    version = data.get("format")
    if version == FORMAT:
        return data
    newer = isinstance(version, int) and version > FORMAT
    hint = "Use a newer version of Longarc." if newer else "Package the model again with this version of Longarc."
    raise LongarcError(f"{name}: model format {ascii(version)[:50]}, this version reads {FORMAT}", hint)


_FIRST_WORDS = [UNKNOWN_WORD, ROOT_WORD]


def _one_of(names: Any, data: Mapping[str, Any], key: str) -> Any:
    value = data.get(key)
    if not isinstance(value, str) or value not in names:
        raise ValueError(key)
    return value


def _single_root(data: Mapping[str, Any]) -> bool:
    value = data.get("single_root")
    if not isinstance(value, bool):
        raise ValueError("single_root")
    return value


def _crossing_cost(data: Mapping[str, Any]) -> float:
    value = data.get("crossing_cost", 0.0)  # models of earlier versions have none
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_CROSSING_COST:
        raise ValueError("crossing_cost")
    return float(value)


def _features(data: Any) -> Featurizer:
    if not isinstance(data, dict):
        raise ValueError("encoder")
    features = FEATURIZERS[_one_of(FEATURIZERS, data, "kind")].from_json(data)
    words: Any = data.get("words")
    characters = data.get("characters")
    if is_list_of_texts(words) and (words[:2] != _FIRST_WORDS or NOT_IN_A_FORM.search("".join(words[2:]))):
        raise ValueError("words")
    if characters is not None and not _is_text(characters):
        raise ValueError("characters")
    return features


def _columns(data: Any) -> dict[str, Column]:
    if not isinstance(data, dict) or not data or not data.keys() <= COLUMNS.keys():
        raise ValueError("columns")
    columns = {name: column.from_json(data[name]) for name, column in COLUMNS.items() if name in data}
    for name, column in columns.items():
        if "" in column.labels.names:
            raise ValueError(name)
    return columns


def _relations(data: Any) -> Labels:
    labels = Labels.from_json(data, "relations")
    if "" in labels.names:
        raise ValueError("relations")
    return labels


def _without_lookups(data: Any, path: tuple[str, ...] = ()) -> Any:
    """Return the data without the texts in LOOKUPS."""
    if not isinstance(data, dict) or len(path) > 2:
        return data
    return {key: _without_lookups(value, (*path, key)) for key, value in data.items() if (*path, key) not in LOOKUPS}
