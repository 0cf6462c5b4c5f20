"""Small networks that are ready to train."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longarc import read_all
from longarc.configuration import Configuration
from longarc.training.prepare import TrainingData, prepare
from longarc.training.trained_model import TrainedModel
from longarc.training.training_data import Batch, make_batch
from tests.helpers.toy_treebank import write_toy_treebank

SMALL = Configuration(
    lstm_size=12, lstm_layers=1, word_dimensions=8, merge_dimensions=8, pair_dimensions=6, min_count=1
)

FACTORED = {
    "spelling_size": 5,
    "character_dimensions": 4,
    "relation_dimensions": 6,
    "tagger_layers": 1,
    "columns": ["upos", "xpos", "feats"],
    "lstm_dropout": 0.2,
    "batch_words": 60,
    "schedule": "cosine",
    "weight_decay": 0.01,
    "gradient_limit": 1.0,
    "averaging": 0.9,
}
"""What the preset `base` adds, in small."""

SMALL_SETTINGS = [
    f"--set={key}={getattr(SMALL, key)}"
    for key in ("lstm_size", "lstm_layers", "word_dimensions", "merge_dimensions", "pair_dimensions", "min_count")
]


def prepared(tmp_path: Path, system: str, **changes: Any) -> tuple[TrainedModel, TrainingData]:
    treebank = read_all(write_toy_treebank(tmp_path / "toy.conllu", 9))
    return prepare(SMALL.updated({"system": system, **changes}, "test"), treebank, [])


def batch_of(model: TrainedModel, data: TrainingData) -> Batch:
    return make_batch(data.examples, model.description)
