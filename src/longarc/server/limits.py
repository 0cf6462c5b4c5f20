"""What a server takes upon itself, at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Requests beyond these get 413 (size), 429 (queue) or 503 (time)."""

    request_bytes: int = 4 << 20
    sentence_words: int = 1_000
    drawn_words: int = 300
    """Words of the longest sentence that is drawn: drawing takes quadratic time."""
    step_words: int = 100
    """Words of the longest sentence whose steps are told: Covington takes a quadratic number of them."""
    queue_words: int = 200_000
    """Words that may wait for the parser; a request that comes to an empty queue is taken whatever its size."""
    seconds: float = 60.0
    gather_seconds: float = 0.003
    """How long a request waits for company when the parser is idle; ten times that at most while more keep coming."""
