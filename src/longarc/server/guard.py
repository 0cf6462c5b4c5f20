"""Middleware for every route: host and token checks, limits on size and time, security headers, request metrics."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class Guard:
    """ASGI middleware.

    `hosts`: the accepted host names, all if empty; protects local servers against DNS rebinding. `open_paths`: paths
    that need no token. `routes`: paths with metrics of their own. `error_response`: makes the response for a problem
    with a request to a path.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        metrics: Metrics,
        token: str,
        hosts: frozenset[str],
        open_paths: frozenset[str],
        routes: frozenset[str],
        error_response: Callable[[Problem, str], Response],
    ) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._token = token
        self._hosts = hosts
        self._open_paths = open_paths
        self._routes = routes
        self._error_response = error_response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = str(scope["path"])
        started = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            with anyio.move_on_after(self._limits.seconds) as deadline:
                app = self._refuse(Headers(scope=scope), path) or self._app
                await app(scope, self._limit_size(receive), send_with_headers)
            if deadline.cancelled_caught and not status:
                timeout = f"the request took more than {self._limits.seconds:g} s"
                response = self._error_response(Problem(503, timeout, "Send smaller requests."), path)
                await response(scope, receive, send_with_headers)
        finally:
            route = path if path in self._routes else "other"
            self._metrics.requests.labels(route, str(status or 500)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - started)

    def _refuse(self, headers: Headers, path: str) -> Response | None:
        """Return an error response if the host, the token or the announced size is not acceptable."""
        size = headers.get("content-length", "")
        # starlette's TrustedHostMiddleware would do, but its error response cannot be changed.
        if self._hosts and _without_port(headers.get("host", "")) not in self._hosts:
            hint = "To serve under other host names, listen on another address or set a token."
            problem = Problem(403, f"this server only answers requests to {', '.join(sorted(self._hosts))}", hint)
        elif self._token and path not in self._open_paths and not self._has_token(headers):
            problem = Problem(401, "this server needs a token", "Send it as `Authorization: Bearer TOKEN`.")
        elif size.isdecimal() and int(size) > self._limits.request_bytes:
            problem = self._too_large()
        else:
            return None
        return self._error_response(problem, path)

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and secrets.compare_digest(token.strip().encode(), self._token.encode())

    def _limit_size(self, receive: Receive) -> Receive:
        """Wrap `receive` to raise Problem 413 when the body gets too large: not every client announces its size."""
        received = 0

        async def limited_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limits.request_bytes:
                raise self._too_large()
            return message

        return limited_receive

    def _too_large(self) -> Problem:
        message = f"the request is larger than {self._limits.request_bytes:,} bytes"
        return Problem(413, message, "Send smaller requests, or parse the file on the command line.")


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdecimal() else host
