"""Server limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Requests beyond these limits get status 408 (idle), 413 or 431 (size), 429 (queue) or 503 (time, connections)."""

    request_bytes: int = 4 << 20
    active_bytes: int = 64 << 20
    """Bytes of the requests that are being answered, altogether"""
    sentence_words: int = 1_000
    drawn_words: int = 300
    """Longest sentence to draw: drawing takes quadratic time."""
    drawn_characters: int = 20_000
    """Characters in the columns of a sentence to draw: a text tree is as wide as all of them on every line."""
    step_words: int = 100
    """Longest sentence to step through: Covington needs a quadratic number of steps."""
    queue_words: int = 200_000
    """Words that may wait for the parser; an empty queue accepts a request of any size."""
    seconds: float = 60.0
    idle_seconds: float = 20.0
    """How long a client may pause while it sends a request"""
    head_seconds: float = 10.0
    """How long a client may take to send the request line and headers"""
    head_bytes: int = 64 << 10
    """Size of the request line and headers"""
    connections: int = 512
    client_connections: int = 256
    """Connections from one address"""
    shutdown_seconds: float = 6.0
    """Time for the requests that were accepted before a shutdown; those still running after it get status 503"""
    gather_seconds: float = 0.003
    """How long an idle parser waits for more requests to batch; ten times that at most while more keep arriving."""
