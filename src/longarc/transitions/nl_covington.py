"""NL-Covington: Covington's algorithm with non-local transitions (Fernández-González & Gómez-Rodríguez 2018).

Left-Arc_k and Right-Arc_k link j, the first word of the buffer, with the k-th word of λ1 from the right and move k
words to λ2 at once; No-Arc is gone. A tree over n words takes exactly 2n transitions.
"""

from __future__ import annotations

import numpy as np

from longarc.data.sentence import NO_HEAD
from longarc.transitions.covington_state import (
    CovingtonFamily,
    CovingtonState,
    legal_arcs,
    link,
    next_gold_partner,
    shift,
)
from longarc.transitions.system import Ints, Mask, Scores

SHIFT = 0


class NLCovington(CovingtonFamily):
    """Choices: 0 is Shift, 1 + x is the Left-Arc with word x of λ1, 1 + N + x the Right-Arc with it."""

    name = "nl-covington"

    def legal(self, state: CovingtonState) -> Mask:
        left, right = legal_arcs(state, state.nodes[None, :], state.heads, state.tree)
        return np.concatenate([state.buffer_left[:, None], left, right], axis=1)

    def slots(self, state: CovingtonState) -> Ints:
        focus = state.focus[:, None]
        layout = state.layout
        return np.concatenate(
            [layout.shift(focus), layout.arc(focus, state.nodes), layout.arc(state.nodes, focus)], axis=1
        )

    def values(self, state: CovingtonState, scores: Scores) -> Scores:
        """What `legal` and `slots` say, in half the time: the search spends most of its own here."""
        n, rows, focus = len(state.nodes), state.rows, state.focus
        buffer_left = state.buffer_left
        arcs = scores[:, : n * n].reshape(-1, n, n)
        found = np.full((len(rows), 1 + 2 * n), -np.inf, scores.dtype)
        found[:, SHIFT] = np.where(buffer_left, scores[rows, state.layout.shift(focus)], found[:, SHIFT])
        last = np.where(buffer_left, state.left, -1)[:, None]
        left = (state.nodes <= last) & (state.heads == NO_HEAD)
        left &= state.nodes != state.tree[rows, focus][:, None]
        left[:, : max(1, state.first)] = False
        np.copyto(found[:, 1 : 1 + n], arcs[rows, focus], where=left)
        last[state.heads[rows, focus] != NO_HEAD] = -1
        right = (state.nodes <= last) & (state.tree != focus[:, None])
        right[:, : state.first] = False
        if state.single_root:
            right[:, 0] &= ~state.root_taken
        np.copyto(found[:, 1 + n :], arcs[rows, :, focus], where=right)
        return found

    def apply(self, state: CovingtonState, choice: Ints) -> None:
        n = len(state.nodes)
        shift(state, np.flatnonzero(choice == SHIFT))
        rows = np.flatnonzero(choice > SHIFT)
        partner = (choice[rows] - 1) % n
        is_left = choice[rows] <= n
        focus = state.front[rows]
        link(state, rows, np.where(is_left, focus, partner), np.where(is_left, partner, focus))
        state.left[rows] = partner - 1

    def preferred(self, state: CovingtonState, gold: Ints) -> Ints:
        """The shortest pending gold arc that involves j, else Shift; there is no spurious ambiguity."""
        partner = next_gold_partner(state, gold)
        is_left = gold[state.rows, np.maximum(partner, 0)] == state.focus
        arc = 1 + partner + np.where(is_left, 0, len(state.nodes))
        return np.where(state.buffer_left, np.where(partner < 0, SHIFT, arc), -1)

    def longest(self, length: int) -> int:
        return 2 * length

    def names(self, state: CovingtonState, choice: Ints) -> list[str]:
        n = len(state.nodes)
        found = []
        for row, index in enumerate(choice):
            k = state.left[row] - (index - 1) % n + 1
            found.append("Shift" if index == SHIFT else f"{'Left' if index <= n else 'Right'}-Arc_{k}")
        return found
