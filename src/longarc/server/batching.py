"""One parser for many clients: what they send is gathered for a moment and parsed together, in rounds.

In each round every waiting request gets a share, so that a sentence does not wait for someone else's book. Two threads
take rounds in turn, so that the cores have work while one of them is collecting or handing out. The queue is bounded, a
request that nobody waits for any more is dropped, and closing finishes what was accepted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

from longarc.data.sentence import Sentence
from longarc.runtime.parsed import ParsedSentence
from longarc.runtime.parser import Parser
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem

ROUND_WORDS = 16_000
"""Words parsed in a round: enough to keep all threads busy with full batches."""
LEAST_WORDS = 600
"""Words that are not worth being shared by two rounds."""
SHARE_WORDS = 4_000
"""Words of one request in a round, as long as others wait."""
ENOUGH_WORDS = 8_000
"""Words that are not kept waiting for more."""

WORKERS = 2
MOST_MOMENTS = 10


class Kind(NamedTuple):
    """What requests must have in common to be parsed together."""

    model: str
    keep_tags: bool
    probabilities: bool


@dataclass
class Job:
    """A request on its way through the rounds."""

    kind: Kind
    parser: Parser
    sentences: Sequence[Sentence]
    words: int
    """Words that are still to be parsed."""
    done: list[ParsedSentence] = field(default_factory=list)
    result: Future[list[ParsedSentence]] = field(default_factory=Future)
    abandoned: bool = False
    """Whether the client has stopped waiting."""

    def share(self, limit: int) -> list[Sentence]:
        """The next sentences, of about `limit` words."""
        taken: list[Sentence] = []
        words = 0
        for sentence in self.sentences[len(self.done) :]:
            taken.append(sentence)
            words += len(sentence)
            if words >= limit:
                break
        return taken


Share = tuple[Job, list[Sentence]]
"""The sentences of a job that take part in a round."""


class Batcher:
    """A queue and the threads that empty it."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self._limits = limits
        self._metrics = metrics
        self._jobs: deque[Job] = deque()
        self._words = 0
        self._changed = threading.Condition()
        self._closing = False
        self._idle = 0
        self._workers = [
            threading.Thread(target=self._work, name=f"longarc-rounds-{number}", daemon=True)
            for number in range(WORKERS)
        ]

    def start(self) -> None:
        for worker in self._workers:
            worker.start()

    def close(self) -> None:
        """Finishes what was accepted; returns when it is done."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()

    def submit(self, kind: Kind, parser: Parser, sentences: Sequence[Sentence]) -> Job:
        """Queues sentences, whose columns will be filled in place; Problem 429 if the queue is full."""
        job = Job(kind, parser, sentences, sum(map(len, sentences)))
        job.result.set_running_or_notify_cancel()  # it cannot be cancelled in the midst of a round, but abandoned
        with self._changed:
            if self._closing:
                raise Problem(503, "the server is shutting down")
            if self._jobs and self._words + job.words > self._limits.queue_words:
                raise Problem(429, "too much is waiting to be parsed", "Try again in a moment.")
            self._jobs.append(job)
            self._count(job.words)
            self._changed.notify_all()
        return job

    def _count(self, words: int) -> None:
        self._words += words
        self._metrics.queue_words.set(self._words)
        self._metrics.queue_requests.set(len(self._jobs))

    def _work(self) -> None:
        while shares := self._next_round():
            kinds: dict[Kind, list[Share]] = {}
            for job, sentences in shares:
                kinds.setdefault(job.kind, []).append((job, sentences))
            for together in kinds.values():
                self._parse(together)
            with self._changed:
                for job, sentences in shares:
                    job.words -= sum(map(len, sentences))
                    if not job.result.done():
                        self._jobs.append(job)
                    self._count(-sum(map(len, sentences)) - (job.words if job.result.done() else 0))

    def _next_round(self) -> list[Share]:
        """Waits for work and takes as much as a round holds; nothing when all is done and the server closes."""
        with self._changed:
            self._idle += 1
            taken: list[Share] = []
            while not taken and (self._jobs or not self._closing):
                if not self._jobs:
                    self._changed.wait_for(lambda: self._jobs or self._closing)
                    self._gather()
                taken = self._take()
            self._idle -= 1
            return taken

    def _gather(self) -> None:
        """Waits for company as long as more keep coming, for some moments at most, unless there is plenty already."""
        latest = time.monotonic() + MOST_MOMENTS * self._limits.gather_seconds
        known = 0
        while known < len(self._jobs) and not self._closing and time.monotonic() < latest:
            if sum(job.words for job in self._jobs) >= ENOUGH_WORDS:
                return
            known = len(self._jobs)
            until = time.monotonic() + self._limits.gather_seconds
            while (left := min(until, latest) - time.monotonic()) > 0 and not self._closing:
                self._changed.wait(left)

    def _take(self) -> list[Share]:
        """A share of each waiting job, as far as they fit into a round; what is there is divided among idle workers."""
        waiting = sum(job.words for job in self._jobs)
        most = min(ROUND_WORDS, max(LEAST_WORDS, waiting // self._idle))
        taken: list[Share] = []
        words = 0
        while self._jobs and words < most:
            job = self._jobs.popleft()
            if job.abandoned:
                self._count(-job.words)
                continue
            sentences = job.share(min(most, SHARE_WORDS) if self._jobs or taken else ROUND_WORDS)
            taken.append((job, sentences))
            words += sum(map(len, sentences))
        return taken

    def _parse(self, shares: list[Share]) -> None:
        """Parses shares of one kind. If that fails, each is tried alone, so that one request cannot spoil another's."""
        kind, parser = shares[0][0].kind, shares[0][0].parser
        everything = [sentence for _, sentences in shares for sentence in sentences]
        try:
            parsed = list(parser.stream(everything, keep_tags=kind.keep_tags, probabilities=kind.probabilities))
        except Exception as error:  # whatever it is, someone waits for an answer
            if len(shares) == 1:
                shares[0][0].result.set_exception(error)
                return
            for share in shares:
                self._parse([share])
            return
        self._metrics.batch_requests.observe(len(shares))
        self._metrics.batch_sentences.observe(len(everything))
        self._metrics.sentences.labels(kind.model).inc(len(everything))
        self._metrics.words.labels(kind.model).inc(sum(map(len, everything)))
        start = 0
        for job, sentences in shares:
            job.done += parsed[start : start + len(sentences)]
            start += len(sentences)
            if len(job.done) == len(job.sentences):
                job.result.set_result(job.done)
