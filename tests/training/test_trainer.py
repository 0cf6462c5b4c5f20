"""Learning-rate schedules, and when a training is scored."""

from __future__ import annotations

from itertools import pairwise

import pytest

from longarc.training.trainer import MOST_SCORINGS, is_scored, learning_rate
from tests.helpers.prepared_training import SMALL


def test_the_learning_rate_follows_the_paper() -> None:
    ten = [learning_rate(SMALL, epoch / 10) / SMALL.learning_rate for epoch in range(10)]
    assert ten == [1, 1, 1, 1, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125]
    thirty = [learning_rate(SMALL, epoch / 30) / SMALL.learning_rate for epoch in range(30)]
    assert thirty == [factor for factor in ten for _ in range(3)]


def test_the_learning_rate_can_follow_a_cosine() -> None:
    configuration = SMALL.updated({"schedule": "cosine"}, "test")
    rates = [learning_rate(configuration, done / 100) / SMALL.learning_rate for done in range(101)]
    assert 0 < rates[0] < 0.1 and max(rates) > 0.99 and rates[-1] < 1e-9
    assert rates[5:] == sorted(rates[5:], reverse=True)


@pytest.mark.parametrize("epochs", [1, 2, 29, 30, 31, 46, 107, 1000])
def test_a_training_is_scored_regularly_and_at_its_end(epochs: int) -> None:
    scored = [epoch for epoch in range(1, epochs + 1) if is_scored(epoch, epochs)]
    assert len(scored) == min(epochs, MOST_SCORINGS)
    assert scored[-1] == epochs
    gaps = {after - before for before, after in pairwise([0, *scored])}
    assert max(gaps) - min(gaps) <= 1
