"""The requests that are being answered, so that a shutdown can wait for them and then end them."""

from __future__ import annotations

import asyncio
import random
import re

import anyio
from starlette.types import Receive

from longarc.server.problem import Problem

UPLOAD_SECONDS = 1.0
"""Time for requests that are still being sent when the server shuts down."""


_VALID_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)


class ActiveRequest:
    """One request. `requested_id` is the id that the client chose, if any."""

    def __init__(self, requested_id: str = "") -> None:
        self.id = requested_id if _VALID_ID.fullmatch(requested_id) else f"{random.getrandbits(64):016x}"
        self.scope = anyio.CancelScope()
        self.bytes = 0
        """Bytes of the body that have been received"""
        self.is_complete = False
        """Whether its body has been received"""
        self.disconnected = False
        self.problem: Problem | None = None
        """Why it was cancelled"""
        self._watcher: asyncio.Task[None] | None = None

    def cancel(self, problem: Problem) -> None:
        """Stop working on the request and answer with `problem`."""
        self.problem = problem
        self.scope.cancel()

    def disconnect(self) -> None:
        """Stop working on the request: nobody waits for the response."""
        self.disconnected = True
        self.scope.cancel()

    def watch(self, receive: Receive) -> None:
        """After the last part of the body, notice when the client disconnects."""

        async def wait_for_disconnect() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            self.disconnect()

        self._watcher = asyncio.create_task(wait_for_disconnect())

    def stop_watching(self) -> None:
        """End the task of `watch`."""
        if self._watcher is not None:
            self._watcher.cancel()


class ActiveRequests(set[ActiveRequest]):
    """All requests that are being answered."""

    bytes = 0
    """Bytes of their bodies"""

    def shut_down(self, seconds: float) -> None:
        """Cancel requests that are not complete after a second, and all others after `seconds`."""
        loop = asyncio.get_running_loop()
        loop.call_later(min(UPLOAD_SECONDS, seconds), self._cancel, True)
        loop.call_later(seconds, self._cancel, False)

    def _cancel(self, only_incomplete: bool) -> None:
        for request in list(self):
            if not (only_incomplete and request.is_complete):
                request.cancel(Problem(503, "the server is shutting down"))
