"""Small untrained models."""

from __future__ import annotations

from typing import Any

from longarc import Sentence
from longarc.configuration import Configuration
from longarc.runtime.model_file import ModelFile
from longarc.training.packaging import Origin, make_package, model_card
from longarc.training.prepare import Prepared, prepare


def small(system: str, sentences: list[Sentence], **changes: Any) -> Prepared:
    values = {"lstm_size": 9, "word_dimensions": 7, "merge_dimensions": 8, "pair_dimensions": 6, "min_count": 1}
    return prepare(Configuration(**(values | {"system": system} | changes)), sentences, [], None)


def packaged(prepared: Prepared) -> ModelFile:
    return make_package(prepared, model_card("test", prepared.configuration, {}, Origin()))


SPELLED = {"spelling_size": 4, "character_dimensions": 3, "tagger_layers": 1}

FACTORED = {"relation_dimensions": 7, "fine_tags": True, "features": True}
