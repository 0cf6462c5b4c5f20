"""NL-Covington: Covington's algorithm with non-local transitions (Fernández-González & Gómez-Rodríguez 2018).

Left-Arc_k and Right-Arc_k link j, the first word of the buffer, with the k-th word of λ1 from the right and move k
words to λ2 at once; there is no No-Arc. A tree over n words takes exactly 2n transitions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.covington_state import (
    CovingtonFamily,
    CovingtonState,
    next_gold_partner,
)
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable

SHIFT = 0


class NLCovington(CovingtonFamily):
    """Choices: 0 is Shift, 1 + x is the Left-Arc with word x of λ1, 1 + N + x the Right-Arc with it."""

    name = "nl-covington"
    reference = "Fernández-González & Gómez-Rodríguez (2018)"

    def legal(self, state: CovingtonState) -> Mask:
        left, right = state.legal_arcs(state.nodes, state.headless, state.tree)
        return np.concatenate([state.buffer_left[:, None], left, right], axis=1)

    def gather(self, state: CovingtonState, table: ScoreTable) -> NDArray[Any]:
        sentence, focus = state.sentence, state.focus
        shifts = table.shift[sentence, focus][:, None]
        left, right = table.arcs[sentence, focus], table.arcs[sentence, :, focus]
        if table.crossing_cost:
            cost = (table.crossing_cost * state.crossings).astype(left.dtype)
            left -= cost
            right -= cost
        return np.concatenate([shifts, left, right], axis=1)

    def apply(self, state: CovingtonState, choice: Ints) -> ArcChanges:
        n = len(state.nodes)
        state.shift((choice == SHIFT).nonzero()[0])
        rows = (choice > SHIFT).nonzero()[0]
        if not len(rows):
            return ArcChanges.of([])
        focus, arc = state.front[rows], choice[rows] - 1
        is_left = arc < n
        partner = np.where(is_left, arc, arc - n)
        state.left[rows] = partner - 1
        return state.add_arcs(rows, np.where(is_left, focus, partner), np.where(is_left, partner, focus))

    def preferred(self, state: CovingtonState, gold: Ints) -> Ints:
        """Take the shortest pending gold arc that involves j, else Shift; there is no spurious ambiguity."""
        partner = next_gold_partner(state, gold)
        is_left = gold[state.rows, np.maximum(partner, 0)] == state.focus
        arc = 1 + partner + np.where(is_left, 0, len(state.nodes))
        return np.where(state.buffer_left, np.where(partner < 0, SHIFT, arc), -1)

    def names(self, state: CovingtonState, choice: Ints) -> list[str]:
        n = len(state.nodes)
        names = []
        for row, index in enumerate(choice):
            k = state.left[row] - (index - 1) % n + 1
            names.append("Shift" if index == SHIFT else f"{'Left' if index <= n else 'Right'}-Arc_{k}")
        return names
