"""Arc-standard (Nivre 2004): arcs between the two topmost words of the stack, a word attached when it is complete."""

from __future__ import annotations

import numpy as np

from longarc.transitions.stack_state import StackState, StackSystem
from longarc.transitions.system import Ints, Mask

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)
NAMES = ("Shift", "Left-Arc", "Right-Arc")


class ArcStandard(StackSystem):
    """Choices: Shift; Left-Arc (the top governs the word below it); Right-Arc (the word below governs the top)."""

    name = "arc-standard"

    def legal(self, state: StackState) -> Mask:
        # With one root only, its child is attached last of all: then everything else is below that word.
        root_waits = (state.second == 0) & state.buffer_left & state.single_root
        return np.stack(
            [state.buffer_left, state.size > 2, (state.size > 1) & ~root_waits],
            axis=1,
        )

    def slots(self, state: StackState) -> Ints:
        top, second = state.top, state.second
        layout = state.layout
        return np.stack([layout.shift(state.focus), layout.arc(top, second), layout.arc(second, top)], axis=1)

    def apply(self, state: StackState, choice: Ints) -> None:
        top, second = state.top, state.second
        left, right = np.flatnonzero(choice == LEFT_ARC), np.flatnonzero(choice == RIGHT_ARC)
        state.add_arcs(left, top[left], second[left])
        state.add_arcs(right, second[right], top[right])
        state.stack[left, state.size[left] - 2] = top[left]
        state.size[choice >= LEFT_ARC] -= 1
        state.push_front(np.flatnonzero(choice == SHIFT))

    def finished(self, state: StackState) -> Mask:
        return np.asarray(~state.buffer_left & (state.size == 1))

    def preferred(self, state: StackState, gold: Ints) -> Ints:
        """Left-Arc as soon as it is right, Right-Arc when the top has all its dependents, else Shift."""
        top, second = state.top, state.second
        left = (second > 0) & (gold[state.rows, second] == top)
        right = (top > 0) & (gold[state.rows, top] == second) & state.without_pending_dependents(top, gold)
        # With an empty buffer and no arc left to build (the tree is not projective) words are popped one by one.
        right |= ~state.buffer_left
        choice = np.where(left, LEFT_ARC, np.where(right, RIGHT_ARC, SHIFT))
        return np.where(self.finished(state), -1, choice)

    def names(self, state: StackState, choice: Ints) -> list[str]:
        return [NAMES[index] for index in choice]
