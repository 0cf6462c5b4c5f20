"""Paths that follow the model's own choices now and then, with the correct transitions of every configuration on them.

A model that is trained on the static oracle's path only never sees the configurations that its own mistakes lead to.
The dynamic oracle tells which transitions are correct there (Goldberg & Nivre 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from longarc.transitions.system import Ints, Mask, ScoreTable, State, TransitionSystem


@dataclass(frozen=True)
class ExploredPaths:
    """The configurations on the paths of a batch. Positions are those of TransitionSystem.positions."""

    sentences: Ints
    """[configurations] the row of each configuration's sentence"""
    legal: Ints
    """[legal transitions] their positions"""
    legal_of: Ints
    """[legal transitions] the configuration that each belongs to"""
    correct: Ints
    """[correct transitions] their positions; every configuration has at least one"""
    correct_of: Ints
    """[correct transitions] the configuration that each belongs to"""


def explore(
    system: TransitionSystem[Any],
    lengths: Ints,
    gold: Ints,
    scores: ScoreTable,
    *,
    single_root: bool,
    probability: float,
    rng: np.random.Generator,
) -> ExploredPaths:
    """Follow the best-scored transition with this probability, and else the best-scored correct one, to the end.

    lengths: [batch] in words. gold: [batch, N]. With `single_root`, gold trees must have one root.
    """
    state = system.initial(lengths, single_root=single_root)
    table = system.positions(state)
    parts: dict[str, list[Ints]] = {name: [] for name in ExploredPaths.__annotations__}
    configurations = 0
    while (legal := system.legal(state)).any():
        active = np.flatnonzero(legal.any(axis=1))
        positions, values = system.gather(state, table), system.gather(state, scores)
        correct = correct_transitions(system, state, gold, legal, positions)
        parts["sentences"].append(active)
        for name, mask in (("legal", legal), ("correct", correct)):
            rows, columns = np.nonzero(mask[active])
            parts[name].append(positions[active[rows], columns])
            parts[f"{name}_of"].append(configurations + rows)
        configurations += len(active)
        follows = rng.random(len(state.rows)) < probability
        allowed = np.where(follows[:, None], legal, correct)
        choice = np.where(allowed, values, -np.inf).argmax(axis=1)
        choice[~legal.any(axis=1)] = -1
        system.apply(state, choice)
    return ExploredPaths(**{name: np.concatenate(arrays or [np.zeros(0, np.int64)]) for name, arrays in parts.items()})


def correct_transitions(system: TransitionSystem[Any], state: State, gold: Ints, legal: Mask, positions: Ints) -> Mask:
    """[batch, K] The transitions after which the system's loss is as low as it can be, among gold arcs and transitions
    that add no arc.

    There always is one: a system can do without any arc that is not gold. An arc that is not gold can have no cost if
    the gold head of its dependent is out of reach, but teaches nothing.
    """
    nodes = len(state.nodes)
    is_arc = positions < nodes * nodes
    heads, dependents = np.divmod(np.where(is_arc, positions, 0), nodes)
    is_gold = gold[state.rows[:, None], dependents] == heads
    rows, choices = np.nonzero(legal & (~is_arc | is_gold))
    after = state.take(rows)
    system.apply(after, choices)
    losses = system.loss(after, gold[rows])
    lowest = np.full(len(state.rows), np.iinfo(np.int64).max)
    np.minimum.at(lowest, rows, losses)
    best = losses == lowest[rows]
    correct = np.zeros_like(legal)
    correct[rows[best], choices[best]] = True
    return correct
