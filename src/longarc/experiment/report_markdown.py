"""Functions that write the parts of a report as Markdown, with all user text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cell:
    """A table cell."""

    text: str
    best: bool = False
    significant: bool = False

    def __str__(self) -> str:
        text = f"**{escape(self.text)}**" if self.best else escape(self.text)
        return text + (r"\*" if self.significant else "")


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    texts: int = 1
    """The number of text columns, which come first and are left-aligned; the other columns are numbers."""

    def __str__(self) -> str:
        rule = ["---" if column < self.texts else "---:" for column in range(len(self.head))]
        rows = [[str(cell) if isinstance(cell, Cell) else escape(cell) for cell in row] for row in self.rows]
        return "\n".join(f"| {' | '.join(row)} |" for row in [[escape(title) for title in self.head], rule, *rows])


def heading(text: str, level: int = 2) -> str:
    return f"{'#' * level} {escape(text)}"


def bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape(text)}" for text in texts)


def picture(path: Path, description: str) -> str:
    """Return an image; the path is relative to the report."""
    return f"![{escape(description)}]({path.as_posix()})"


def code(text: str, language: str = "") -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def escape(text: str) -> str:
    """Return Markdown that shows the text as it is, whatever markup it seems to contain."""
    text = re.sub(r"([\\`*_|\[\]<>]|&(?=#?\w+;)|#$)", r"\\\1", text.replace("\n", " "))
    return re.sub(r"^(\s*\d*)([.)+-](?=[\s-]|$)|[#=~])", r"\1\\\2", text)
