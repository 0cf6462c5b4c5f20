"""Middleware for every route: host, origin and token checks, limits on size and time, headers, metrics and the log."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import anyio
import anyio.lowlevel
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longarc.server.active_requests import ActiveRequest, ActiveRequests
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
CLIENT_CLOSED = 499
"""nginx's status for a client that did not wait for the response"""
GIVEN_UP = (408, 503)
"""After these errors the rest of a body is not read. After others it is, because many clients read no response before
they have sent all; the connection limits how long that takes."""
ANY_ORIGIN = "*"

Log = Callable[[dict[str, Any]], None]
"""Writes one entry about a request."""


class Guard:
    """ASGI middleware.

    `hosts`: the accepted host names, all if empty; protects local servers against DNS rebinding. `origins`: the other
    sites whose pages may send requests. `page_paths`: paths of the page, to which other sites may link. `open_paths`:
    paths that need no token. `routes`: paths with metrics of their own. `error_response`: makes the response for a
    problem with a request to a path.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        metrics: Metrics,
        active: ActiveRequests,
        token: str,
        hosts: frozenset[str],
        origins: frozenset[str],
        page_paths: frozenset[str],
        open_paths: frozenset[str],
        routes: frozenset[str],
        error_response: Callable[[Problem, str], Response],
        log: Log | None,
    ) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._active = active
        self._token = token
        self._hosts = hosts
        self._origins = origins
        self._page_paths = page_paths
        self._open_paths = open_paths
        self._routes = routes
        self._error_response = error_response
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = str(scope["path"])
        headers = Headers(scope=scope)
        request = ActiveRequest(headers.get("x-request-id", ""))
        started = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                response_headers = MutableHeaders(scope=message)
                response_headers["X-Request-ID"] = request.id
                for name, value in HEADERS.items():
                    response_headers.setdefault(name, value)
            await send(message)

        self._active.add(request)
        try:
            problem = await self._answer(request, scope, receive, send_with_headers)
            if problem is not None and not status:
                response = self._error_response(problem, path)
                if not request.is_complete and (problem.status_code in GIVEN_UP or "expect" in headers):
                    response.headers["Connection"] = "close"
                await response(scope, receive, send_with_headers)
        finally:
            self._active.discard(request)
            self._active.bytes -= request.bytes
            request.stop_watching()
            seconds = time.perf_counter() - started
            status = status or (CLIENT_CLOSED if request.disconnected else 500)
            route = path if path in self._routes else "other"
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(seconds)
            if self._log is not None:
                self._log(_log_entry(request, scope, status, seconds))

    async def _answer(self, request: ActiveRequest, scope: Scope, receive: Receive, send: Send) -> Problem | None:
        """Run the application; return the problem if it was cancelled or failed."""
        path = str(scope["path"])
        request.scope.deadline = anyio.current_time() + self._limits.seconds
        try:
            with request.scope:
                problem = self._refuse(Headers(scope=scope), scope["method"], path)
                if problem is not None:
                    return problem
                await self._app(scope, self._limit(receive, request), send)
        except Exception:
            logging.getLogger("longarc.server").exception("request %s to %s failed", request.id, ascii(path[:200]))
            return Problem(500, "internal error", f"The request id is {request.id}.")
        if not request.scope.cancelled_caught or request.disconnected:
            return None
        timeout = f"the request took more than {self._limits.seconds:g} s"
        return request.problem or Problem(503, timeout, "Send smaller requests.")

    def _refuse(self, headers: Headers, method: str, path: str) -> Problem | None:
        """Return a problem if the host, the origin, the token or the announced size is not acceptable."""
        size = headers.get("content-length", "")
        # starlette's TrustedHostMiddleware would do, but its error response cannot be changed.
        if self._hosts and _without_port(headers.get("host", "")) not in self._hosts:
            hint = "To serve under other host names, listen on another address or set a token."
            return Problem(403, f"this server only answers requests to {', '.join(sorted(self._hosts))}", hint)
        if not (self._is_same_site(headers) or self._is_link(headers, method, path)):
            hint = "The server can be started with a list of sites whose pages may use it."
            return Problem(403, "pages of other sites may not use this server", hint)
        if self._token and path not in self._open_paths and not self._has_token(headers):
            return Problem(401, "this server needs a token", "Send it as `Authorization: Bearer TOKEN`.")
        if size.isdecimal() and (len(size) > 18 or int(size) > self._limits.request_bytes):
            return self._too_large()
        return None

    def _is_same_site(self, headers: Headers) -> bool:
        """Return whether a request comes from the server's own page, an allowed site, or a program.

        Browsers send these headers and pages cannot change them; programs send neither.
        """
        origin = headers.get("origin")
        if ANY_ORIGIN in self._origins or origin in self._origins:
            return True
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site in ("same-origin", "none")
        return origin is None or origin.partition("://")[2] == headers.get("host")

    def _is_link(self, headers: Headers, method: str, path: str) -> bool:
        """Return whether the user has followed a link to the page; links contain its state."""
        return method == "GET" and path in self._page_paths and headers.get("sec-fetch-mode") == "navigate"

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and secrets.compare_digest(token.strip().encode(), self._token.encode())

    def _limit(self, receive: Receive, request: ActiveRequest) -> Receive:
        """Wrap `receive`: limit the size of the body, and cancel the request if the client pauses or disconnects."""

        async def limited_receive() -> Message:
            seconds = self._limits.idle_seconds
            pause = Problem(408, f"the client sent nothing for {seconds:g} s")
            timer = asyncio.get_running_loop().call_later(seconds, request.cancel, pause)
            try:
                message = await receive()
            finally:
                timer.cancel()
            if message["type"] == "http.disconnect":
                request.disconnect()
                await anyio.lowlevel.checkpoint()
            size = len(message.get("body", b""))
            request.bytes += size
            self._active.bytes += size
            if request.bytes > self._limits.request_bytes:
                raise self._too_large()
            if self._active.bytes > self._limits.active_bytes:
                raise Problem(429, "the requests of all clients together are too large", "Try again in a moment.")
            if not message.get("more_body", False) and not request.is_complete:
                request.is_complete = True
                request.watch(receive)
            return message

        return limited_receive

    def _too_large(self) -> Problem:
        message = f"the request is larger than {self._limits.request_bytes:,} bytes"
        return Problem(413, message, "Send smaller requests, or parse the file on the command line.")


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdecimal() else host


def _log_entry(request: ActiveRequest, scope: Scope, status: int, seconds: float) -> dict[str, Any]:
    """Return what is logged about a request. The query may contain text, so it is left out."""
    return {
        "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        "id": request.id,
        "client": scope["client"][0] if scope.get("client") else None,
        "method": scope["method"],
        "path": scope["path"][:200],
        "status": status,
        "seconds": round(seconds, 4),
        "bytes": request.bytes,
    }
