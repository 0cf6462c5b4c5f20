"""The paper's example sentence and its transition sequences (figures 3 and 4)."""

from __future__ import annotations

import pytest

from tests.helpers.tree_generators import (
    as_heads,
)

EXAMPLE = as_heads([0, 1, 1, 5, 1])

FIGURE_3 = """
       | [ ]             | [ ]          | [ 1, 2, 3, 4, 5 ] |
    SH | [ 1 ]           | [ ]          | [ 2, 3, 4, 5 ]    |
    RA | [ ]             | [ 1 ]        | [ 2, 3, 4, 5 ]    | 1 → 2
    SH | [ 1, 2 ]        | [ ]          | [ 3, 4, 5 ]       |
    NA | [ 1 ]           | [ 2 ]        | [ 3, 4, 5 ]       |
    RA | [ ]             | [ 1, 2 ]     | [ 3, 4, 5 ]       | 1 → 3
    SH | [ 1, 2, 3 ]     | [ ]          | [ 4, 5 ]          |
    SH | [ 1, 2, 3, 4 ]  | [ ]          | [ 5 ]             |
    LA | [ 1, 2, 3 ]     | [ 4 ]        | [ 5 ]             | 4 ← 5
    NA | [ 1, 2 ]        | [ 3, 4 ]     | [ 5 ]             |
    NA | [ 1 ]           | [ 2, 3, 4 ]  | [ 5 ]             |
    RA | [ ]             | [ 1, 2, 3, 4 ] | [ 5 ]           | 1 → 5
    SH | [ 1, 2, 3, 4, 5 ] | [ ]        | [ ]               |
"""

FIGURE_4 = """
         | [ ]               | [ ]            | [ 1, 2, 3, 4, 5 ] |
    SH   | [ 1 ]             | [ ]            | [ 2, 3, 4, 5 ]    |
    RA_1 | [ ]               | [ 1 ]          | [ 2, 3, 4, 5 ]    | 1 → 2
    SH   | [ 1, 2 ]          | [ ]            | [ 3, 4, 5 ]       |
    RA_2 | [ ]               | [ 1, 2 ]       | [ 3, 4, 5 ]       | 1 → 3
    SH   | [ 1, 2, 3 ]       | [ ]            | [ 4, 5 ]          |
    SH   | [ 1, 2, 3, 4 ]    | [ ]            | [ 5 ]             |
    LA_1 | [ 1, 2, 3 ]       | [ 4 ]          | [ 5 ]             | 4 ← 5
    RA_3 | [ ]               | [ 1, 2, 3, 4 ] | [ 5 ]             | 1 → 5
    SH   | [ 1, 2, 3, 4, 5 ] | [ ]            | [ ]               |
"""

ABBREVIATIONS = {"SH": "Shift", "NA": "No-Arc", "LA": "Left-Arc", "RA": "Right-Arc"}

figures = pytest.mark.parametrize(
    ("name", "figure", "transitions"),
    [("covington", FIGURE_3, 12), ("nl-covington", FIGURE_4, 9)],
    ids=["covington", "nl-covington"],
)


def rows_of(figure: str) -> list[list[str]]:
    """The cells of a figure: transition, λ1, λ2, buffer, arc."""
    return [[cell.strip() for cell in line.split("|")] for line in figure.strip("\n").split("\n")]
