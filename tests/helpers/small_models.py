"""Small untrained models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longarc import Sentence
from longarc.configuration import Configuration
from longarc.runtime.model_file import ModelFile
from longarc.training.packaging import Origin, model_card
from longarc.training.prepare import TrainingData, prepare
from longarc.training.trained_model import TrainedModel


def small(system: str, sentences: Sequence[Sentence], **changes: Any) -> TrainedModel:
    return small_with_data(system, sentences, **changes)[0]


def small_with_data(system: str, sentences: Sequence[Sentence], **changes: Any) -> tuple[TrainedModel, TrainingData]:
    values = {"lstm_size": 9, "word_dimensions": 7, "merge_dimensions": 8, "pair_dimensions": 6, "min_count": 1}
    return prepare(Configuration().updated({**values, "system": system, **changes}, "test"), sentences, [])


def packaged(model: TrainedModel) -> ModelFile:
    return model.to_model_file(model_card("test", model.configuration, {}, Origin()))


SPELLED = {"spelling_size": 4, "character_dimensions": 3, "tagger_layers": 1}

FACTORED = {"relation_dimensions": 7, "columns": ["upos", "xpos", "feats"]}
