"""What stands before every route: the token, the limits of size and time, the headers that make a page safe, and the
counting of requests."""

from __future__ import annotations

import secrets
import time

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem, answer

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
    """ASGI middleware. `hosts`: the names by which the server may be called, if not all, so that a page from elsewhere
    cannot give a name of its own to a server that is for this machine only. `open_paths` need no token; `routes` are
    the paths that are counted under their own names."""

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
    ) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._token = token
        self._hosts = hosts
        self._open_paths = open_paths
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = str(scope["path"])
        begun = time.perf_counter()
        status = 0

        async def counted_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            with anyio.move_on_after(self._limits.seconds) as clock:
                await self._admit(scope, receive, counted_send, path)
            if clock.cancelled_caught and not status:
                late = Problem(503, f"this took more than {self._limits.seconds:g} s", "Send less at a time.")
                await answer(late, path)(scope, receive, counted_send)
        finally:
            route = path if path in self._routes else "other"
            self._metrics.requests.labels(route, str(status or 500)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - begun)

    async def _admit(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        headers = Headers(scope=scope)
        limit = self._limits.request_bytes
        too_large = Problem(
            413, f"the request is larger than {limit:,} bytes", "Send less at a time, or use `longarc parse`."
        )
        announced = headers.get("content-length", "")
        if self._hosts and _without_port(headers.get("host", "")) not in self._hosts:
            refusal = Problem(403, "this server is for its own machine only", "See --host and --token.")
            await answer(refusal, path)(scope, receive, send)
            return
        if self._token and path not in self._open_paths and not self._knows_token(headers):
            refusal = Problem(401, "this server needs a token", "Send it as `Authorization: Bearer TOKEN`.")
            await answer(refusal, path)(scope, receive, send)
            return
        if announced.isdecimal() and int(announced) > limit:
            await answer(too_large, path)(scope, receive, send)
            return
        received = 0

        async def counted_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise too_large
            return message

        await self._app(scope, counted_receive, send)

    def _knows_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and secrets.compare_digest(given.strip().encode(), self._token.encode())


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdecimal() else host
