"""The configurations of the non-monotonic Covington systems (Fernández-González & Gómez-Rodríguez, ACL 2017: A Full
Non-Monotonic Transition System for Unrestricted Non-Projective Parsing).

Every arc between j and a word of λ1 is legal. It replaces the head that its dependent has, and if it closes a cycle,
the arc into its own head is removed. So a later transition can correct an earlier one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD
from longarc.transitions.covington_state import CovingtonFamily, CovingtonState
from longarc.transitions.dynamic_oracle import loss
from longarc.transitions.system import ArcChanges, Ints, Mask


class NonMonotonicState(CovingtonState):
    """A batch of configurations whose arcs can be replaced."""

    def legal_arcs(self, x: Ints, headless_x: Mask, tree_of_x: Ints) -> tuple[Mask, Mask]:
        """Return whether the arcs j→x and x→j are legal: whenever x is in λ1, except that the root has no head."""
        last = np.where(self.buffer_left, self.left, -1)[:, None]
        in_left = np.broadcast_to(x <= last, headless_x.shape)
        # With a single root, its only child must get another head before the root can have a new one.
        return in_left & (x > 0), in_left & (x >= np.maximum(self.root_taken, self.first)[:, None])

    def add_arcs(self, rows: Ints, heads: Ints, dependents: Ints) -> ArcChanges:
        """Add one arc in each of the sentences `rows`, and remove those that it is incompatible with."""
        replaced = ~self.headless[rows, dependents]
        self._remove_arcs(rows[replaced], dependents[replaced])
        in_cycle = self.tree[rows, heads] == dependents
        removed_rows, removed = rows[in_cycle], heads[in_cycle]
        self._remove_arcs(removed_rows, removed)
        changes = super().add_arcs(rows, heads, dependents)
        return changes._replace(removed_rows=removed_rows, removed_dependents=removed)

    def _remove_arcs(self, rows: Ints, dependents: Ints) -> None:
        """Remove the arc into one word in each of the sentences `rows`."""
        if not len(rows):
            return
        self.heads[rows, dependents] = NO_HEAD
        self.headless[rows, dependents] = True
        self.root_taken[rows] &= (self.heads[rows] == 0).any(axis=1)
        roots = np.where(self.heads[rows] == NO_HEAD, self.nodes, self.heads[rows])
        for _ in range(len(self.nodes).bit_length()):
            roots = np.take_along_axis(roots, roots, axis=1)
        self.tree[rows] = roots
        self._crossings = None


class NonMonotonic(CovingtonFamily):
    """What the non-monotonic systems share; mixed into a Covington system."""

    def initial(
        self, lengths: NDArray[np.integer[Any]], *, single_root: bool = True, with_root: bool = True
    ) -> NonMonotonicState:
        return NonMonotonicState(lengths, single_root, with_root)

    def loss(self, state: CovingtonState, gold: Ints) -> Ints:
        """[batch] An upper bound: only the arcs between words that have been passed are certainly lost."""
        return loss(state, gold, monotonic=False)
