"""The configurations that a static oracle passes through, with the transitions that are legal in each: all that a loss
over transitions needs, computed once and kept compactly.

A score's place is kept as a pair (row, column) that does not depend on the batch that the sentence will be in: row is
the head for an arc and negative for the rest of the ScoreLayout's rows, counted from its Shift row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.static_oracle import pad_heads
from longarc.transitions.system import Ints, TransitionSystem

Places = NDArray[np.int16]
"""[count, 2] row and column"""

MAX_NODES = np.iinfo(np.int16).max // 2


@dataclass(frozen=True)
class OracleConfigurations:
    """Of one sentence: for each configuration on the oracle's path what is legal and what is right."""

    legal: Places
    """The legal transitions of all configurations, one configuration after the other."""
    counts: NDArray[np.int16]
    """[configurations] how many of them belong to each."""
    chosen: Places
    """[configurations] the transition that the oracle takes."""


def oracle_configurations(
    system: TransitionSystem[Any], heads: Sequence[NDArray[np.integer[Any]]], *, single_root: bool
) -> list[OracleConfigurations]:
    """Runs the oracle over a batch of trees."""
    lengths, gold = pad_heads(heads)
    state = system.initial(lengths, single_root=single_root)
    nodes = state.layout.nodes
    owners, legal_places, owner_of_chosen, chosen_places, counts = [], [], [], [], []
    while (choice := system.oracle(state, gold)).max(initial=-1) >= 0:
        active = np.flatnonzero(choice >= 0)
        legal = system.legal(state)[active]
        slots = system.slots(state)[active]
        rows, columns = np.nonzero(legal)
        owners.append(active[rows])
        legal_places.append(slots[rows, columns])
        owner_of_chosen.append(active)
        chosen_places.append(slots[np.arange(len(active)), choice[active]])
        counts.append(legal.sum(axis=1))
        system.apply(state, choice)
    by_sentence = _grouped(owners, len(heads))
    chosen_by_sentence = _grouped(owner_of_chosen, len(heads))
    all_legal = _places(np.concatenate(legal_places), nodes)
    all_chosen = _places(np.concatenate(chosen_places), nodes)
    all_counts = np.concatenate(counts).astype(np.int16)
    return [
        OracleConfigurations(all_legal[own], all_counts[steps], all_chosen[steps])
        for own, steps in zip(by_sentence, chosen_by_sentence, strict=True)
    ]


def _grouped(owners: list[Ints], count: int) -> list[Ints]:
    """The positions, in order, at which each sentence occurs in the concatenated owners."""
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.split(order, np.searchsorted(owner[order], np.arange(1, count)))


def _places(slots: Ints, nodes: int) -> Places:
    row, column = np.divmod(slots, nodes)
    return np.stack([np.where(row < nodes, row, nodes - 1 - row), column], axis=1).astype(np.int16)


def slots_of(places: NDArray[np.integer[Any]], nodes: int) -> Ints:
    """The places in the ScoreLayout of a batch whose longest sentence has so many nodes."""
    row = places[:, 0].astype(np.int64)
    return np.asarray(np.where(row >= 0, row, nodes - 1 - row) * nodes + places[:, 1])
