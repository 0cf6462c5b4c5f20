"""One parser for many clients: their sentences wait in one place, and each thread takes those that go well together.

A batch begins with the next sentence of the request whose turn it is, so that a sentence does not wait for someone
else's book, and is filled with the waiting sentences, of whatever request, that are nearest to it in length: the
parser is fastest with sentences of one length. The queue is bounded, a request that nobody waits for any more is
dropped, and closing finishes what was accepted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

from longarc.cores import available_cores
from longarc.data.sentence import Sentence
from longarc.runtime.parsed import ParsedSentence
from longarc.runtime.parser import Parser
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem

BATCH_WORDS = 600
"""Words in a batch, unless one sentence has more."""
ENOUGH_WORDS = 2_000
"""Words that are not kept waiting for more."""
MOST_MOMENTS = 10


class Kind(NamedTuple):
    """What sentences must have in common to be parsed together."""

    model: str
    keep_tags: bool
    probabilities: bool


@dataclass
class Job:
    """A request on its way."""

    kind: Kind
    parser: Parser
    sentences: Sequence[Sentence]
    done: list[ParsedSentence | None]
    """The sentences that are parsed, in their places"""
    left: int
    """How many are not"""
    taken: list[bool]
    """Which are parsed or being parsed"""
    next: int = 0
    """All before this one are taken"""
    result: Future[list[ParsedSentence]] = field(default_factory=Future)
    abandoned: bool = False
    """Whether the client has stopped waiting"""

    def is_over(self) -> bool:
        """Whether nothing more needs to be done for it."""
        return self.abandoned or self.result.done()


Place = tuple[Job, int]
"""A sentence of a job."""


class Batcher:
    """The sentences that wait, and the threads that parse them."""

    def __init__(self, limits: Limits, metrics: Metrics, threads: int | None = None) -> None:
        self._limits = limits
        self._metrics = metrics
        self._turns: deque[Job] = deque()
        """Jobs that have sentences which nobody has taken; the next to begin a batch comes first"""
        self._waiting: dict[Kind, dict[int, deque[Place]]] = {}
        """All such sentences by kind and length; some may have been taken since"""
        self._words = 0
        self._changed = threading.Condition()
        self._closing = False
        self._workers = [
            threading.Thread(target=self._work, name=f"longarc-batches-{number}", daemon=True)
            for number in range(threads or available_cores())
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
        count = len(sentences)
        job = Job(kind, parser, sentences, [None] * count, count, [False] * count)
        job.result.set_running_or_notify_cancel()  # it cannot be cancelled in the midst of a batch, but abandoned
        words = sum(map(len, sentences))
        with self._changed:
            if self._closing:
                raise Problem(503, "the server is shutting down")
            if self._turns and self._words + words > self._limits.queue_words:
                raise Problem(429, "too much is waiting to be parsed", "Try again in a moment.")
            by_length = self._waiting.setdefault(kind, {})
            for index, sentence in enumerate(sentences):
                by_length.setdefault(len(sentence), deque()).append((job, index))
            self._turns.append(job)
            self._count(words)
            self._changed.notify_all()
        return job

    def _count(self, words: int) -> None:
        self._words += words
        self._metrics.queue_words.set(self._words)
        self._metrics.queue_requests.set(len(self._turns))

    def _work(self) -> None:
        while batch := self._next_batch():
            self._parse(batch)

    def _next_batch(self) -> list[Place]:
        """Waits for work and takes a batch of it; nothing when all is done and the server closes."""
        with self._changed:
            while True:
                if self._turns and (batch := self._take()):
                    return batch
                if self._closing and not self._turns:
                    return []
                if not self._turns:
                    self._changed.wait_for(lambda: self._turns or self._closing)
                    self._gather()

    def _gather(self) -> None:
        """Waits for company as long as more keep coming, for some moments at most, unless there is plenty already."""
        latest = time.monotonic() + MOST_MOMENTS * self._limits.gather_seconds
        known = 0
        while known < len(self._turns) and not self._closing and time.monotonic() < latest:
            if self._words >= ENOUGH_WORDS:
                return
            known = len(self._turns)
            until = time.monotonic() + self._limits.gather_seconds
            while (left := min(until, latest) - time.monotonic()) > 0 and not self._closing:
                self._changed.wait(left)

    def _take(self) -> list[Place]:
        """The next sentence of the job whose turn it is, and those that go well with it."""
        job = self._turns.popleft()
        if job.is_over():
            self._drop(job)
            return []
        first = job.next
        batch: list[Place] = []
        self._add(batch, job, first)
        length = words = len(job.sentences[first])
        by_length = self._waiting[job.kind]
        for near in sorted(by_length, key=lambda other: (abs(other - length), other)):
            if abs(near - length) > 2 + length // 2:
                break
            while by_length[near] and words + near <= BATCH_WORDS:
                other, index = by_length[near].popleft()
                if not other.taken[index] and not other.is_over():
                    self._add(batch, other, index)
                    words += near
            if not by_length[near]:
                del by_length[near]
        if job.next < len(job.sentences):
            self._turns.append(job)
        self._turns = deque(waiting for waiting in self._turns if waiting.next < len(waiting.sentences))
        self._count(-words)
        return batch

    def _add(self, batch: list[Place], job: Job, index: int) -> None:
        job.taken[index] = True
        while job.next < len(job.taken) and job.taken[job.next]:
            job.next += 1
        batch.append((job, index))

    def _drop(self, job: Job) -> None:
        """Forgets a job that is over; its places are passed over when they are met."""
        self._count(-sum(len(sentence) for sentence, taken in zip(job.sentences, job.taken, strict=True) if not taken))
        job.taken = [True] * len(job.taken)

    def _parse(self, batch: list[Place]) -> None:
        """Parses a batch. If that fails, each request's part is tried alone, so that one cannot spoil another's."""
        kind, parser = batch[0][0].kind, batch[0][0].parser
        sentences = [job.sentences[index] for job, index in batch]
        jobs = {id(job): job for job, _ in batch}
        try:
            parsed = parser.parse_batch(sentences, keep_tags=kind.keep_tags, probabilities=kind.probabilities)
        except Exception as error:  # whatever it is, someone waits for an answer
            if len(jobs) == 1:
                with self._changed:
                    if not batch[0][0].result.done():
                        batch[0][0].result.set_exception(error)
                return
            for own in jobs:
                self._parse([place for place in batch if id(place[0]) == own])
            return
        self._metrics.batch_requests.observe(len(jobs))
        self._metrics.batch_sentences.observe(len(batch))
        self._metrics.sentences.labels(kind.model).inc(len(batch))
        self._metrics.words.labels(kind.model).inc(sum(map(len, sentences)))
        finished = []
        with self._changed:
            for (job, index), sentence in zip(batch, parsed, strict=True):
                job.done[index] = sentence
                job.left -= 1
                if job.left == 0 and not job.result.done():
                    finished.append(job)
        for job in finished:
            job.result.set_result([sentence for sentence in job.done if sentence is not None])
