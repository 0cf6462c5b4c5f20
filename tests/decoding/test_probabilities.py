"""Probabilities of predicted arcs."""

from __future__ import annotations

import numpy as np
import pytest

from longarc.decoding.greedy import parse_greedily
from longarc.transitions import SYSTEMS
from tests.helpers.scores import score_table, width


def test_probabilities_are_those_of_the_softmax() -> None:
    system = SYSTEMS["nl-covington"]
    flat = np.zeros((1, width(system.name, 2)))
    flat[0, 1] = 3.0  # the arc from the root to word 1 ...
    scores = score_table(system.name, flat)
    found = parse_greedily(system, np.array([1]), scores, scores)
    assert found.probabilities is not None
    assert found.probabilities[0, 1] == pytest.approx(np.exp(3) / (np.exp(3) + 1))  # ... against Shift
