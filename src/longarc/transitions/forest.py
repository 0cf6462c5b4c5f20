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

    def attach(self, words: Mask, heads: Ints) -> None:
        """Attach the headless `words` [batch, N] to their `heads` [batch, N]; `tree` is only right if these close no
        cycles."""
        self.heads[words] = heads[words]
        self.headless &= ~words
        size = len(self.nodes)
        starts = size * self.rows[:, None]  # nodes are numbered throughout the batch
        ancestors = (np.where(words, heads, self.tree) + starts).ravel()
        for _ in range(size.bit_length()):  # each round doubles the steps towards the root
            ancestors = ancestors[ancestors]
        self.tree = ancestors.reshape(-1, size) - starts
        if self.single_root:
            self.root_taken |= (words & (heads == 0)).any(axis=1)


def last_of_first_cycle(heads: Ints) -> Ints:
    """[batch] Return the smallest word that closes a cycle, if words are attached from left to right to `heads`
    [batch, N], where the head of node 0 is 0; N if there are no cycles."""
    batch, size = heads.shape
    starts = size * np.arange(batch)[:, None]  # nodes are numbered throughout the batch
    ancestors = (heads + starts).ravel()
    largest = np.tile(np.arange(size), batch)  # on the path from each node to its ancestor
    for _ in range(size.bit_length()):  # each round doubles the steps that have been taken
        largest = np.maximum(largest, largest[ancestors])
        ancestors = ancestors[ancestors]
    # After so many steps, an ancestor is node 0 or in a cycle, and a path has visited all nodes of its cycle.
    closing = largest[ancestors].reshape(heads.shape)
    return np.asarray(np.where(ancestors.reshape(heads.shape) == starts, size, closing).min(axis=1))
