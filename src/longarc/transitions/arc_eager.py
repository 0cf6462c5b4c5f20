"""Arc-eager (Nivre 2003): arcs between the top of the stack and the first word of the buffer, with right arcs added as
soon as both words are seen; Reduce pops a word that has its head.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD
from longarc.transitions.stack_state import StackState, StackSystem
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable

SHIFT, REDUCE, LEFT_ARC, RIGHT_ARC = range(4)


class ArcEager(StackSystem):
    """Choices: Shift, Reduce, Left-Arc, Right-Arc, in this order."""

    name = "arc-eager"
    reference = "Nivre (2003)"
    transition_names = ("Shift", "Reduce", "Left-Arc", "Right-Arc")
    has_reduce = True

    def legal(self, state: StackState) -> Mask:
        top, going = state.top, state.buffer_left
        headless = state.heads[state.rows, top] == NO_HEAD
        # With a single root, its child stays on the stack: later words can always be attached to it.
        below_is_root = (state.second == 0) & state.single_root
        root_full = (top == 0) & state.root_taken
        return np.stack(
            [going, going & ~headless & ~below_is_root, going & headless & (top > 0), going & ~root_full], axis=1
        )

    def gather(self, state: StackState, table: ScoreTable) -> NDArray[Any]:
        assert table.reduce is not None
        row, top, front = state.sentence, state.top, state.focus
        return np.stack(
            [
                table.shift[row, front],
                table.reduce[row, top],
                table.arcs[row, front, top],
                table.arcs[row, top, front],
            ],
            axis=1,
        )

    def apply(self, state: StackState, choice: Ints) -> ArcChanges:
        rows = np.flatnonzero(choice >= LEFT_ARC)
        top, front, is_left = state.top[rows], state.front[rows], choice[rows] == LEFT_ARC
        changes = state.add_arcs(rows, np.where(is_left, front, top), np.where(is_left, top, front))
        state.size[(choice == REDUCE) | (choice == LEFT_ARC)] -= 1
        state.push_front(np.flatnonzero((choice == SHIFT) | (choice == RIGHT_ARC)))
        return changes

    def finished(self, state: StackState) -> Mask:
        return ~state.buffer_left

    def preferred(self, state: StackState, gold: Ints) -> Ints:
        """Take a gold arc; Reduce while the first word of the buffer has a gold arc below the top; else Shift."""
        top, front = state.top, state.focus
        left = (top > 0) & (gold[state.rows, top] == front) & (state.heads[state.rows, top] == NO_HEAD)
        head = gold[state.rows, front]
        below = state.nodes < top[:, None]
        needs_below = (head < top) | (below & (gold == front[:, None])).any(axis=1)
        reduce = needs_below & (state.heads[state.rows, top] != NO_HEAD)
        choice = np.where(left, LEFT_ARC, np.where(head == top, RIGHT_ARC, np.where(reduce, REDUCE, SHIFT)))
        return np.where(state.buffer_left, choice, -1)
