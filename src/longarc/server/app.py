"""The application: routes, page, and what happens when something goes wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from longarc import __version__
from longarc.drawing.svg import style_rules
from longarc.errors import LongarcError
from longarc.server import api, udpipe
from longarc.server.batching import Batcher
from longarc.server.guard import Guard
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem, answer, problem_of
from longarc.server.served_models import Models
from longarc.server.service import Service

PAGE = Path(__file__).parent / "page"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
DESCRIPTION = """Dependency parsing over HTTP. `/process` and `/models` answer as the UDPipe service does; the routes
under `/api` are simpler to use from a program. Requests of all clients are parsed together."""


def make_app(
    models: Models, limits: Limits | None = None, token: str = "", hosts: frozenset[str] = frozenset()
) -> FastAPI:
    """The application for some models. With a token, only those who send it may do more than look at the page; with
    `hosts`, only requests to these names are answered."""
    limits = limits or Limits()
    metrics = Metrics()
    service = Service(models, limits, metrics, Batcher(limits, metrics, models.threads))

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        service.batcher.start()
        yield
        await anyio.to_thread.run_sync(service.batcher.close)

    app = FastAPI(
        title="Longarc",
        version=__version__,
        description=DESCRIPTION,
        lifespan=running,
        openapi_url="/api/openapi.json",
        # The pages for reading it load programs from the network.
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    files = _page_files()
    for path, (kind, content) in files.items():
        app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)(_file_route(kind, content))
    app.include_router(udpipe.make_router(service))
    app.include_router(api.make_router(service, __version__))

    @app.get("/health", tags=["Operation"], summary="Whether the server is there")
    async def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    app.head("/health", include_in_schema=False)(health)

    @app.get("/metrics", tags=["Operation"], summary="Counters for Prometheus", response_class=Response)
    async def counters() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    app.add_middleware(
        Guard,
        limits=limits,
        metrics=metrics,
        token=token,
        hosts=hosts,
        open_paths=frozenset([*files, "/health"]),
        routes=frozenset([*files, *app.openapi()["paths"]]),
    )
    _tell_problems(app)
    return app


def _page_files() -> dict[str, tuple[str, bytes]]:
    """The files of the page by the path that serves them; no other file can be asked for."""
    files = {
        f"/{file.name}": (KINDS[file.suffix], file.read_bytes()) for file in PAGE.iterdir() if file.suffix in KINDS
    }
    files["/"] = files.pop("/index.html")
    # The page takes the rules out of the drawings, since it allows no style but that of its own files.
    files["/drawing.css"] = (KINDS[".css"], style_rules("auto").encode())
    return files


def _file_route(kind: str, content: bytes) -> Any:
    async def serve_file() -> Response:
        return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

    return serve_file


def _tell_problems(app: FastAPI) -> None:
    """Makes one kind of answer of all that can be wrong with a request."""

    async def tell(request: Request, error: Exception) -> Response:
        if isinstance(error, Problem):
            problem = error
        elif isinstance(error, LongarcError):
            problem = problem_of(error)
        elif isinstance(error, RequestValidationError):
            problem = Problem(422, "; ".join(map(_in_words, error.errors()[:5])))
        else:
            assert isinstance(error, HTTPException)
            problem = Problem(error.status_code, str(error.detail))
        response = answer(problem, request.url.path)
        response.headers.update(getattr(error, "headers", None) or {})
        return response

    for kind in (Problem, LongarcError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, tell)


def _in_words(error: Any) -> str:
    """What is wrong with a field, without what was found there, which could be anything."""
    if error["type"] == "json_invalid":
        return "the body is not valid JSON"
    place = ".".join(ascii(part)[1:-1] if isinstance(part, str) else str(part) for part in error["loc"][1:])
    return f"{place[:80]}: {error['msg']}" if place else str(error["msg"])
