"""The content of `model.json`: what a parser must know about a model besides its graphs.

A training folder and a model file use the same description.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.columns import COLUMNS, Column
from longarc.data.multiword import MultiwordRules
from longarc.data.spelling import Characters
from longarc.data.vocabulary import Labels, is_list_of_texts
from longarc.errors import LongarcError
from longarc.runtime.features import Featurizer
from longarc.runtime.featurizers import FEATURIZERS
from longarc.transitions import SYSTEMS
from longarc.trees.pseudo_projective import SCHEMES, Scheme

FORMAT = 2


@dataclass(frozen=True)
class TokenizerDescription:
    """What is needed besides its graph to tokenize text."""

    characters: Characters
    has_spaces: bool
    """Whether a token may contain a space"""
    multiword: MultiwordRules

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
        for table in (data.get("multiword_tokens"), data.get("multiword_endings")):
            if not isinstance(table, dict) or not all(is_list_of_texts(words) and words for words in table.values()):
                raise ValueError("tokenizer")
        if not isinstance(data.get("characters"), str):
            raise ValueError("tokenizer")
        rules = MultiwordRules(data["multiword_tokens"], data["multiword_endings"])
        return cls(Characters(data["characters"]), data["has_spaces"], rules)

    def as_json(self) -> dict[str, Any]:
        return {
            "characters": self.characters.characters,
            "has_spaces": self.has_spaces,
            "multiword_tokens": self.multiword.tokens,
            "multiword_endings": self.multiword.endings,
        }


@dataclass(frozen=True)
class Description:
    """The vocabularies of a model and how it parses."""

    system: str
    scheme: Scheme
    single_root: bool
    features: Featurizer
    columns: dict[str, Column]
    """The predicted columns by name"""
    relations: Labels
    tokenizer: TokenizerDescription | None = None
    """None if the model has no tokenizer of its own"""

    @classmethod
    def from_json(cls, data: Mapping[str, Any], name: str) -> Description:
        """Validate everything, since the file may come from anywhere."""
        data = _current_format(data, name)
        try:
            return cls(
                system=_one_of(SYSTEMS, data, "system"),
                scheme=_one_of(SCHEMES, data, "scheme"),
                single_root=_single_root(data),
                features=_features(data.get("encoder")),
                columns=_columns(data.get("columns")),
                relations=Labels.from_json(data.get("relations"), "relations"),
                tokenizer=TokenizerDescription.from_json(data["tokenizer"]) if "tokenizer" in data else None,
            )
        except ValueError as error:
            message = f"{name}: {error} is missing or not as expected"
            raise LongarcError(message, "Is the file a Longarc model?") from None

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "system": self.system,
            "scheme": self.scheme,
            "single_root": self.single_root,
            "encoder": {"kind": self.features.kind, **self.features.as_json()},
            "columns": {name: column.as_json() for name, column in self.columns.items()},
            "relations": self.relations.names,
            **({} if self.tokenizer is None else {"tokenizer": self.tokenizer.as_json()}),
        }


def _current_format(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    version = data.get("format")
    if version == FORMAT:
        return data
    if version == 1:
        # The embedded English model is of format 1, whose keys and graph outputs had other names.
        words = data.get("words")
        encoder = {"kind": "words", "words": words, "trained": len(words) if isinstance(words, list) else 0}
        encoder |= {"characters": data["characters"]} if "characters" in data else {}
        columns = {new: data[old] for new, old in FORMAT_1_COLUMNS.items() if data.get(old)}
        return {**data, "encoder": encoder, "columns": columns}
    newer = isinstance(version, int) and version > FORMAT
    hint = "Use a newer version of Longarc." if newer else "Package the model again with this version of Longarc."
    raise LongarcError(f"{name}: model format {version!r}, this version reads {FORMAT}", hint)


FORMAT_1_COLUMNS = {"upos": "tags", "xpos": "fine_tags", "feats": "features"}


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


def _features(data: Any) -> Featurizer:
    if not isinstance(data, dict):
        raise ValueError("encoder")
    return FEATURIZERS[_one_of(FEATURIZERS, data, "kind")].from_json(data)


def _columns(data: Any) -> dict[str, Column]:
    if not isinstance(data, dict) or not data or not data.keys() <= COLUMNS.keys():
        raise ValueError("columns")
    return {name: column.from_json(data[name]) for name, column in COLUMNS.items() if name in data}
