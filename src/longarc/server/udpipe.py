"""The routes `/process` and `/models` of the UDPipe REST service, so that UDPipe clients work with this server.

See https://lindat.mff.cuni.cz/services/udpipe/api-reference.php.
"""

from __future__ import annotations

import re
from binascii import a2b_qp
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from longarc import __version__
from longarc.data.conllx import to_conllu
from longarc.data.sentence import DEPREL, FORM, HEAD, Sentence
from longarc.runtime.auto_parser import words_in
from longarc.runtime.parser import Parser
from longarc.server.problem import DESCRIPTIONS, Problem
from longarc.server.read_input import (
    check_lengths,
    read_conllu,
    read_horizontal,
    read_lines,
    read_text,
    read_vertical,
)
from longarc.server.served_models import card_text, get_acknowledgements
from longarc.server.service import LARGE, Service
from longarc.server.work import Cancellation

PATHS = frozenset(["/models", "/process"])
PARAMETERS = {
    "data": "The input; required.",
    "model": "A model that `/models` lists, the start of its name up to a hyphen, or its language (`en`, `english`); "
    "`auto` recognizes the language; the default model if missing.",
    "input": "conllu (default), horizontal (a sentence per line), vertical (a word per line), generic_tokenizer.",
    "tokenizer": "If present, even if empty, `data` is raw text. `presegmented`: a sentence per line.",
    "tagger": "If present, even if empty, predict tags; otherwise keep those of the input.",
    "parser": "If present, even if empty, predict heads and relations; otherwise keep those of the input.",
    "output": "conllu (default), horizontal or vertical.",
}
INPUTS = ("conllu", "horizontal", "vertical", "generic_tokenizer")
OUTPUTS = ("conllu", "horizontal", "vertical")
MAX_FIELDS = 50
MAX_FIELD_HEAD = 8_192
"""Bytes of the headers of a field that are read."""
MAX_BOUNDARY = 200
_HEADER_PARAMETER = re.compile(r';\s*(?P<name>[\w*-]+)=(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^;\s"]*))')
_NO_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["data"],
    "properties": {name: {"type": "string", "description": text} for name, text in PARAMETERS.items()},
}
_QUERY: dict[str, Any] = {
    "parameters": [
        {"name": name, "in": "query", "required": name == "data", "description": text, "schema": {"type": "string"}}
        for name, text in PARAMETERS.items()
    ]
}
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": _SCHEMA},
            "application/x-www-form-urlencoded": {"schema": _SCHEMA},
        },
    }
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {"text/plain": {"schema": {"type": "string"}}}}
    for status, text in DESCRIPTIONS.items()
}


@dataclass(frozen=True)
class ProcessResponse:
    model: str
    acknowledgements: list[str]
    result: str


def make_router(service: Service) -> APIRouter:
    """Return UDPipe's routes, with their documentation."""
    router = APIRouter(tags=["UDPipe"])

    @router.get("/models", summary="List the models")
    async def models() -> dict[str, Any]:
        abilities = ["tokenizer", "tagger", "parser"]
        return {
            "models": dict.fromkeys(service.models.parsers, abilities),
            "default_model": service.models.default,
        }

    documentation: dict[str, Any] = {
        "summary": "Tokenize, tag and parse",
        "response_model": ProcessResponse,
        "responses": _ERRORS,
    }

    @router.post("/process", **documentation, openapi_extra=_FORM)
    @router.get("/process", **documentation, openapi_extra=_QUERY)
    async def process_request(request: Request) -> Response:
        return await answer(service, request)

    return router


def make_fast_route(service: Service) -> Route:
    """Return a route that answers `POST /process` before the one that documents it, without the time that FastAPI takes
    to find the arguments of a function."""

    async def process_request(request: Request) -> Response:
        return await answer(service, request)

    return Route("/process", process_request, methods=["POST"], include_in_schema=False)


async def answer(service: Service, request: Request) -> Response:
    """Answer a request to `/process`."""
    result = await process(service, await read_parameters(service, request))
    return Response(msgspec.json.encode(result), media_type="application/json")


def text_error(problem: Problem) -> Response:
    """Return an error as plain text, because UDPipe clients print the body of an error."""
    start = f"line {problem.line}: " if problem.line else ""
    text = "\n".join(filter(None, [start + problem.message, problem.hint]))
    return PlainTextResponse(text + "\n", problem.status_code, problem.headers)


