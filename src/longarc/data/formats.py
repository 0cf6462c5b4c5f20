"""File formats by file name and by content. Suffixes are matched in any case; `.gz` and `.xz` are ignored."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Literal

InputFormat = Literal["conll", "jsonl", "tokens", "text"]
"""How an input is read. `conll` is CoNLL-U or CoNLL-X; `tokens` (a sentence per line) is never detected."""

COMPRESSION_SUFFIXES = (".gz", ".xz")

FORMATS = {
    ".conllu": "conllu",
    ".conll": "conllx",
    ".conllx": "conllx",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "text",
}

_JSON_LINE = re.compile(rb'\{"(comments|tokens)": *\[')
_CONLL_ROW = re.compile(rb"\d+(?:[-.]\d+)?\t")


def format_suffix(path: str | Path) -> str:
    """Return the suffix that names the format, in lower case: `.conllu` for `train.CONLLU.gz`, else an empty string."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSION_SUFFIXES), "")


def format_of_path(path: str | Path) -> str | None:
    """Return the format that a file name stands for, or None if its suffix is missing or unknown."""
    return FORMATS.get(format_suffix(path))


def detect_input_format(path: str | Path, start: bytes) -> InputFormat:
    """Return the format of an input from its name and its first bytes; `-` and unknown suffixes are decided by content.

    Any suffix that begins with `.conll` is CoNLL. A `.txt` file may contain any format, so its content decides. If
    there are only blank lines, a `.txt` file is text and any other CoNLL.
    """
    if format_of_path(path) == "jsonl" or is_sentence_object(start):
        return "jsonl"
    if format_suffix(path).startswith(".conll"):
        return "conll"
    if not start.removeprefix(codecs.BOM_UTF8).strip():
        return "text" if format_of_path(path) == "text" else "conll"
    return "conll" if _looks_like_conll(start) else "text"


def is_sentence_object(start: bytes) -> bool:
    """Return whether the first line looks like a sentence in JSON."""
    return _JSON_LINE.match(start.removeprefix(codecs.BOM_UTF8)) is not None


def _looks_like_conll(start: bytes) -> bool:
    """Return whether the first line that is neither blank nor a comment is a CoNLL row.

    An input of comments only does not count as CoNLL: plain text may contain `#` lines.
    """
    lines = [line for line in start.removeprefix(codecs.BOM_UTF8).splitlines() if line.strip()]
    first = next((line for line in lines if not line.startswith(b"#")), b"")
    return _CONLL_ROW.match(first) is not None
