"""Read and write sentences as JSON lines, one object per sentence.

`{"comments": ["# text = Dogs bark"], "tokens": [{"id": 1, "form": "Dogs", "head": 2, "relation": "nsubj"}, …]}`:
columns that are `_` are omitted; the id of a multiword token or an empty node is a string, such as "3-4" or "3.1". The
`probability` of an arc, which the parser can add, becomes `Prob=` in MISC.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.conll import Check, RowError, check_heads, check_ids, require_ascii_compatible
from longarc.data.conllx import to_conllu
from longarc.data.files import ENCODING_HINT, Source, read_lines, source_name
from longarc.data.sentence import HEAD, ID, MISC, Sentence, is_comment, with_probability
from longarc.errors import InputError

KEYS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "relation", "deps", "misc")
PROBABILITY = "probability"
MAX_LINE_BYTES = 64_000_000


def to_json(sentence: Sentence, probabilities: NDArray[np.float64] | None = None) -> str:
    """Return one line of JSON, without the line end, with the probabilities of the arcs [n + 1] unless they are NaN."""
    return json.dumps(to_dict(sentence, probabilities), ensure_ascii=False)


def to_dict(sentence: Sentence, probabilities: NDArray[np.float64] | None = None) -> dict[str, Any]:
    """Return what `to_json` writes."""
    sentence = to_conllu(sentence)
    tokens: list[dict[str, Any]] = []
    for row in sentence.rows:
        if is_comment(row):
            tokens.append({"comment": "\t".join(row)})
            continue
        token: dict[str, Any] = {
            key: value for key, value in zip(KEYS, row, strict=True) if value != "_" or key == "form"
        }
        for key in ("id", "head"):
            if str(token.get(key, "")).isdecimal():
                token[key] = int(token[key])
        if probabilities is not None and isinstance(token["id"], int):
            probability = float(probabilities[token["id"]])
            if not math.isnan(probability):
                token[PROBABILITY] = round(probability, 4)
        tokens.append(token)
    return {"comments": sentence.comments, "tokens": tokens}


def from_json(line: str) -> Sentence:
    """Return the sentence on a line of JSON; raise RowError if it is not one."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RowError(0, f"not valid JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("tokens"), list):
        raise RowError(0, 'expected an object with a list "tokens"')
    comments = data.get("comments", [])
    if not isinstance(comments, list) or not all(_is_line(c) and c.startswith("#") for c in comments):
        raise RowError(0, '"comments" must be a list of lines that begin with #')
    rows = [_row_from_json(token) for token in data["tokens"]]
    if not rows:
        raise RowError(0, "a sentence without words", "Each sentence needs at least one word.")
    try:
        words = check_ids(rows)
        check_heads(rows, words)
    except RowError as error:
        raise RowError(0, f"token {error.row + 1}: {error.message}", error.hint) from None
    return Sentence(rows, words, lead="".join(f"{comment}\n" for comment in comments))


_NOT_IN_A_LINE = re.compile("[\n\0\ud800-\udfff]")


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and not _NOT_IN_A_LINE.search(value)


def _row_from_json(token: Any) -> list[str]:
    if isinstance(token, dict) and _is_line(token.get("comment")) and token["comment"].startswith("#"):
        return str(token["comment"]).split("\t")
    if not isinstance(token, dict) or token.get("form") is None or "id" not in token:
        raise RowError(0, f'a token needs "id" and "form": {json.dumps(token)[:80]}')
    if unknown := token.keys() - {*KEYS, PROBABILITY}:
        raise RowError(0, f"unknown key {min(unknown)!r} in a token", f"Known keys: {', '.join(KEYS)}.")
    row = ["_"] * len(KEYS)
    for column, key in enumerate(KEYS):
        if (value := token.get(key)) is None:
            continue
        if isinstance(value, int) and not isinstance(value, bool) and column in (ID, HEAD):
            value = str(value)
        if not _is_line(value) or "\t" in value:
            expected = "expected text without tabs and line ends, valid in UTF-8"
            raise RowError(0, f"{key} is {json.dumps(value)[:40]}, {expected}")
        row[column] = value
    if (probability := token.get(PROBABILITY)) is not None:
        if not isinstance(probability, (int, float)):
            raise RowError(0, f"{PROBABILITY} is {json.dumps(probability)[:40]}, expected a number")
        row[MISC] = with_probability(row[MISC], probability)
    return row


def read_jsonl(
    source: Source,
    *,
    encoding: str = "utf-8",
    check: Check | None = None,
    on_invalid: Callable[[InputError], None] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a file of JSON lines; the options are those of SentenceReader."""
    name = source_name(source)
    require_ascii_compatible(encoding)
    for number, raw in enumerate(read_lines(source, MAX_LINE_BYTES), 1):
        try:
            try:
                line = raw.decode(encoding)
            except UnicodeDecodeError as error:
                raise RowError(0, f"byte 0x{raw[error.start]:02x} is not valid {encoding}", ENCODING_HINT) from None
            if not line.strip("\ufeff \t\r"):
                continue
            sentence = from_json(line.removeprefix("\ufeff") if number == 1 else line)
            sentence.line = number
            if check is not None:
                check(sentence)
        except RowError as error:
            problem = InputError(name, number, error.message, error.hint)
            if on_invalid is None:
                raise problem from None
            on_invalid(problem)
            continue
        yield sentence
