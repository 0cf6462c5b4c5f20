"""States that know the partial tree of every word, for systems that must not close cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.system import ArcChanges, Ints, Mask, State


class ForestState(State):
    """A batch of configurations whose arcs form forests."""

    def __init__(self, lengths: NDArray[np.integer[Any]], single_root: bool) -> None:
        super().__init__(lengths, single_root)
        self.headless: Mask = np.tile(self.nodes > 0, (len(self.lengths), 1))
        """[batch, N] True for words without a head"""
        self.tree: Ints = np.tile(self.nodes, (len(self.lengths), 1))
        """[batch, N] the root of each word's partial tree. For a headless word d, the arc h→d closes a cycle if and
        only if d is the root of h's partial tree."""

    def add_arcs(self, rows: Ints, heads: Ints, dependents: Ints) -> ArcChanges:
        """Add one arc in each of the sentences `rows` and join the two partial trees."""
        tree, joined = self.tree[rows], self.tree[rows, heads]
        self.tree[rows] = np.where(tree == dependents[:, None], joined[:, None], tree)
        self.headless[rows, dependents] = False
        return super().add_arcs(rows, heads, dependents)


def lead_to_root(heads: Ints) -> Mask:
    """[batch] Return whether the path from every node along `heads` [batch, N] ends in node 0, whose head is 0."""
    ancestors = heads
    for _ in range(heads.shape[1].bit_length()):  # each round doubles the steps that have been taken
        ancestors = np.take_along_axis(ancestors, ancestors, axis=1)
    return np.asarray((ancestors == 0).all(axis=1))
