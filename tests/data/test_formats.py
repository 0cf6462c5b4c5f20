"""Formats by file name and by content."""

from __future__ import annotations

from pathlib import Path

import pytest

from longarc.data.files import open_output
from longarc.data.formats import detect_input_format, format_of_path, format_suffix
from tests.helpers.generators import UNPACK, word

ROW = word(1, 0).encode()


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("train.conllu", "conllu"),
        ("TRAIN.CONLLU.GZ", "conllu"),
        ("a.b/train.Conll.xz", "conllx"),
        ("train.conllx", "conllx"),
        ("train.jsonl", "jsonl"),
        ("train.NDJSON", "jsonl"),
        ("drawing.txt", "text"),
        ("train.conllup", None),
        ("train.gz", None),
        ("conllu", None),
        ("-", None),
    ],
)
def test_a_suffix_names_the_format_in_any_case(name: str, format: str | None) -> None:
    assert format_of_path(name) == format


def test_the_suffix_of_a_compressed_file_is_the_one_before() -> None:
    assert format_suffix("a.SVG.gz") == ".svg"
    assert format_suffix("a.gz") == format_suffix("a") == ""


@pytest.mark.parametrize(
    ("name", "start", "format"),
    [
        ("a.JSONL", b"anything", "jsonl"),
        ("-", b'{"comments": [], "tokens": [', "jsonl"),
        ("-", b'\xef\xbb\xbf{"tokens": [', "jsonl"),
        ("a.CONLL09", b"anything", "conll"),
        ("a.txt", ROW, "conll"),
        ("-", b"\xef\xbb\xbf# a comment\n\n1-2\tdon't\t", "conll"),
        ("-", b"0.1\tempty", "conll"),
        ("-", b"\n \r\n", "conll"),
        ("-", b"", "conll"),
        ("a.txt", b"\n \r\n", "text"),
        ("a.txt", b"\n\n" + ROW, "conll"),
        ("a.txt", b"\n\nSome text.", "text"),
        ("a.conllu", b"\n\nSome text.", "conll"),
        ("-", b"# a heading\n", "text"),
        ("-", b"# a heading\nand text", "text"),
        ("a.txt", b"1 2 3", "text"),
    ],
)
def test_an_input_is_recognised_by_name_and_content(name: str, start: bytes, format: str) -> None:
    assert detect_input_format(name, start) == format


@pytest.mark.parametrize("suffix", [".gz", ".GZ", ".xz", ".Xz"])
def test_outputs_are_compressed_by_suffix_in_any_case(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.conllu{suffix}"
    with open_output(path) as stream:
        stream.write(ROW)
    assert UNPACK[suffix.lower()](path.read_bytes()) == ROW
