"""A clock that a test sets."""

from __future__ import annotations


class Clock:
    """Call it to read the time."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now
