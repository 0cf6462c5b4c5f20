"""From treebank and configuration to a model and its training data."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from longarc.configuration import Configuration
from longarc.data.language_profile import LanguageProfile
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.model.encoder import Pretrained
from longarc.model.encoders import ENCODERS
from longarc.model.network import Network
from longarc.runtime.description import Description
from longarc.training.teacher import Progress, Teacher
from longarc.training.trained_model import TrainedModel
from longarc.training.training_data import (
    Example,
    check_lengths,
    epoch_batches,
    has_single_root,
    learn_columns,
    learn_relations,
    make_examples,
    relation_mask,
    training_trees,
)

EPOCHS, SMALL_TREEBANK_EPOCHS = 10, 30


@dataclass(frozen=True)
class TrainingData:
    """What the training loop iterates over."""

    examples: list[Example]
    dev: Sequence[Sentence]
    epochs: int
    fingerprint: str
    """Of data and configuration: a checkpoint can only be resumed with the same ones."""


@dataclass(frozen=True)
class Distillation:
    """What a student learns from besides the treebank."""

    teacher: Teacher
    parsed: Sequence[Sentence] = ()
    """Sentences of raw text that the teacher parsed"""
    progress: Progress = lambda *_: None
    """Receives how many of how many words the teacher has scored"""


def prepare(
    configuration: Configuration,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    files: Sequence[Path] = (),
    distillation: Distillation | None = None,
) -> tuple[TrainedModel, TrainingData]:
    """Build vocabularies, network and examples; the initial weights depend only on the seed.

    Labels and rules are those of the treebank, words those of all sentences.
    """
    if not train:
        raise LongarcError("the training file has no sentences")
    check_lengths(train)
    trees = training_trees(configuration, train)
    relations = learn_relations(trees)
    # A student of another treebank than its teachers' may not know all of their relations.
    parsed = [
        sentence
        for sentence in (distillation.parsed if distillation else ())
        if set(sentence.node_relations[1:]) <= set(relations.names)
    ]
    encoder = ENCODERS[configuration.encoder]
    configuration, features, pretrained = encoder.build(configuration, [*train, *parsed], dev, files)
    description = Description(
        system=configuration.system,
        scheme=configuration.projectivization,
        single_root=has_single_root(configuration, train),
        features=features,
        columns=learn_columns(configuration, train),
        relations=relations,
        arc_score=configuration.arc_score,
        crossing_cost=0.0 if configuration.crossing_cost == "auto" else configuration.crossing_cost,
    )
    Description.from_json(description.as_json(), "the training data")  # what a model file could not contain
    examples = make_examples(description, [*train, *parsed], [*trees, *training_trees(configuration, parsed)])
    if distillation is not None:
        examples = _with_soft_targets(description, examples, distillation)
    torch.manual_seed(configuration.seed)
    network = Network(configuration, description)
    network.encoder.initialise(pretrained, configuration.seed)
    data = TrainingData(
        examples,
        dev,
        _count_epochs(configuration, [*train, *parsed]),
        _fingerprint(configuration, train, dev, pretrained, distillation),
    )
    profile = LanguageProfile.learn(sentence.text for sentence in train)
    mask = relation_mask(trees, description.relations)
    return TrainedModel(configuration, description, mask, network, profile), data


def _count_epochs(configuration: Configuration, train: Sequence[Sentence]) -> int:
    """Return the number of epochs: as configured, but enough for `min_updates`."""
    is_small = sum(map(len, train)) < configuration.small_treebank
    epochs = configuration.epochs or (SMALL_TREEBANK_EPOCHS if is_small else EPOCHS)
    nodes = np.array([len(sentence) + 1 for sentence in train])
    updates = len(epoch_batches(nodes, configuration, 1))  # the same in every epoch
    return max(epochs, math.ceil(configuration.min_updates / updates))


def _with_soft_targets(
    description: Description, examples: Sequence[Example], distillation: Distillation
) -> list[Example]:
    forms, heads = [example.forms for example in examples], [example.heads for example in examples]
    targets = distillation.teacher.targets(description, forms, heads, distillation.progress)
    return [replace(example, soft=target) for example, target in zip(examples, targets, strict=True)]


def _fingerprint(
    configuration: Configuration,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    pretrained: Pretrained,
    distillation: Distillation | None,
) -> str:
    digest = hashlib.sha256(json.dumps(configuration.as_dict(), sort_keys=True).encode())
    for sentences in (train, dev, *([distillation.parsed] if distillation else [])):
        digest.update(str(len(sentences)).encode())
        for sentence in sentences:
            digest.update(sentence.to_conll().encode())
    digest.update(pretrained.digest())
    if distillation is not None:
        digest.update(distillation.teacher.digest())
    return digest.hexdigest()
