"""Batches sentences of many clients for one parser.

Requests take turns to start a batch, so that a large request cannot block a small one. A worker thread fills the batch
with the waiting sentences, of any request, that are nearest in length: the parser is fastest on large batches of
sentences of equal length. The queue is bounded, abandoned requests are dropped, and closing finishes all accepted
requests.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

from longarc.cores import available_cores
from longarc.data.sentence import Sentence
from longarc.runtime.parser import BATCH_WORDS, Parser
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem

ENOUGH_WORDS = 2_000
"""With this many words in the queue, do not wait for more."""
MAX_GATHER_PERIODS = 10
MAX_PAIRS = 400_000
"""Pairs of words in a batch, padding included: a long sentence among many short ones would take much memory."""


class BatchKey(NamedTuple):
    """The model and options; only sentences that agree in them can share a batch."""

    model: str
    keep_tags: bool
    probabilities: bool


@dataclass(eq=False)
class Job:
    """The sentences of one request."""

    key: BatchKey
    parser: Parser
    sentences: Sequence[Sentence]
    parsed: list[Sentence | None]
    """The parsed sentences; None for those not parsed yet"""
    unparsed: int
    """How many sentences are not parsed yet"""
    taken: list[bool]
    """Whether each sentence is parsed or being parsed"""
    next: int = 0
    """The first sentence that is not taken"""
    result: Future[list[Sentence]] = field(default_factory=Future)
    abandoned: bool = False
    """Whether the client has stopped waiting"""

    def is_over(self) -> bool:
        """Return whether the job needs no more work."""
        return self.abandoned or self.result.done()


QueuedSentence = tuple[Job, int]
"""A job and the index of one of its sentences."""


class Batcher:
    """The queue of sentences, and the threads that parse them."""

    def __init__(self, limits: Limits, metrics: Metrics, threads: int | None = None) -> None:
        self._limits = limits
        self._metrics = metrics
        self._turns: deque[Job] = deque()
        """Jobs with sentences that are not taken; the first job starts the next batch"""
        self._waiting: dict[BatchKey, dict[int, OrderedDict[QueuedSentence, None]]] = {}
        """The sentences of these jobs that are not taken, by key and length"""
        self._words = 0
        self._changed = threading.Condition()
        self._closing = False
        self._workers = [
            threading.Thread(target=self._work, name=f"longarc-batches-{number}", daemon=True)
            for number in range(threads or available_cores())
        ]

    def start(self) -> None:
        """Start the worker threads."""
        for worker in self._workers:
            worker.start()

    def close(self, seconds: float) -> None:
        """Finish all accepted jobs and stop the threads; give up on a thread that is not done after some seconds."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        latest = time.monotonic() + seconds
        for worker in self._workers:
            worker.join(max(0.0, latest - time.monotonic()))

    def submit(self, key: BatchKey, parser: Parser, sentences: Sequence[Sentence]) -> Job:
        """Queue sentences, whose columns will be filled in place; raise Problem 429 if the queue is full."""
        count = len(sentences)
        job = Job(key, parser, sentences, [None] * count, count, [False] * count)
        job.result.set_running_or_notify_cancel()  # a running batch cannot be cancelled; see `abandoned`
        words = sum(map(len, sentences))
        with self._changed:
            if self._closing:
                raise Problem(503, "the server is shutting down")
            if self._turns and self._words + words > self._limits.queue_words:
                raise Problem(429, "the queue is full", "Try again in a moment.")
            by_length = self._waiting.setdefault(key, {})
            for index, sentence in enumerate(sentences):
                by_length.setdefault(len(sentence), OrderedDict())[job, index] = None
            self._turns.append(job)
            self._count(words)
            self._changed.notify_all()
        return job

    def abandon(self, job: Job) -> None:
        """Forget the sentences of a job that nobody waits for; a batch that is being parsed is finished."""
        job.abandoned = True
        if job.unparsed == 0:
            return
        with self._changed:
            if job in self._turns:
                self._turns.remove(job)
            self._drop(job)
            self._changed.notify_all()

    def _count(self, words: int) -> None:
        self._words += words
        self._metrics.queue_words.set(self._words)
        self._metrics.queue_requests.set(len(self._turns))

    def _work(self) -> None:
        while batch := self._next_batch():
            self._parse(batch)

    def _next_batch(self) -> list[QueuedSentence]:
        """Wait for a batch; return an empty one when the server is closing and the queue is empty."""
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
        """Delay briefly so that requests can be batched, longer while more keep arriving."""
        latest = time.monotonic() + MAX_GATHER_PERIODS * self._limits.gather_seconds
        known = 0
        while known < len(self._turns) and not self._closing and time.monotonic() < latest:
            if self._words >= ENOUGH_WORDS:
                return
            known = len(self._turns)
            until = time.monotonic() + self._limits.gather_seconds
            while (left := min(until, latest) - time.monotonic()) > 0 and not self._closing:
                self._changed.wait(left)

    def _take(self) -> list[QueuedSentence]:
        """Take the next sentence of the first job, and waiting sentences of similar length."""
        job = self._turns.popleft()
        if job.is_over():
            self._drop(job)
            return []
        length = words = longest = len(job.sentences[job.next])
        batch: list[QueuedSentence] = []
        self._add(batch, job, job.next)
        by_length = self._waiting.get(job.key, {})
        for near in sorted(by_length, key=lambda other: (abs(other - length), other)):
            longest = max(longest, near)
            while near in by_length and words + near <= BATCH_WORDS and (len(batch) + 1) * longest**2 <= MAX_PAIRS:
                other, index = next(iter(by_length[near]))
                if other.is_over():
                    self._drop(other)
                else:
                    self._add(batch, other, index)
                    words += near
        if job.next < len(job.sentences):
            self._turns.append(job)
        self._turns = deque(waiting for waiting in self._turns if waiting.next < len(waiting.sentences))
        self._count(-words)
        return batch

    def _add(self, batch: list[QueuedSentence], job: Job, index: int) -> None:
        self._forget(job, index)
        while job.next < len(job.taken) and job.taken[job.next]:
            job.next += 1
        batch.append((job, index))

    def _forget(self, job: Job, index: int) -> None:
        """Mark a sentence as taken and remove it from the waiting ones."""
        job.taken[index] = True
        by_length = self._waiting[job.key]
        length = len(job.sentences[index])
        del by_length[length][job, index]
        if not by_length[length]:
            del by_length[length]
        if not by_length:
            del self._waiting[job.key]

    def _drop(self, job: Job) -> None:
        """Remove the waiting sentences of a job that is over."""
        waiting = [index for index, taken in enumerate(job.taken) if not taken]
        for index in waiting:
            self._forget(job, index)
        job.next = len(job.sentences)
        self._count(-sum(len(job.sentences[index]) for index in waiting))

    def _parse(self, batch: list[QueuedSentence]) -> None:
        """Parse a batch. If that fails, parse each request's sentences alone, so that only the faulty one fails."""
        key, parser = batch[0][0].key, batch[0][0].parser
        sentences = [job.sentences[index] for job, index in batch]
        jobs = {id(job): job for job, _ in batch}
        try:
            parsed = parser.parse_batch(sentences, keep_tags=key.keep_tags, probabilities=key.probabilities)
        except Exception as error:  # any error must reach the client that waits for the result
            if len(jobs) == 1:
                with self._changed:
                    if not batch[0][0].result.done():
                        batch[0][0].result.set_exception(error)
                return
            for job in jobs.values():
                self._parse([queued for queued in batch if queued[0] is job])
            return
        self._metrics.batch_requests.observe(len(jobs))
        self._metrics.batch_sentences.observe(len(batch))
        self._metrics.sentences.labels(key.model).inc(len(batch))
        self._metrics.words.labels(key.model).inc(sum(map(len, sentences)))
        finished = []
        with self._changed:
            for (job, index), sentence in zip(batch, parsed, strict=True):
                job.parsed[index] = sentence
                job.unparsed -= 1
                if job.unparsed == 0 and not job.result.done():
                    finished.append(job)
        for job in finished:
            job.result.set_result([sentence for sentence in job.parsed if sentence is not None])
