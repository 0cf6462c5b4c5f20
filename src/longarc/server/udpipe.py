"""The routes of the UDPipe REST service (https://lindat.mff.cuni.cz/services/udpipe/api-reference.php), so that its
clients work with another address: `/process` and `/models`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from longarc import __version__
from longarc.data.conllx import to_conllu
from longarc.data.sentence import DEPREL, FORM, HEAD, Sentence
from longarc.runtime.parser import Parser
from longarc.server.problem import Problem
from longarc.server.read_input import check_lengths, read_conllu, read_horizontal, read_text, read_vertical
from longarc.server.served_models import acknowledgements
from longarc.server.service import LARGE, Service

PARAMETERS = {
    "data": "What to process; the only parameter that must be there.",
    "model": "One of `/models`, or the beginning of a name up to a hyphen; the default model unless given.",
    "input": "conllu (default), horizontal (a sentence per line), vertical (a word per line), generic_tokenizer.",
    "tokenizer": "If present, even empty, `data` is raw text. `presegmented`: a sentence per line.",
    "tagger": "If present, even empty, the tags are predicted; otherwise those of the input stay.",
    "parser": "If present, even empty, heads and relations are predicted; otherwise those of the input stay.",
    "output": "conllu (default), horizontal or vertical.",
}
INPUTS = ("conllu", "horizontal", "vertical", "generic_tokenizer")
OUTPUTS = ("conllu", "horizontal", "vertical")
MOST_FIELDS = 50
COMMON_ESCAPES = {f"%{ord(character):02X}".encode(): character.encode() for character in "\t\n=|:#,"}
"""Most of what is escaped in CoNLL-U; none of these characters can become a part of another escape."""

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
_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The result.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["model", "acknowledgements", "result"],
                    "properties": {
                        "model": {"type": "string"},
                        "acknowledgements": {"type": "array", "items": {"type": "string"}},
                        "result": {"type": "string"},
                    },
                }
            }
        },
    },
    **{
        status: {"description": text, "content": {"text/plain": {"schema": {"type": "string"}}}}
        for status, text in {
            400: "The body cannot be read.",
            401: "The token is missing or wrong.",
            413: "The request or a sentence is too large.",
            422: "A parameter or the data is not as it must be; the body says where.",
            429: "Too much is waiting; try again.",
            503: "It took too long, or the server shuts down.",
        }.items()
    },
}


def make_router(service: Service) -> APIRouter:
    """The routes for an application."""
    router = APIRouter(tags=["UDPipe"])

    @router.get("/models", summary="The models that are offered")
    async def models() -> dict[str, Any]:
        abilities = ["tokenizer", "tagger", "parser"]
        return {
            "models": dict.fromkeys(service.models.parsers, abilities),
            "default_model": service.models.default,
        }

    @router.get("/process", summary="Tokenise, tag and parse", responses=_ANSWER, openapi_extra=_QUERY)
    async def process_query(request: Request) -> dict[str, Any]:
        return await process(service, await parameters_of(request, service.limits.request_bytes))

    @router.post("/process", summary="Tokenise, tag and parse", responses=_ANSWER, openapi_extra=_FORM)
    async def process_form(request: Request) -> dict[str, Any]:
        return await process(service, await parameters_of(request, service.limits.request_bytes))

    return router


async def parameters_of(request: Request, limit: int) -> dict[str, str]:
    """The parameters of the query and of the body, which may be a form of either kind."""
    found = dict(request.query_params.multi_items())
    if request.method != "POST":
        return found
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind == "application/x-www-form-urlencoded":
        return {**found, **read_form(body)}
    if kind == "multipart/form-data":
        try:
            form = await request.form(max_files=MOST_FIELDS, max_fields=MOST_FIELDS, max_part_size=limit)
        except HTTPException as error:
            raise Problem(422, f"the form cannot be read: {error.detail}"[:200]) from None
        for key, value in form.multi_items():
            try:
                found[key] = (await value.read()).decode("utf-8-sig") if isinstance(value, UploadFile) else value
            except UnicodeDecodeError:
                raise Problem(422, f"{key[:40]} is not in UTF-8") from None
        return found
    if body:
        raise Problem(422, "the body must be a form: multipart/form-data or application/x-www-form-urlencoded")
    return found


def read_form(body: bytes) -> dict[str, str]:
    """The fields of a form. Not Starlette's own reading of it, which takes UTF-8 that is not escaped, as curl sends it,
    for Latin-1, and takes longer for CoNLL-U, in which there is much to escape."""
    if body.count(b"&") >= MOST_FIELDS:
        raise Problem(422, f"the form cannot be read: it has more than {MOST_FIELDS} fields")
    found = {}
    for field in filter(None, body.split(b"&")):
        name, _, value = (part.replace(b"+", b" ") for part in field.partition(b"="))
        for escape, character in COMMON_ESCAPES.items():
            value = value.replace(escape, character)
        try:
            found[unquote_to_bytes(name).decode()] = unquote_to_bytes(value).decode()
        except UnicodeDecodeError as error:
            raise Problem(422, f"the form cannot be read: {error}"[:200]) from None
    return found


async def process(service: Service, given: dict[str, str]) -> dict[str, Any]:
    """Answers a request with these parameters."""
    if "data" not in given:
        raise Problem(422, "the parameter 'data' is required")
    name, parser = service.models.find(given.get("model"))
    output = _one_of(given.get("output"), OUTPUTS, "output")
    source = "tokenizer" if "tokenizer" in given else _one_of(given.get("input"), INPUTS, "input")
    options = given.get("tokenizer", "").split(";")
    data = given["data"]
    size = len(data) if source in ("conllu", "horizontal", "vertical") else LARGE  # splitting text is more work
    sentences = await service.run_in_thread(lambda: _read(parser, data, source, "presegmented" in options), size)
    tail = getattr(sentences, "tail", "")
    if "tagger" in given or "parser" in given:
        kept = None if "parser" in given else [(s.column(HEAD), s.column(DEPREL)) for s in sentences]
        keep_tags = "tagger" not in given
        await service.parse(name, parser, sentences, keep_tags=keep_tags, probabilities=False)
        for sentence, (heads, relations) in zip(sentences, kept or [], strict=False):
            sentence.set_column(HEAD, heads)
            sentence.set_column(DEPREL, relations)
    else:
        check_lengths(sentences, service.limits)
    result = await service.run_in_thread(lambda: _write(name, parser, sentences, output, tail), len(data))
    return {"model": name, "acknowledgements": acknowledgements(parser), "result": result}


def _one_of(value: str | None, known: Sequence[str], parameter: str) -> str:
    """A format's name without the options after `=`, the first of those known unless given."""
    name = (value or known[0]).partition("=")[0]
    if name not in known:
        raise Problem(422, f"unknown {parameter} format {name[:40]!r}", f"Use one of {', '.join(known)}.")
    return name


