"""Read JSON from an untrusted file: with limits, and without texts that could harm a terminal, a file or a page."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

NOT_PRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, separators of lines, changes of the writing direction, and lone surrogates."""
MAX_DEPTH = 8
MAX_DIGITS = 40


def read_object(content: bytes, max_values: int) -> dict[str, Any]:
    """Return a JSON object; raise ValueError if it is not one or has more values (counted roughly) than the limit."""
    # A value of two bytes can take a hundred in memory, so values are counted before they are read.
    if sum(map(content.count, (b",", b":", b"[", b"{"))) > max_values:
        raise ValueError(f"it has more than {max_values:,} values")
    try:
        data = json.loads(content, parse_constant=_refuse, parse_int=_integer)
    except (ValueError, RecursionError):
        raise ValueError("it is not valid JSON") from None
    if not isinstance(data, dict):
        raise ValueError("it is not a JSON object")
    return data


def check_values(data: Any, max_length: int, depth: int = 0) -> None:
    """Raise ValueError if a text is not printable or too long, a number not finite, or the nesting too deep."""
    if depth > MAX_DEPTH:
        raise ValueError("lists or objects are nested too deeply")
    if isinstance(data, float) and not math.isfinite(data):
        raise ValueError(f"{data} is not a number")
    if isinstance(data, str):
        data = [data]
    if isinstance(data, dict):
        check_values(list(data), max_length, depth)
        data = list(data.values())
    if isinstance(data, list):
        _check_texts([item for item in data if isinstance(item, str)], max_length)
        for item in data:
            if not isinstance(item, str):
                check_values(item, max_length, depth + 1)


def _check_texts(texts: list[str], max_length: int) -> None:
    if NOT_PRINTABLE.search("".join(texts)):
        text = next(text for text in texts if NOT_PRINTABLE.search(text))
        raise ValueError(f"{ascii(text)[:100]} contains a control character")
    if max(map(len, texts), default=0) > max_length:
        raise ValueError(f"a text has more than {max_length:,} characters")


def printable(data: Any) -> Any:
    """Return the data with a space for each character that is not printable."""
    if isinstance(data, str):
        return NOT_PRINTABLE.sub(" ", data)
    if isinstance(data, dict):
        return {printable(key): printable(value) for key, value in data.items()}
    return [printable(item) for item in data] if isinstance(data, list) else data


def _integer(digits: str) -> int:
    # Python before 3.10.7 needs hours for a number of a million digits.
    return int(digits) if len(digits) <= MAX_DIGITS else _refuse(digits)


def _refuse(number: str) -> NoReturn:
    raise ValueError(number)
