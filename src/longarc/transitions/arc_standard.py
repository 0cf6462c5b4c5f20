"""Arc-standard (Nivre 2004): arcs between the two topmost words of the stack; words are attached once complete."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.stack_state import StackState, StackSystem
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)


class ArcStandard(StackSystem):
    """Choices: Shift; Left-Arc (top → word below it); Right-Arc (word below the top → top)."""

    name = "arc-standard"
    reference = "Nivre (2004)"
    transition_names = ("Shift", "Left-Arc", "Right-Arc")

    def legal(self, state: StackState) -> Mask:
        # With a single root, its child is attached last, when it dominates every other word.
        root_waits = (state.second == 0) & state.buffer_left & state.single_root
        return np.stack([state.buffer_left, state.size > 2, (state.size > 1) & ~root_waits], axis=1)

    def gather(self, state: StackState, table: ScoreTable) -> NDArray[Any]:
        row, top, second = state.sentence, state.top, state.second
        return np.stack(
            [table.shift[row, state.focus], table.arcs[row, top, second], table.arcs[row, second, top]],
            axis=1,
        )

    def apply(self, state: StackState, choice: Ints) -> ArcChanges:
        rows = np.flatnonzero(choice >= LEFT_ARC)
        top, second, is_left = state.top[rows], state.second[rows], choice[rows] == LEFT_ARC
        changes = state.add_arcs(rows, np.where(is_left, top, second), np.where(is_left, second, top))
        state.stack[rows, state.size[rows] - 2] = changes.heads
        state.size[rows] -= 1
        state.push_front(np.flatnonzero(choice == SHIFT))
        return changes

    def finished(self, state: StackState) -> Mask:
        return np.asarray(~state.buffer_left & (state.size == 1))

    def preferred(self, state: StackState, gold: Ints) -> Ints:
        """Take Left-Arc as soon as it is gold, Right-Arc once the top has all its dependents, else Shift."""
        top, second = state.top, state.second
        left = (second > 0) & (gold[state.rows, second] == top)
        right = (top > 0) & (gold[state.rows, top] == second) & state.without_pending_dependents(top, gold)
        # With an empty buffer and no gold arc left (the tree is not projective), pop the words one by one.
        right |= ~state.buffer_left
        choice = np.where(left, LEFT_ARC, np.where(right, RIGHT_ARC, SHIFT))
        return np.where(self.finished(state), -1, choice)
