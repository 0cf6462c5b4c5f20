"""Learning-rate schedules."""

from __future__ import annotations

from longarc.training.trainer import learning_rate
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
