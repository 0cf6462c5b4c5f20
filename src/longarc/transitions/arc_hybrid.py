"""Arc-hybrid (Kuhlmann, Gómez-Rodríguez & Satta 2011): the top of the stack is governed by the first word of the buffer
(as in arc-eager) or by the word below it (as in arc-standard).
"""

from __future__ import annotations

import numpy as np

from longarc.transitions.stack_state import StackState, StackSystem
from longarc.transitions.system import Ints, Mask

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)
NAMES = ("Shift", "Left-Arc", "Right-Arc")


class ArcHybrid(StackSystem):
    """Choices: Shift; Left-Arc (the buffer's first word governs the top); Right-Arc (the word below the top does)."""

    name = "arc-hybrid"

    def legal(self, state: StackState) -> Mask:
        # With one root only, its child is attached last of all: then everything else is below that word.
        root_waits = (state.second == 0) & state.buffer_left & state.single_root
        return np.stack(
            [
                state.buffer_left,
                state.buffer_left & (state.size > 1),
                (state.size > 1) & ~root_waits,
            ],
            axis=1,
        )

    def slots(self, state: StackState) -> Ints:
        top, front = state.top, state.focus
        layout = state.layout
        return np.stack(
            [layout.shift(front), layout.arc(front, top), layout.arc(state.second, top)],
            axis=1,
        )

    def apply(self, state: StackState, choice: Ints) -> None:
        top, second = state.top, state.second
        left, right = np.flatnonzero(choice == LEFT_ARC), np.flatnonzero(choice == RIGHT_ARC)
        state.add_arcs(left, state.front[left], top[left])
        state.add_arcs(right, second[right], top[right])
        state.size[choice >= LEFT_ARC] -= 1
        state.push_front(np.flatnonzero(choice == SHIFT))

    def finished(self, state: StackState) -> Mask:
        return np.asarray(~state.buffer_left & (state.size == 1))

    def preferred(self, state: StackState, gold: Ints) -> Ints:
        """An arc as soon as it is right and the top has all its dependents, else Shift."""
        top = state.top
        complete = (top > 0) & state.without_pending_dependents(top, gold)
        head = gold[state.rows, top]
        left = complete & state.buffer_left & (head == state.front)
        # With an empty buffer and no arc left to build (the tree is not projective) words are popped one by one.
        right = (complete & (head == state.second)) | ~state.buffer_left
        choice = np.where(left, LEFT_ARC, np.where(right, RIGHT_ARC, SHIFT))
        return np.where(self.finished(state), -1, choice)

    def names(self, state: StackState, choice: Ints) -> list[str]:
        return [NAMES[index] for index in choice]
