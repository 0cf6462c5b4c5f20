"""Arc-hybrid (Kuhlmann, Gómez-Rodríguez & Satta 2011): the head of the top of the stack is the first word of the
buffer, as in arc-eager, or the word below the top, as in arc-standard.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.stack_state import StackState, StackSystem
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)


class ArcHybrid(StackSystem):
    """Choices: Shift; Left-Arc (front of the buffer → top); Right-Arc (word below the top → top)."""

    name = "arc-hybrid"
    reference = "Kuhlmann, Gómez-Rodríguez & Satta (2011)"
    transition_names = ("Shift", "Left-Arc", "Right-Arc")

    def legal(self, state: StackState) -> Mask:
        # With a single root, its child is attached last, when it dominates every other word.
        root_waits = (state.second == 0) & state.buffer_left & state.single_root
        has_word = state.size > 1
        return np.stack([state.buffer_left, state.buffer_left & has_word, has_word & ~root_waits], axis=1)

    def gather(self, state: StackState, table: ScoreTable) -> NDArray[Any]:
        row, top, front = state.sentence, state.top, state.focus
        return np.stack(
            [table.shift[row, front], table.arcs[row, front, top], table.arcs[row, state.second, top]],
            axis=1,
        )

    def apply(self, state: StackState, choice: Ints) -> ArcChanges:
        rows = np.flatnonzero(choice >= LEFT_ARC)
        heads = np.where(choice[rows] == LEFT_ARC, state.front[rows], state.second[rows])
        changes = state.add_arcs(rows, heads, state.top[rows])
        state.size[rows] -= 1
        state.push_front(np.flatnonzero(choice == SHIFT))
        return changes

    def finished(self, state: StackState) -> Mask:
        return np.asarray(~state.buffer_left & (state.size == 1))

    def preferred(self, state: StackState, gold: Ints) -> Ints:
        """Take a gold arc as soon as the top has all its dependents, else Shift."""
        top = state.top
        complete = (top > 0) & state.without_pending_dependents(top, gold)
        head = gold[state.rows, top]
        left = complete & state.buffer_left & (head == state.front)
        # With an empty buffer and no gold arc left (the tree is not projective), pop the words one by one.
        right = (complete & (head == state.second)) | ~state.buffer_left
        choice = np.where(left, LEFT_ARC, np.where(right, RIGHT_ARC, SHIFT))
        return np.where(self.finished(state), -1, choice)
