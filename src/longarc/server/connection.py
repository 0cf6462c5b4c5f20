"""One client connection: limits on the size and duration of a request, and on the number of connections.

uvicorn limits none of these before a request reaches the application.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from longarc.server.active_requests import UPLOAD_SECONDS
from longarc.server.limits import Limits

COMPLETION_SECONDS = 5.0
"""How much longer than a request may take its body may arrive, for example after the request was refused."""


class LimitedProtocol(HttpToolsProtocol):
    """HTTP/1.1 on one connection."""

    def __init__(self, limits: Limits, clients: Counter[str], **options: Any) -> None:
        """`clients`: the number of connections from each address, shared by all connections of a server."""
        super().__init__(**options)
        self._limits = limits
        self._clients = clients
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._client_address = ""
        """The address under which this connection is counted"""
        self._unread = 0
        """Bytes since the last that belonged to a body: request line, headers, or trailers"""
        self._pending = False
        """Whether a request has begun and is not complete"""
        self._is_ending = False
        """Whether the server is shutting down"""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if len(self.connections) > self._limits.connections:
            self._refuse(503, "too many connections")
        elif self._clients[address] >= self._limits.client_connections:
            self._refuse(503, "too many connections from this address")
        else:
            self._clients[address] += 1
            self._client_address = address
            self._start_timer(self._limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._stop_write_timer()
        if self._client_address:
            self._clients[self._client_address] -= 1
            if not self._clients[self._client_address]:
                del self._clients[self._client_address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if not self._pending and self._timer is None:
            self._start_timer(self._limits.head_seconds)
        self._unread += len(data)
        super().data_received(data)
        if self._unread > self._limits.head_bytes and not self.transport.is_closing():
            self._refuse(431, f"the headers are larger than {self._limits.head_bytes:,} bytes")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._pending = True

    def on_headers_complete(self) -> None:
        self._unread = 0
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self._limits.head_bytes:
            self._refuse(431, f"the headers are larger than {self._limits.head_bytes:,} bytes")
            return
        self._start_timer(self._limits.seconds + COMPLETION_SECONDS)
        super().on_headers_complete()
        if self._is_ending:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        self._pending = False
        self._stop_timer()
        if not self.transport.is_closing():
            super().on_message_complete()

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self._time_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        """Close a connection whose client does not finish its request."""
        if not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        """Answer without passing the request on, unless an answer has begun, and close the connection."""
        if self.cycle is None or self.cycle.response_complete:
            body = json.dumps({"error": message, "hint": "", "line": None}).encode()
            head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[status] + head.encode() + body)
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._limits.idle_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def shutdown(self) -> None:
        """Close the connection after the current request, and soon if that has not arrived."""
        self._is_ending = True
        if self.cycle is None or (self._pending and self.cycle.response_complete):
            self._start_timer(UPLOAD_SECONDS)
        else:
            super().shutdown()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, also if the client has not read the last response."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()


def make_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Return a factory of connections that enforce the limits; uvicorn calls it like a class."""
    return cast(type[asyncio.Protocol], partial(LimitedProtocol, limits, Counter()))
