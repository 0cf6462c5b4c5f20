"""The number of epochs, and the trees that are learned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longarc import read_all
from longarc.training.prepare import prepare
from longarc.training.training_data import epoch_batches, training_trees
from longarc.trees.structure import is_projective
from tests.helpers.prepared_training import SMALL
from tests.helpers.toy_treebank import write_toy_treebank


@pytest.mark.parametrize(
    ("changes", "epochs"),
    [
        ({"epochs": 3}, 3),
        ({"epochs": 3, "min_updates": 30}, 3),  # ten updates per epoch
        ({"epochs": 3, "min_updates": 31}, 4),
        ({"epochs": 3, "min_updates": 500}, 50),
        ({"min_updates": 500}, 50),
        ({}, 30),
    ],
)
def test_there_are_enough_epochs_for_the_least_number_of_updates(
    tmp_path: Path, changes: dict[str, int], epochs: int
) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 40))
    model, data = prepare(SMALL.updated({"batch_sentences": 4, **changes}, "test"), sentences, [])
    assert data.epochs == epochs
    nodes = np.array([len(example) for example in data.examples])
    assert {len(epoch_batches(nodes, model.configuration, epoch)) for epoch in range(1, 6)} == {10}


def test_arcs_can_be_lifted_without_a_trace(tmp_path: Path) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 60))
    assert not all(is_projective(sentence.node_heads) for sentence in sentences)
    trees = training_trees(SMALL.updated({"system": "arc-swift", "projectivization": "none"}, "test"), sentences)
    marked = training_trees(SMALL.updated({"system": "arc-swift"}, "test"), sentences)
    for sentence, (heads, relations), (lifted, _) in zip(sentences, trees, marked, strict=True):
        assert is_projective(heads) and heads.tolist() == lifted.tolist()
        assert relations == sentence.node_relations