def _read(parser: Parser, data: str, source: str, by_lines: bool) -> list[Sentence]:
    # UDPipe's own client writes its forms with CRLF, whatever the text had.
    data = data.removeprefix("\ufeff").replace("\r\n", "\n")
    match source:
        case "conllu":
            return read_conllu(data, format="conllu")
        case "horizontal":
            return read_horizontal(data)
        case "vertical":
            return read_vertical(data)
    if not by_lines:
        return read_text(parser, data)
    found: list[Sentence] = []
    for line in re.findall(r"\s*\S[^\n]*\n?", data):
        if parts := read_text(parser, line, first_number=len(found) + 1):
            found.append(parts[0] if len(parts) == 1 else _joined(parts, line))
    return found


def _joined(parts: list[Sentence], text: str) -> Sentence:
    """One sentence of several whose words have no heads yet, with the `sent_id` of the first."""
    rows: list[list[str]] = []
    words: list[list[str]] = []
    for part in parts:
        start = len(words)
        for row in part.rows:
            numbers = [str(int(number) + start) for number in row[0].split("-")]
            moved = ["-".join(numbers), *row[1:]]
            rows.append(moved)
            if len(numbers) == 1:
                words.append(moved)
    kept = "".join(f"{comment}\n" for comment in parts[0].comments if not comment.startswith("# text ="))
    return Sentence(rows, words, lead=f"{kept}# text = {' '.join(text.split())}\n")


def _write(name: str, parser: Parser, sentences: list[Sentence], output: str, tail: str) -> str:
    if output == "horizontal":
        return "".join(" ".join(word[FORM].replace(" ", "_") for word in s.words) + "\n" for s in sentences)
    if output == "vertical":
        return "".join("".join(f"{word[FORM]}\n" for word in sentence.words) + "\n" for sentence in sentences)
    about = [f"# generator = Longarc {__version__}", f"# udpipe_model = {name}"]
    about += [f"# udpipe_model_licence = {parser.card['licence']}"] if parser.card.get("licence") else []
    body = "".join(to_conllu(sentence).to_conll() for sentence in sentences)
    return "".join(f"{line}\n" for line in about) + body + tail
