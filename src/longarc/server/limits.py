"""Server limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Requests beyond these limits get status 413 (size), 429 (queue) or 503 (time)."""

    request_bytes: int = 4 << 20
    sentence_words: int = 1_000
    drawn_words: int = 300
    """Longest sentence to draw: drawing takes quadratic time."""
    step_words: int = 100
    """Longest sentence to step through: Covington needs a quadratic number of steps."""
    queue_words: int = 200_000
    """Words that may wait for the parser; an empty queue accepts a request of any size."""
    seconds: float = 60.0
    gather_seconds: float = 0.003
    """How long an idle parser waits for more requests to batch; ten times that at most while more keep arriving."""
