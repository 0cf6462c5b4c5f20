"""Read the cells of tables that a command printed."""

from __future__ import annotations


def cells_of(printed: bytes) -> list[list[str]]:
    lines = printed.decode().replace("┃", "│").splitlines()
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if "│" in line]
