"""Values of TOML and JSON files are validated, and errors name the file, the key, the value and what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct, field

from longarc.data.schema import convert, read_toml
from longarc.errors import LongarcError


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(pattern=r"\w", description="text with a letter")]
    size: Annotated[int, Meta(ge=1)] = 1
    share: Annotated[float, Meta(ge=0, lt=1)] = 0.5
    kind: Literal["a", "b"] = "a"
    file: Path | None = None
    settings: dict[str, Any] = field(name="set", default_factory=dict)

    def __post_init__(self) -> None:
        if self.size == 13:
            raise ValueError("size is 13, which is unlucky")


class Whole(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    parts: Annotated[tuple[Part, ...], Meta(min_length=1)] = field(name="part")
    numbers: tuple[int, ...] = ()
    flag: bool = False
    by_name: dict[str, Part] = {}


PART = {"name": "x"}


def test_values_that_fit_become_an_instance() -> None:
    whole = convert({"part": [{**PART, "share": 0, "file": "a/b", "set": {"c": 1}}], "numbers": [1]}, Whole, "f")
    assert whole.parts[0] == Part(name="x", share=0.0, file=Path("a/b"), settings={"c": 1})
    assert isinstance(whole.parts[0].share, float) and whole.numbers == (1,) and whole.flag is False


@pytest.mark.parametrize(
    ("values", "message", "hint"),
    [
        ({"part": [PART], "colour": 1}, "f: unknown key 'colour'", "Valid keys: part, numbers, flag, by_name."),
        (
            {"part": [PART, {**PART, "settings": {}}]},
            "f: part 2: unknown key 'settings'",
            "size, share, kind, file, set",
        ),
        ({}, "f: part is missing", "Valid keys: part, numbers"),
        ({"part": [{}]}, "f: part 1: name is missing", "Valid keys: name"),
        ({"part": []}, "f: part is [], expected a non-empty list in which each item is a table", ""),
        ({"part": [PART, 3]}, "f: part is [{'name': 'x'}, 3], expected a non-empty list", ""),
        ({"part": [{"name": "|"}]}, "f: part 1: name is '|', expected text with a letter", ""),
        ({"part": [{**PART, "size": 0}]}, "f: part 1: size is 0, expected a whole number, at least 1", ""),
        ({"part": [{**PART, "size": True}]}, "f: part 1: size is True, expected a whole number", ""),
        ({"part": [{**PART, "size": 1.5}]}, "f: part 1: size is 1.5, expected a whole number", ""),
        ({"part": [{**PART, "share": 1}]}, "share is 1, expected a number, at least 0 and less than 1", ""),
        ({"part": [{**PART, "kind": "c"}]}, "f: part 1: kind is 'c', expected one of a, b", ""),
        ({"part": [{**PART, "file": 3}]}, "f: part 1: file is 3, expected a path", ""),
        ({"part": [{**PART, "file": ""}]}, "f: part 1: file is '', expected a path", ""),
        ({"part": [{**PART, "set": 3}]}, "f: part 1: set is 3, expected a table", ""),
        ({"part": [{**PART, "size": 13}]}, "f: part 1: size is 13, which is unlucky", ""),
        ({"part": [PART], "numbers": [1, "2"]}, "f: numbers is [1, '2'], expected a list in which each", ""),
        ({"part": [PART], "flag": 1}, "f: flag is 1, expected true or false", ""),
        ({"part": [PART], "by_name": {"y": {}}}, "f: by_name: Object missing required field `name`", ""),
        ([1], "f contains [1], expected a table", ""),
    ],
)
def test_values_that_do_not_fit_are_explained(values: Any, message: str, hint: str) -> None:
    with pytest.raises(LongarcError) as caught:
        convert(values, Whole, "f")
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_toml_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'a = "\xe9"')
    with pytest.raises(LongarcError, match=r"latin\.toml: not valid TOML"):
        read_toml(tmp_path / "latin.toml")
    with pytest.raises(LongarcError, match=r"none\.toml: cannot be read"):
        read_toml(tmp_path / "none.toml")
