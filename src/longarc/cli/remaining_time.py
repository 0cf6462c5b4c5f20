"""Estimate the remaining time of a training from what it has done so far, and write durations in words."""

from __future__ import annotations

import time
from collections.abc import Callable

WARM_UP_SECONDS = 10.0
"""Measured training time before the first estimate."""
DAY, HOUR, MINUTE = 86_400, 3_600, 60


def format_duration(seconds: float) -> str:
    """Return a duration in its one or two largest units: `45 s`, `12 min`, `3 h 20 min`, `2 d 5 h`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / MINUTE)
    if minutes < 100:
        return f"{minutes} min"
    if seconds < 2 * DAY:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(seconds / HOUR)
    return f"{hours // 24} d {hours % 24} h"


class TrainingTime:
    """Measures the speed of a training and the time that each epoch needs besides, for scoring and saving."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._epochs = self._epoch = self._epoch_tokens = self._tokens_left = 0
        self._tokens = 0
        self._seconds = 0.0
        """Tokens and seconds of the batches that were measured"""
        self._scoring: list[float] = []
        """Seconds from the last batch of each epoch to the end of the epoch"""
        self._is_in_epoch = False
        self._last = clock()

    def epoch_begins(self, epoch: int, epochs: int, tokens: int, tokens_done: int) -> None:
        """Note where the training is; `tokens`: of an epoch; `tokens_done`: in this epoch, before an interruption."""
        self._epoch, self._epochs, self._epoch_tokens = epoch, epochs, tokens
        self._tokens_left = tokens - tokens_done
        self._is_in_epoch = True
        self._last = self._clock()

    def batch_done(self, tokens: int) -> None:
        now = self._clock()
        self._tokens += tokens
        self._tokens_left -= tokens
        self._seconds += now - self._last
        self._last = now

    def epoch_done(self) -> None:
        """Note the end of an epoch; ends of epochs before an interruption are ignored."""
        if self._is_in_epoch:
            self._scoring.append(self._clock() - self._last)
        self._is_in_epoch = False

    @property
    def is_measured(self) -> bool:
        """Whether enough was measured for an estimate: the warm-up, or an epoch."""
        return self._seconds > 0 and (self._seconds >= WARM_UP_SECONDS or not self._tokens_left)

    @property
    def speed(self) -> float:
        """Tokens per second."""
        return self._tokens / self._seconds if self._seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time until the last epoch ends, scoring included once it was measured; None during the warm-up."""
        if not self.is_measured:
            return None
        epochs_left = self._epochs - self._epoch
        tokens_left = self._tokens_left + epochs_left * self._epoch_tokens
        scorings_left = epochs_left + (1 if self._tokens_left else 0)
        scoring = sum(self._scoring) / len(self._scoring) if self._scoring else 0.0
        return tokens_left / self.speed + scorings_left * scoring

    @property
    def share_of_epoch(self) -> float:
        return 1 - self._tokens_left / self._epoch_tokens if self._epoch_tokens else 0.0
