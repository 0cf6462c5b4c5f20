"""What all routes share: the models, the parser's queue, and threads for work that cannot be batched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from longarc.data.sentence import Sentence
from longarc.runtime.parser import Parser
from longarc.server.batching import Batcher, BatchKey
from longarc.server.limits import Limits
from longarc.server.read_input import check_lengths
from longarc.server.served_models import ServedModels
from longarc.server.work import Cancellation, Work, WorkerThreads

T = TypeVar("T")

LARGE = 30_000
"""Characters from which work moves to a thread."""


@dataclass
class Service:
    """The models and limits of one server, and the work in progress."""

    models: ServedModels
    limits: Limits
    batcher: Batcher
    threads: WorkerThreads = field(default_factory=WorkerThreads)

    async def run_in_thread(self, work: Work[T], size: int = LARGE) -> T:
        """Run blocking work (reading, drawing, stepping) in a thread, and stop it when the request is over.

        `size`: characters read or written. Small work runs at once, since switching threads would take longer.
        """
        if size < LARGE:
            return work(Cancellation())
        return await self.threads.run(work)

    async def parse(
        self, model: str, parser: Parser, sentences: Sequence[Sentence], *, keep_tags: bool, probabilities: bool
    ) -> list[Sentence]:
        """Parse sentences in batches shared with other clients; fill their columns in place."""
        check_lengths(sentences, self.limits)
        if not sentences:
            return []
        job = self.batcher.submit(BatchKey(model, keep_tags, probabilities), parser, sentences)
        try:
            return await asyncio.wrap_future(job.result)
        finally:
            self.batcher.abandon(job)
