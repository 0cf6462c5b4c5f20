"""What all routes share: the models, the parser's queue, and threads for work that cannot be batched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.to_thread

from longarc.data.sentence import Sentence
from longarc.runtime.parsed import ParsedSentence
from longarc.runtime.parser import Parser
from longarc.server.batching import Batcher, BatchKey
from longarc.server.limits import Limits
from longarc.server.problem import Problem
from longarc.server.read_input import check_lengths
from longarc.server.served_models import ServedModels

T = TypeVar("T")

LARGE = 30_000
"""Characters from which work moves to a thread."""
MAX_THREADS = 4
MAX_WAITING = 256


@dataclass
class Service:
    """The models and limits of one server, and the work in progress."""

    models: ServedModels
    limits: Limits
    batcher: Batcher
    _threads: anyio.CapacityLimiter | None = None
    _waiting: int = 0

    async def run_in_thread(self, work: Callable[[], T], size: int = LARGE) -> T:
        """Run blocking work (reading, drawing, stepping) in a thread.

        `size`: characters read or written. Small work runs at once, since switching threads would take longer.
        """
        if size < LARGE:
            return work()
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(MAX_THREADS)
        if self._waiting >= MAX_WAITING:
            raise Problem(429, "too many requests are waiting", "Try again in a moment.")
        self._waiting += 1
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)
        finally:
            self._waiting -= 1

    async def parse(
        self, model: str, parser: Parser, sentences: list[Sentence], *, keep_tags: bool, probabilities: bool
    ) -> list[ParsedSentence]:
        """Parse sentences in batches shared with other clients; fill their columns in place."""
        check_lengths(sentences, self.limits)
        if not sentences:
            return []
        job = self.batcher.submit(BatchKey(model, keep_tags, probabilities), parser, sentences)
        try:
            return await asyncio.wrap_future(job.result)
        finally:
            job.abandoned = True
