"""Read the cells of tables that a command printed."""

from __future__ import annotations

import re


def cells_of(printed: str | bytes) -> list[list[str]]:
    """Return the cells of each line; columns are at least two spaces apart."""
    text = printed if isinstance(printed, str) else printed.decode()
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
