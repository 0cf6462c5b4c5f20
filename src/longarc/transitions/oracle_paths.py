"""The configurations on a static oracle's path, with the legal transitions of each, stored compactly: everything that a
loss over transitions needs.

The position of a score is stored as a pair (row, column) that does not depend on the batch the sentence will be in. The
row is the head for an arc, and negative for the scores that follow the arcs (see `TransitionSystem.positions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.static_oracle import follow_oracle, pad_heads
from longarc.transitions.system import Ints, TransitionSystem

Places = NDArray[np.int16]
"""[count, 2] row and column"""

MAX_NODES = np.iinfo(np.int16).max // 2


@dataclass(frozen=True)
class OraclePath:
    """The legal and the correct transitions of every configuration on one sentence's path."""

    legal: Places
    """The legal transitions of all configurations, one configuration after the other"""
    counts: NDArray[np.int16]
    """[configurations] how many legal transitions each has"""
    chosen: Places
    """[configurations] the oracle's transition"""


def oracle_paths(
    system: TransitionSystem[Any], heads: Sequence[NDArray[np.integer[Any]]], *, single_root: bool
) -> list[OraclePath]:
    """Run the oracle over a batch of trees."""
    lengths, gold = pad_heads(heads)
    state = system.initial(lengths, single_root=single_root)
    table = system.positions(state)
    legal_owners: list[Ints] = []
    legal_positions: list[Ints] = []
    owners: list[Ints] = []
    positions: list[Ints] = []
    counts: list[Ints] = []

    def record(choice: Ints) -> None:
        active = np.flatnonzero(choice >= 0)
        legal = system.legal(state)[active]
        numbers = system.gather(state, table)[active]
        rows, columns = np.nonzero(legal)
        legal_owners.append(active[rows])
        legal_positions.append(numbers[rows, columns])
        owners.append(active)
        positions.append(numbers[np.arange(len(active)), choice[active]])
        counts.append(legal.sum(axis=1))

    for _ in follow_oracle(system, state, gold, before=record):
        pass
    nodes = len(state.nodes)
    all_legal = _places(np.concatenate(legal_positions), nodes)
    all_chosen = _places(np.concatenate(positions), nodes)
    all_counts = np.concatenate(counts).astype(np.int16)
    return [
        OraclePath(all_legal[candidates], all_counts[steps], all_chosen[steps])
        for candidates, steps in zip(_grouped(legal_owners, len(heads)), _grouped(owners, len(heads)), strict=True)
    ]


def _grouped(owners: list[Ints], count: int) -> list[Ints]:
    """Return, for each sentence, its indices in the concatenated owners, in order."""
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.split(order, np.searchsorted(owner[order], np.arange(1, count)))


def _places(positions: Ints, nodes: int) -> Places:
    row, column = np.divmod(positions, nodes)
    return np.stack([np.where(row < nodes, row, nodes - 1 - row), column], axis=1).astype(np.int16)


def positions_of(places: NDArray[np.integer[Any]], nodes: int) -> Ints:
    """Return the positions in the flat rows of a batch whose longest sentence has this many nodes."""
    row = places[:, 0].astype(np.int64)
    return np.asarray(np.where(row >= 0, row, nodes - 1 - row) * nodes + places[:, 1])
