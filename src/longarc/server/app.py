"""The FastAPI application: routes, page files and error handlers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from longarc import __version__
from longarc.drawing.svg import THEMES, style_rules
from longarc.errors import LongarcError
from longarc.server import api, udpipe
from longarc.server.active_requests import ActiveRequests
from longarc.server.batching import Batcher
from longarc.server.guard import Guard, Log
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem, json_error, to_problem
from longarc.server.served_models import ServedModels
from longarc.server.service import Service

PAGE = Path(__file__).parent / "page"
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
CLOSE_SECONDS = 1.0
"""Time for the parser's threads to end. All requests are over by then, so nobody waits for what they still do."""
DESCRIPTION = """Dependency parsing over HTTP. `/process` and `/models` are compatible with the UDPipe service; the
routes under `/api` are easier to use from a program. Requests of all clients are batched."""


def make_app(
    models: ServedModels,
    limits: Limits | None = None,
    token: str = "",
    hosts: frozenset[str] = frozenset(),
    origins: frozenset[str] = frozenset(),
    log: Log | None = None,
) -> FastAPI:
    """Return the application.

    With `token`, everything but the page and `/health` needs it; with `hosts`, only requests to these host names are
    answered. Pages of other sites may use the server only if their origin, such as `https://example.org`, is in
    `origins`. `log` is called with an entry for each request. `app.state.active` contains the requests being answered.
    """
    limits = limits or Limits()
    metrics = Metrics()
    service = Service(models, limits, Batcher(limits, metrics, models.threads))
    app = FastAPI(
        title="Longarc",
        version=__version__,
        description=DESCRIPTION,
        lifespan=partial(_run_batcher, service),
        openapi_url="/api/openapi.json",
        # FastAPI's documentation pages load scripts from the network.
        docs_url=None,
        redoc_url=None,
    )
    app.state.active = ActiveRequests()
    files = _page_files()
    _add_routes(app, service, metrics, files)
    for kind in (LongarcError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _handle_error)
    app.add_middleware(
        Guard,
        limits=limits,
        metrics=metrics,
        active=app.state.active,
        token=token,
        hosts=hosts,
        origins=origins,
        page_paths=frozenset(files),
        open_paths=frozenset([*files, "/health"]),
        routes=frozenset([*files, *app.openapi()["paths"]]),
        error_response=_error_response,
        log=log,
    )
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["X-Request-ID"],
        )
    return app


@asynccontextmanager
async def _run_batcher(service: Service, app: FastAPI) -> AsyncIterator[None]:
    """Parse while the application runs."""
    service.batcher.start()
    yield
    service.threads.close()
    await anyio.to_thread.run_sync(service.batcher.close, CLOSE_SECONDS)


def _add_routes(app: FastAPI, service: Service, metrics: Metrics, files: dict[str, tuple[str, bytes]]) -> None:
    app.router.routes.append(udpipe.make_fast_route(service))
    app.include_router(udpipe.make_router(service))
    app.include_router(api.make_router(service))

    @app.get("/health", tags=["Operation"], summary="Check that the server is running")
    async def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    app.head("/health", include_in_schema=False)(health)

    @app.get("/metrics", tags=["Operation"], summary="Metrics for Prometheus", response_class=Response)
    async def get_metrics() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    # Last, because routes are tried one after the other.
    for path, (media_type, content) in files.items():
        app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)(_make_endpoint(media_type, content))


def _error_response(problem: Problem, path: str) -> Response:
    """Return the response for a problem with a request to a path."""
    return udpipe.text_error(problem) if path in udpipe.PATHS else json_error(problem)


async def _handle_error(request: Request, error: Exception) -> Response:
    return _error_response(_find_problem(error), request.url.path)


def _page_files() -> dict[str, tuple[str, bytes]]:
    """Return the media type and content of each file of the page by its URL path. No other file is served."""
    files = {
        f"/{file.name}": (MEDIA_TYPES[file.suffix], file.read_bytes())
        for file in PAGE.iterdir()
        if file.suffix in MEDIA_TYPES
    }
    files["/"] = files.pop("/index.html")
    # The page's security policy forbids inline styles, so it needs the style rules of the drawings as a file.
    files["/drawing.css"] = (MEDIA_TYPES[".css"], "".join(map(style_rules, THEMES)).encode())
    return files


def _make_endpoint(media_type: str, content: bytes) -> Any:
    async def serve_file() -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return serve_file


def _find_problem(error: Exception) -> Problem:
    """Map every exception that a request can cause to a Problem."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LongarcError):
        return to_problem(error)
    if isinstance(error, RequestValidationError):
        return Problem(422, "; ".join(map(_describe, error.errors()[:5])))
    assert isinstance(error, HTTPException)
    problem = Problem(error.status_code, str(error.detail))
    problem.headers = error.headers
    return problem


def _describe(error: Any) -> str:
    """Describe a validation error, without the invalid value, which may be anything."""
    if error["type"] == "json_invalid":
        return "the body is not valid JSON"
    field = ".".join(ascii(part)[1:-1] if isinstance(part, str) else str(part) for part in error["loc"][1:])
    return f"{field[:80]}: {error['msg']}" if field else str(error["msg"])