async def read_parameters(service: Service, request: Request) -> dict[str, str]:
    """Read the parameters from the query and from a form of either kind."""
    parameters = dict(request.query_params.multi_items())
    if request.method != "POST":
        return parameters
    content_type = request.headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    body = await request.body()
    if media_type == "application/x-www-form-urlencoded":
        return {**parameters, **await service.run_in_thread(lambda _: read_form(body), len(body) // 10)}
    if media_type == "multipart/form-data":
        return {**parameters, **read_multipart(body, content_type)}
    if body:
        raise Problem(422, "the body must be a form: multipart/form-data or application/x-www-form-urlencoded")
    return parameters


def read_multipart(body: bytes, content_type: str) -> dict[str, str]:
    """Return the fields and files of a multipart form.

    Starlette's reader decodes in any encoding that the client names, and takes a second for a few megabytes of headers.
    """
    boundary = _parameter(content_type, "boundary").encode("latin-1", "replace")
    if not 1 <= len(boundary) <= MAX_BOUNDARY:
        raise Problem(422, f"the form cannot be read: expected a boundary of 1 to {MAX_BOUNDARY} characters")
    _, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary, MAX_FIELDS + 2)
    if len(parts) > MAX_FIELDS + 1:
        raise Problem(422, f"the form cannot be read: it has more than {MAX_FIELDS} fields")
    if not parts or not parts[-1].startswith(b"--"):
        raise Problem(422, "the form cannot be read: its end is missing")
    fields = {}
    for part in parts[:-1]:
        head, separator, content = part.partition(b"\r\n\r\n")
        name = _field_name(head)
        if not separator or name is None:
            raise Problem(422, "the form cannot be read: a field without a name")
        try:
            fields[name] = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Problem(422, f"{name[:40]} is not in UTF-8") from None
    return fields


def _field_name(head: bytes) -> str | None:
    """Return the name of a field of a multipart form from its headers."""
    for line in head[:MAX_FIELD_HEAD].decode("utf-8", "replace").split("\r\n"):
        key, _, value = line.partition(":")
        if key.strip().lower() == "content-disposition":
            return _parameter(value, "name") or None
    return None


def _parameter(header: str, name: str) -> str:
    """Return a parameter of a header, such as `boundary`; empty if it is missing."""
    for match in _HEADER_PARAMETER.finditer(header):
        if match["name"].lower() == name:
            quoted = match["quoted"]
            return match["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    return ""


def read_form(body: bytes) -> dict[str, str]:
    """Return the fields of a urlencoded form.

    Starlette's reader takes unescaped UTF-8, as curl sends it, for Latin-1, and is slow on the many escapes of CoNLL-U.
    """
    if body.count(b"&") >= MAX_FIELDS:
        raise Problem(422, f"the form cannot be read: it has more than {MAX_FIELDS} fields")
    fields = {}
    for field in filter(None, body.split(b"&")):
        name, _, value = field.partition(b"=")
        try:
            fields[_unescape(name).decode()] = _unescape(value).decode()
        except UnicodeDecodeError as error:
            raise Problem(422, f"the form cannot be read: {error}"[:200]) from None
    return fields


def _unescape(text: bytes) -> bytes:
    """Undo the escapes of a urlencoded form; a percent sign that begins no escape is kept.

    The escapes of e-mails, `=0A`, are the same but for the first character, and Python has a fast decoder for them.
    """
    text = _NO_ESCAPE.sub(b"%25", text.replace(b"+", b" "))
    return a2b_qp(text.replace(b"=", b"%3D").replace(b"%", b"="))


async def process(service: Service, parameters: dict[str, str]) -> ProcessResponse:
    """Process a request with these parameters."""
    if "data" not in parameters:
        raise Problem(422, "the parameter 'data' is required")
    name, parser = service.models.find(parameters.get("model"), words_in(parameters["data"]))
    output = _check_format(parameters.get("output"), OUTPUTS, "output")
    source = "tokenizer" if "tokenizer" in parameters else _check_format(parameters.get("input"), INPUTS, "input")
    options = parameters.get("tokenizer", "").split(";")
    data = parameters["data"]
    size = len(data) if source in ("conllu", "horizontal", "vertical") else LARGE  # a tokenizer takes longer
    sentences = await service.run_in_thread(partial(_read, parser, data, source, "presegmented" in options), size)
    tail = getattr(sentences, "tail", "")
    if "tagger" in parameters or "parser" in parameters:
        input_trees = (
            [] if "parser" in parameters else [(s.node_column(HEAD), s.node_column(DEPREL)) for s in sentences]
        )
        await service.parse(name, parser, sentences, keep_tags="tagger" not in parameters, probabilities=False)
        for sentence, (heads, relations) in zip(sentences, input_trees, strict=False):
            sentence.set_column(HEAD, heads)
            sentence.set_column(DEPREL, relations)
    else:
        check_lengths(sentences, service.limits)
    result = await service.run_in_thread(partial(_write, name, parser, sentences, output, tail), len(data))
    return ProcessResponse(model=name, acknowledgements=get_acknowledgements(parser), result=result)


def _check_format(value: str | None, known: Sequence[str], parameter: str) -> str:
    """Return the name of a format without the options after `=`; the first known format is the default."""
    name = (value or known[0]).partition("=")[0]
    if name not in known:
        raise Problem(422, f"unknown {parameter} format {name[:40]!r}", f"Use one of {', '.join(known)}.")
    return name


def _read(parser: Parser, data: str, source: str, presegmented: bool, cancellation: Cancellation) -> Sequence[Sentence]:
    # UDPipe's client converts all line ends to CRLF.
    data = data.removeprefix("\ufeff").replace("\r\n", "\n")
    match source:
        case "conllu":
            return read_conllu(data, cancellation, format="conllu")
        case "horizontal":
            return read_horizontal(data, cancellation)
        case "vertical":
            return read_vertical(data, cancellation)
    return read_lines(parser, data, cancellation) if presegmented else read_text(parser, data, cancellation)


def _write(
    name: str, parser: Parser, sentences: Sequence[Sentence], output: str, tail: str, cancellation: Cancellation
) -> str:
    watched = cancellation.watch(sentences)
    if output == "horizontal":
        return "".join(" ".join(word[FORM].replace(" ", "_") for word in s.word_rows) + "\n" for s in watched)
    if output == "vertical":
        return "".join("".join(f"{word[FORM]}\n" for word in sentence.word_rows) + "\n" for sentence in watched)
    comments = f"# generator = Longarc {__version__}\n# udpipe_model = {name}\n"
    if licence := card_text(parser, "licence"):
        comments += f"# udpipe_model_licence = {licence}\n"
    return comments + "".join(to_conllu(sentence).to_conll() for sentence in watched) + tail
