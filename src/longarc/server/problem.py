"""What goes wrong with a request and is told to the client."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response

from longarc.errors import InputError, LongarcError

PLAIN = ("/process", "/models")
"""The paths of the UDPipe service, whose clients print an error's body as it is."""


class Problem(HTTPException):
    """A request that cannot be answered: a status, what was found, what to do about it, and the line of the input."""

    def __init__(self, status: int, message: str, hint: str = "", line: int | None = None) -> None:
        super().__init__(status, message)
        self.message, self.hint, self.line = message, hint, line


def problem_of(error: LongarcError, name: str = "input") -> Problem:
    """A mistake in what the client sent."""
    line = error.line if isinstance(error, InputError) and error.line else None
    message = error.message.removeprefix(f"{name}:{line}: ") if line else error.message
    return Problem(422, message, error.hint, line)


def answer(problem: Problem, path: str) -> Response:
    """The response for a client of that path."""
    headers = {}
    if problem.status_code == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if problem.status_code in (429, 503):
        headers["Retry-After"] = "2"
    if path in PLAIN:
        start = f"line {problem.line}: " if problem.line else ""
        text = "\n".join(filter(None, [start + problem.message, problem.hint]))
        return PlainTextResponse(text + "\n", problem.status_code, headers)
    body = {"error": problem.message, "hint": problem.hint, "line": problem.line}
    return JSONResponse(body, problem.status_code, headers)
