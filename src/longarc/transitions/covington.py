"""Covington's non-projective algorithm (Covington 2001) as a transition system (Nivre 2008): Shift, No-Arc, Left-Arc
and Right-Arc between i, the last word of λ1, and j, the first word of the buffer; O(n²) transitions.
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

SHIFT, NO_ARC, LEFT_ARC, RIGHT_ARC = range(4)


class Covington(CovingtonFamily):
    """Choices: Shift, No-Arc, Left-Arc, Right-Arc, in this order."""

    name = "covington"
    reference = "Covington (2001), Nivre (2008)"
    transition_names = ("Shift", "No-Arc", "Left-Arc", "Right-Arc")
    has_no_arc = True

    def legal(self, state: CovingtonState) -> Mask:
        at_i = state.rows, np.maximum(state.left, 0)
        left, right = state.legal_arcs(state.left[:, None], state.headless[at_i][:, None], state.tree[at_i][:, None])
        no_arc = state.buffer_left & (state.left >= state.first)
        return np.stack([state.buffer_left, no_arc, left[:, 0], right[:, 0]], axis=1)

    def gather(self, state: CovingtonState, table: ScoreTable) -> NDArray[Any]:
        assert table.no_arc is not None
        row, i, j = state.sentence, np.maximum(state.left, 0), state.focus
        values = np.stack(
            [
                table.shift[row, j],
                table.no_arc[row, i, j],
                table.arcs[row, j, i],
                table.arcs[row, i, j],
            ],
            axis=1,
        )
        if table.crossing_cost:
            cost = table.crossing_cost * state.crossings[state.rows, i]
            values[:, LEFT_ARC:] -= cost.astype(values.dtype)[:, None]
        return values

    def apply(self, state: CovingtonState, choice: Ints) -> ArcChanges:
        state.shift(np.flatnonzero(choice == SHIFT))
        rows = np.flatnonzero(choice >= LEFT_ARC)
        i, j = state.left[rows], state.front[rows]
        is_left = choice[rows] == LEFT_ARC
        state.left[choice >= NO_ARC] -= 1
        return state.add_arcs(rows, np.where(is_left, j, i), np.where(is_left, i, j))

    def preferred(self, state: CovingtonState, gold: Ints) -> Ints:
        """Take the arc between i and j if it is gold; No-Arc while a gold arc is pending further left; else Shift."""
        partner = next_gold_partner(state, gold)
        is_left = gold[state.rows, np.maximum(partner, 0)] == state.focus
        arc = np.where(is_left, LEFT_ARC, RIGHT_ARC)
        choice = np.where(partner < 0, SHIFT, np.where(partner == state.left, arc, NO_ARC))
        return np.where(state.buffer_left, choice, -1)
