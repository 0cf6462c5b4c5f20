"""Blocking work (reading, drawing, stepping) in threads that stop when their request is over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from longarc.server.problem import Problem

T = TypeVar("T")

MAX_THREADS = 4
MAX_WAITING = 256
STUCK_SECONDS = 5.0
"""A cancelled thread that is still running after this time no longer counts towards MAX_THREADS."""
MAX_STUCK = 8
"""Threads that may be in this state: if more are stuck, other work has to wait for them."""


class CancelledWorkError(Exception):
    """Ends work whose request is over; nobody waits for its result."""


class Cancellation:
    """Whether work has to stop. Work checks this between steps that take a fraction of a second."""

    def __init__(self) -> None:
        self.requested = False

    def check(self) -> None:
        """Raise CancelledWorkError if the work has to stop."""
        if self.requested:
            raise CancelledWorkError

    def watch(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, with a check before each."""
        for item in items:
            self.check()
            yield item


Work = Callable[[Cancellation], T]
"""A function that calls `check` or `watch` in its loops."""


class WorkerThreads:
    """Runs work in MAX_THREADS threads. They are daemons, so that none can delay the end of the process."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_THREADS)
        self._waiting = 0
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = self._idle = self._stuck = 0

    async def run(self, work: Work[T]) -> T:
        """Return the result of `work`; if the calling task is cancelled, cancel the work too."""
        if self._waiting >= MAX_WAITING:
            raise Problem(429, "too many requests are waiting", "Try again in a moment.")
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        cancellation = Cancellation()
        result: Future[T] = Future()
        result.set_running_or_notify_cancel()
        slot = _Slot(self._slots)
        result.add_done_callback(partial(self._finish, asyncio.get_running_loop(), slot))
        self._start(partial(_complete, work, cancellation, result))
        try:
            return await asyncio.wrap_future(result)
        finally:
            if not result.done():
                cancellation.requested = True
                asyncio.get_running_loop().call_later(STUCK_SECONDS, self._give_up, slot)

    def close(self) -> None:
        """End the threads; work that is running is not waited for."""
        for _ in range(self._threads):
            self._tasks.put(None)

    def _start(self, task: Callable[[], None]) -> None:
        """Give a task to an idle thread; start another thread if there is none, because all others are stuck."""
        if self._idle:
            self._idle -= 1
        else:
            self._threads += 1
            threading.Thread(target=self._work, name="longarc-work", daemon=True).start()
        self._tasks.put(task)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()

    def _give_up(self, slot: _Slot) -> None:
        """Let other work run beside a thread that does not stop."""
        if slot.is_held and self._stuck < MAX_STUCK:
            self._stuck += 1
            slot.release()

    def _finish(self, loop: asyncio.AbstractEventLoop, slot: _Slot, _: object) -> None:
        def finish() -> None:
            self._idle += 1
            if slot.is_held:
                slot.release()
            else:
                self._stuck -= 1

        if not loop.is_closed():
            loop.call_soon_threadsafe(finish)


class _Slot:
    """The right of one thread to run; given back once."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self.is_held = True

    def release(self) -> None:
        self.is_held = False
        self._slots.release()


def _complete(work: Work[T], cancellation: Cancellation, result: Future[T]) -> None:
    try:
        result.set_result(work(cancellation))
    except BaseException as error:  # any error must reach the request
        result.set_exception(error)
