"""Score tables from flat rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions import SYSTEMS
from longarc.transitions.system import ScoreTable


def width(name: str, nodes: int) -> int:
    """The numbers that a sentence with so many nodes needs."""
    return SYSTEMS[name].row_width(nodes)


def score_table(name: str, flat: NDArray[Any]) -> ScoreTable:
    """Rows [batch, width] as a table: arcs, Shift, and then Reduce or No-Arc if the system has them."""
    system, batch = SYSTEMS[name], len(flat)
    nodes = next(n for n in range(1, 2000) if system.row_width(n) == flat.shape[1])
    arcs, shift, rest = np.split(flat, [nodes**2, nodes**2 + nodes], axis=1)
    return ScoreTable(
        arcs.reshape(batch, nodes, nodes),
        shift,
        rest if system.has_reduce else None,
        rest.reshape(batch, nodes, nodes) if system.has_no_arc else None,
    )


def longest(name: str, words: int) -> int:
    """The largest number of transitions that a sentence of so many words can take."""
    all_pairs = words + words * (words + 1) // 2
    lengths = {"covington": all_pairs, "non-monotonic-covington": all_pairs, "pointer": words, "mst": words}
    # Where heads can be replaced, each word of λ1 can be linked with each j.
    lengths["non-monotonic-nl-covington"] = all_pairs
    return lengths.get(name, 2 * words)
