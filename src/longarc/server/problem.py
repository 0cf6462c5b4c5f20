"""Errors that are reported to the client, and their JSON format."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from longarc.errors import InputError, LongarcError

DESCRIPTIONS = {
    400: "The body cannot be read.",
    401: "The token is missing or wrong.",
    403: "The request is for another host name, or comes from a page of another site.",
    408: "The client stopped sending the request.",
    413: "The request or a sentence is too large.",
    422: "The input is invalid; the body says why.",
    429: "The queue is full; try again later.",
    503: "The request timed out, or the server is shutting down.",
}
"""Descriptions of the error statuses, for the OpenAPI document."""
EXTRA_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "2"}, 503: {"Retry-After": "2"}}


class Problem(HTTPException):
    """A request that fails: its status, an error message, a hint, and the line of the input at fault."""

    def __init__(self, status: int, message: str, hint: str = "", line: int | None = None) -> None:
        super().__init__(status, message, EXTRA_HEADERS.get(status))
        self.message, self.hint, self.line = message, hint, line


def to_problem(error: LongarcError, name: str = "input") -> Problem:
    """Return a Problem for an error in the client's input; drop the file name and line from its message."""
    line = error.line if isinstance(error, InputError) and error.line else None
    message = error.message.removeprefix(f"{name}:{line}: ") if line else error.message
    return Problem(422, message, error.hint, line)


def json_error(problem: Problem) -> Response:
    """Return the response of the JSON interface for a problem."""
    body = {"error": problem.message, "hint": problem.hint, "line": problem.line}
    return JSONResponse(body, problem.status_code, problem.headers)
