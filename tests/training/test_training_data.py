"""Batches of training examples."""

from __future__ import annotations

import numpy as np

from longarc.training.training_data import epoch_batches
from tests.helpers.prepared_training import SMALL


def test_batches_of_an_epoch_hold_every_sentence_once_and_differ_between_epochs() -> None:
    nodes = np.random.default_rng(1).integers(2, 60, size=500)
    first, again, second = (epoch_batches(nodes, SMALL, epoch) for epoch in (1, 1, 2))
    assert sorted(np.concatenate(first).tolist()) == list(range(500))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert all(nodes[batch].max() - nodes[batch].min() <= 8 for batch in first)


def test_batches_can_be_of_so_many_words() -> None:
    nodes = np.random.default_rng(1).integers(2, 60, size=500)
    batches = epoch_batches(nodes, SMALL.updated({"batch_words": 200}, "test"), 1)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert max(len(batch) * (nodes[batch].max() - 1) for batch in batches) <= 200
    assert np.median([(nodes[batch] - 1).sum() for batch in batches]) > 150
