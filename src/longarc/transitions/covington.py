"""Covington's non-projective algorithm (Covington 2001) as a transition system (Nivre 2008): Shift, No-Arc, Left-Arc
and Right-Arc between i, the last word of λ1, and j, the first word of the buffer; O(n²) transitions.
"""

from __future__ import annotations

import numpy as np

from longarc.transitions.covington_state import (
    CovingtonFamily,
    CovingtonState,
    legal_arcs,
    link,
    next_gold_partner,
    shift,
)
from longarc.transitions.system import Ints, Mask

SHIFT, NO_ARC, LEFT_ARC, RIGHT_ARC = range(4)
NAMES = ("Shift", "No-Arc", "Left-Arc", "Right-Arc")


class Covington(CovingtonFamily):
    """Choices: Shift, No-Arc, Left-Arc, Right-Arc, in this order."""

    name = "covington"
    has_no_arc = True

    def legal(self, state: CovingtonState) -> Mask:
        at_i = state.rows, np.maximum(state.left, 0)
        left, right = legal_arcs(state, state.left[:, None], state.heads[at_i][:, None], state.tree[at_i][:, None])
        no_arc = state.buffer_left & (state.left >= state.first)
        return np.stack([state.buffer_left, no_arc, left[:, 0], right[:, 0]], axis=1)

    def slots(self, state: CovingtonState) -> Ints:
        i, j = np.maximum(state.left, 0), state.focus
        layout = state.layout
        return np.stack([layout.shift(j), layout.no_arc(i, j), layout.arc(j, i), layout.arc(i, j)], axis=1)

    def apply(self, state: CovingtonState, choice: Ints) -> None:
        shift(state, np.flatnonzero(choice == SHIFT))
        rows = np.flatnonzero(choice >= LEFT_ARC)
        i, j = state.left[rows], state.front[rows]
        is_left = choice[rows] == LEFT_ARC
        link(state, rows, np.where(is_left, j, i), np.where(is_left, i, j))
        state.left[choice >= NO_ARC] -= 1

    def preferred(self, state: CovingtonState, gold: Ints) -> Ints:
        """The arc between i and j if the gold tree has it; No-Arc while one is pending further left; else Shift."""
        partner = next_gold_partner(state, gold)
        is_left = gold[state.rows, np.maximum(partner, 0)] == state.focus
        arc = np.where(is_left, LEFT_ARC, RIGHT_ARC)
        choice = np.where(partner < 0, SHIFT, np.where(partner == state.left, arc, NO_ARC))
        return np.where(state.buffer_left, choice, -1)

    def longest(self, length: int) -> int:
        return length + length * (length + 1) // 2

    def names(self, state: CovingtonState, choice: Ints) -> list[str]:
        return [NAMES[index] for index in choice]
