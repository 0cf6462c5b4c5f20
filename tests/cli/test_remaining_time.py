"""Estimates of the remaining time of a training."""

from __future__ import annotations

import pytest

from longarc.cli.remaining_time import TrainingTime, format_duration
from tests.helpers.clock import Clock


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (3000, "50 min"), (12_000, "3 h 20 min"), (190_800, "2 d 5 h")],
)
def test_durations_have_one_or_two_units(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_the_remaining_time_counts_tokens_and_the_scoring_of_every_epoch() -> None:
    clock = Clock()
    time = TrainingTime(clock)
    time.epoch_begins(1, 3, 1000, 0)
    clock.now += 9
    time.batch_done(90)
    assert time.seconds_left is None, "the warm-up is not over"
    clock.now += 1
    time.batch_done(10)
    assert time.seconds_left == pytest.approx(290), "2,900 tokens at 10 tokens/s"
    clock.now += 90
    time.batch_done(900)
    clock.now += 25
    time.epoch_done()
    assert time.seconds_left == pytest.approx(2 * (100 + 25))
    time.epoch_begins(2, 3, 1000, 0)
    clock.now += 50
    time.batch_done(500)
    assert time.seconds_left == pytest.approx(50 + 25 + 100 + 25)


def test_epochs_before_an_interruption_are_not_measured() -> None:
    clock = Clock()
    time = TrainingTime(clock)
    clock.now += 1000
    time.epoch_done()
    time.epoch_begins(2, 2, 1000, 400)
    clock.now += 10
    time.batch_done(100)
    assert time.seconds_left == pytest.approx(50)
