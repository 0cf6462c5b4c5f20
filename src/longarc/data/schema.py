"""Validate the contents of TOML and JSON files against msgspec types, with errors that a user can act on."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from longarc.errors import LongarcError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

T = TypeVar("T")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the keys and values of a TOML file."""
    try:
        return parse_toml(path.read_text("utf-8"), str(path))
    except OSError as error:
        raise LongarcError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise LongarcError(f"{path}: not valid TOML: {error}") from None


def parse_toml(text: str, origin: str) -> dict[str, Any]:
    """Return the keys and values of a TOML text; errors begin with `origin`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LongarcError(f"{origin}: not valid TOML: {error}") from None


def convert(values: Any, type: type[T], origin: str) -> T:
    """Return `values` as an instance of `type`, usually a `msgspec.Struct` with `forbid_unknown_fields=True`.

    Errors begin with `origin`, for example a file name, and describe the innermost struct field that does not fit.
    The expected value is described by the field's `msgspec.Meta(description=...)`, or else derived from its type.
    A `ValueError` raised in `__post_init__` is passed on with the origin in front. Text becomes a `Path` where the type
    says so.
    """
    try:
        return msgspec.convert(values, type, dec_hook=_path)
    except msgspec.ValidationError as error:
        raise _explained(str(error), values, type, origin) from None


def _path(type: type, value: Any) -> Path:
    if type is Path and isinstance(value, str) and value:
        return Path(value)
    raise ValueError("Expected a path")


def _explained(error: str, values: Any, type: Any, origin: str) -> LongarcError:
    """Rewrite msgspec's message, for example "Expected `int`, got `str` - at `$.treebank[0].name`"."""
    from msgspec import inspect

    problem, _, path = error.partition(" - at `$")
    path = path.rstrip("`")
    bad_key = re.fullmatch(r"Object (contains unknown|missing required) field `(.*)`", problem)
    bad_value = problem.startswith(("Expected", "Invalid"))
    if bad_value:  # report a list rather than one of its items
        path = re.sub(r"(\[[^]]*\])+$", "", path)
    steps = re.findall(r"\.(\w+)|\[(\d+)\]", path)
    where = origin + "".join(f": {name}" if name else f" {int(index) + 1}" for name, index in steps)
    if not (bad_key or bad_value) or "[...]" in path:  # msgspec does not say at which key of a mapping
        return LongarcError(f"{where}: {problem}")
    info: Any = inspect.type_info(type)
    for name, index in steps:
        values = values[name or int(index)]
        parts = _alternatives(info)
        if name:
            info = next(field.type for part in parts for field in _fields(part) if field.encode_name == name)
        else:
            info = next(part.item_type for part in parts if hasattr(part, "item_type"))
    if bad_key:
        keys = ", ".join(field.encode_name for part in _alternatives(info) for field in _fields(part))
        text = f"unknown key {bad_key[2]!r}" if "unknown" in bad_key[1] else f"{bad_key[2]} is missing"
        return LongarcError(f"{where}: {text}", f"Valid keys: {keys}.")
    verb = "is" if steps else "contains"
    return LongarcError(f"{where} {verb} {repr(values)[:200]}, expected {_described(info)}")


def _fields(info: Any) -> Any:
    return getattr(info, "fields", ())


def _alternatives(info: Any) -> list[Any]:
    """Return the members of a union, or the type itself, without annotations."""
    while hasattr(info, "extra_json_schema"):
        info = info.type
    return [item for part in info.types for item in _alternatives(part)] if hasattr(info, "types") else [info]


def _described(info: Any) -> str:
    """Return in words what values a type admits."""
    from msgspec import inspect

    if description := (getattr(info, "extra_json_schema", None) or {}).get("description"):
        return str(description)
    if hasattr(info, "extra_json_schema"):
        return _described(info.type)
    if isinstance(info, inspect.UnionType):
        return " or ".join(_described(item) for item in info.types if not isinstance(item, inspect.NoneType))
    if isinstance(info, inspect.LiteralType):
        return f"one of {', '.join(map(str, info.values))}"
    if item := getattr(info, "item_type", None):
        return f"a{' non-empty' if info.min_length else ''} list in which each item is {_described(item)}"
    for kind, noun in (
        (inspect.BoolType, "true or false"),
        (inspect.IntType, "a whole number"),
        (inspect.FloatType, "a number"),
        (inspect.StrType, "text"),
        (inspect.CustomType, "a path"),
    ):
        if isinstance(info, kind):
            bounds = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
            limits = {text: getattr(info, name, None) for name, text in bounds.items()}
            texts = [f"{text} {limit}" for text, limit in limits.items() if limit is not None]
            return f"{noun}, {' and '.join(texts)}" if texts else noun
    return "a table"
