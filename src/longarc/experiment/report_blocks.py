"""A report as a list of blocks, which can be written as Markdown; `page` writes the same as HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Items:
    """A list with bullets."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Cell:
    """A field of a table."""

    text: str
    best: bool = False
    significant: bool = False


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    texts: int = 1
    """So many columns are words and start at the left; the others are figures."""


@dataclass(frozen=True)
class Picture:
    path: Path
    """Of an SVG file, relative to the report."""
    description: str


@dataclass(frozen=True)
class Code:
    text: str
    language: str = ""


Block = Heading | Paragraph | Items | Table | Picture | Code


def to_markdown(blocks: Sequence[Block]) -> str:
    """The blocks, with a blank line between them."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {_escape(text)}"
        case Paragraph(text):
            return _escape(text)
        case Items(texts):
            return "\n".join(f"- {_escape(text)}" for text in texts)
        case Picture(path, description):
            return f"![{_escape(description)}]({path.as_posix()})"
        case Code(text, language):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            return f"{fence}{language}\n{text.rstrip()}\n{fence}"
        case Table(head, rows, texts):
            rule = ["---" if column < texts else "---:" for column in range(len(head))]
            lines = [
                [_escape(title) for title in head],
                rule,
                *([_markdown_cell(cell) for cell in row] for row in rows),
            ]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return _escape(cell)
    text = f"**{_escape(cell.text)}**" if cell.best else _escape(cell.text)
    return text + (r"\*" if cell.significant else "")


def _escape(text: str) -> str:
    """Text as it is, whatever signs of Markdown or HTML are in it."""
    return re.sub(r"([\\`*_|\[\]<>])", r"\\\1", text.replace("\n", " "))
