"""Tables and lists that fit a terminal of 80 columns."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table

MIN_WIDTH = 40


def make_table(*headings: str, left: int = 1, title: str = "") -> Table:
    """Return an empty table without vertical lines, whose first `left` columns are aligned to the left.

    Words that are longer than their column continue on the next line. If all headings are empty, none are shown.
    """
    from rich import box
    from rich.table import Column, Table

    columns = [
        Column(heading, justify="left" if number < left else "right", overflow="fold")
        for number, heading in enumerate(headings)
    ]
    return Table(
        *columns,
        box=box.SIMPLE_HEAD,
        show_header=any(headings),
        pad_edge=False,
        collapse_padding=True,
        title=title or None,
        title_justify="left",
        title_style="bold",
    )


def print_wrapped(text: str, *, indent: int = 4, first_indent: int = 0) -> None:
    """Print a text on lines that fit the terminal without cutting words."""
    width = max(MIN_WIDTH, shutil.get_terminal_size().columns)
    wrapped = textwrap.fill(
        text,
        width,
        initial_indent=" " * first_indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    typer.echo(wrapped)
