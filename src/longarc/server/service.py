"""What all routes use: the models, the queue to the parser, and threads for what cannot be batched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
import anyio.to_thread

from longarc.data.sentence import Sentence
from longarc.runtime.parsed import ParsedSentence
from longarc.runtime.parser import Parser
from longarc.server.batching import Batcher, Kind
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem
from longarc.server.read_input import check_lengths
from longarc.server.served_models import Models

T = TypeVar("T")

LARGE = 30_000
AT_ONCE = 4
MOST_WAITING = 256


@dataclass
class Service:
    """One server's models and limits, and the work that goes on."""

    models: Models
    limits: Limits
    metrics: Metrics
    batcher: Batcher
    _places: anyio.CapacityLimiter | None = None
    _waiting: int = field(default=0)

    async def run_in_thread(self, work: Callable[[], T], size: int = LARGE) -> T:
        """Does work that would keep everyone else waiting in a thread: reading, drawing, stepping.

        `size`: of what is read or written, in characters; little is done on the spot, since going to a thread and back
        takes longer than the work.
        """
        if size < LARGE:
            return work()
        if self._places is None:
            self._places = anyio.CapacityLimiter(AT_ONCE)
        if self._waiting >= MOST_WAITING:
            raise Problem(429, "too many requests are waiting", "Try again in a moment.")
        self._waiting += 1
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._places)
        finally:
            self._waiting -= 1

    async def parse(
        self, model: str, parser: Parser, sentences: list[Sentence], *, keep_tags: bool, probabilities: bool
    ) -> list[ParsedSentence]:
        """Parses sentences together with those of other clients; their columns are filled in place."""
        check_lengths(sentences, self.limits)
        if not sentences:
            return []
        job = self.batcher.submit(Kind(model, keep_tags, probabilities), parser, sentences)
        try:
            return await asyncio.wrap_future(job.result)
        finally:
            job.abandoned = True
