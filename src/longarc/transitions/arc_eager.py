"""Arc-eager (Nivre 2003): arcs between the top of the stack and the first word of the buffer, right arcs as soon as
both words are seen; Reduce pops a word that has its head.
"""

from __future__ import annotations

import numpy as np

from longarc.data.sentence import NO_HEAD
from longarc.transitions.stack_state import StackState, StackSystem
from longarc.transitions.system import Ints, Mask

SHIFT, REDUCE, LEFT_ARC, RIGHT_ARC = range(4)
NAMES = ("Shift", "Reduce", "Left-Arc", "Right-Arc")


class ArcEager(StackSystem):
    """Choices: Shift, Reduce, Left-Arc, Right-Arc, in this order."""

    name = "arc-eager"
    has_reduce = True

    def legal(self, state: StackState) -> Mask:
        top, going = state.top, state.buffer_left
        headless = state.heads[state.rows, top] == NO_HEAD
        # With one root only, its child stays on the stack: words to come can always be attached to it.
        below_is_root = (state.second == 0) & state.single_root
        root_full = (top == 0) & state.root_taken
        return np.stack(
            [going, going & ~headless & ~below_is_root, going & headless & (top > 0), going & ~root_full],
            axis=1,
        )

    def slots(self, state: StackState) -> Ints:
        top, front = state.top, state.focus
        layout = state.layout
        return np.stack(
            [layout.shift(front), layout.reduce(top), layout.arc(front, top), layout.arc(top, front)], axis=1
        )

    def apply(self, state: StackState, choice: Ints) -> None:
        top = state.top
        left, right = np.flatnonzero(choice == LEFT_ARC), np.flatnonzero(choice == RIGHT_ARC)
        state.add_arcs(left, state.front[left], top[left])
        state.add_arcs(right, top[right], state.front[right])
        state.size[(choice == REDUCE) | (choice == LEFT_ARC)] -= 1
        state.push_front(np.flatnonzero((choice == SHIFT) | (choice == RIGHT_ARC)))

    def finished(self, state: StackState) -> Mask:
        return ~state.buffer_left

    def preferred(self, state: StackState, gold: Ints) -> Ints:
        """An arc if it is right; Reduce while the buffer's first word has an arc with a word below the top; else
        Shift."""
        top, front = state.top, state.focus
        left = (top > 0) & (gold[state.rows, top] == front) & (state.heads[state.rows, top] == NO_HEAD)
        head = gold[state.rows, front]
        below = state.nodes < top[:, None]
        wanted_below = (head < top) | (below & (gold == front[:, None])).any(axis=1)
        reduce = wanted_below & (state.heads[state.rows, top] != NO_HEAD)
        choice = np.where(left, LEFT_ARC, np.where(head == top, RIGHT_ARC, np.where(reduce, REDUCE, SHIFT)))
        return np.where(state.buffer_left, choice, -1)

    def names(self, state: StackState, choice: Ints) -> list[str]:
        return [NAMES[index] for index in choice]
