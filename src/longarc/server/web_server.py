"""Runs the application in uvicorn, on one socket, until it is told to stop."""

from __future__ import annotations

import contextlib
import gc
import math
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from longarc.server.connection import make_protocol
from longarc.server.limits import Limits
from longarc.server.process_memory import keep_memory_low

GC_THRESHOLD = 20_000
"""New objects between garbage collections: a request creates thousands of objects, but hardly any garbage."""


class WebServer(uvicorn.Server):
    """Calls a function as soon as the server can be reached, and limits the time of a shutdown."""

    def __init__(self, app: FastAPI, limits: Limits, on_start: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            http=make_protocol(limits),
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=math.ceil(limits.shutdown_seconds) + 1,
        )
        super().__init__(config)
        self._active = app.state.active
        self._limits = limits
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.freeze()  # do not search the objects that exist now for garbage
        gc.set_threshold(GC_THRESHOLD)
        if not self.should_exit:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._active.shut_down(self._limits.shutdown_seconds)
        await super().shutdown(sockets)


def run_server(app: FastAPI, listener: socket.socket, limits: Limits, on_start: Callable[[], None]) -> None:
    """Answer requests until a signal arrives; `on_start` is called when the server can be reached."""
    keep_memory_low()
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn passes the signal on after it has shut down
        WebServer(app, limits, on_start).run(sockets=[listener])
