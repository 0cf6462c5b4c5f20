"""Arc-swift (Qi & Manning 2017): arc-eager with its Reduce transitions folded into non-local arcs.

Right-Arc_k attaches the first word of the buffer to the k-th word of the stack from the top and pops the words above
it, which must have heads. Left-Arc attaches the topmost headless word of the stack to the first word of the buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD
from longarc.transitions.stack_state import StackState, StackSystem
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable

SHIFT, LEFT_ARC, FIRST_RIGHT_ARC = range(3)


class ArcSwift(StackSystem):
    """Choices: 0 is Shift, 1 Left-Arc, 2 + p the Right-Arc from position p of the stack, 0 being the bottom."""

    name = "arc-swift"
    reference = "Qi & Manning (2017)"

    def legal(self, state: StackState) -> Mask:
        going = state.buffer_left
        target = _topmost_headless(state)
        right = (state.nodes >= target[:, None]) & (state.nodes < state.size[:, None]) & going[:, None]
        right[:, 0] &= ~state.root_taken
        return np.concatenate([going[:, None], (going & (target > 0))[:, None], right], axis=1)

    def gather(self, state: StackState, table: ScoreTable) -> NDArray[Any]:
        sentence, front = state.sentence, state.focus
        dependent = state.stack[state.rows, _topmost_headless(state)]
        local = np.stack([table.shift[sentence, front], table.arcs[sentence, front, dependent]], axis=1)
        return np.concatenate([local, table.arcs[sentence[:, None], state.stack, front[:, None]]], axis=1)

    def apply(self, state: StackState, choice: Ints) -> ArcChanges:
        rows = np.flatnonzero(choice >= LEFT_ARC)
        is_left = choice[rows] == LEFT_ARC
        position = np.where(is_left, _topmost_headless(state)[rows], choice[rows] - FIRST_RIGHT_ARC)
        word, front = state.stack[rows, position], state.front[rows]
        changes = state.add_arcs(rows, np.where(is_left, front, word), np.where(is_left, word, front))
        state.size[rows] = np.where(is_left, position, position + 1)
        state.push_front(np.flatnonzero((choice == SHIFT) | (choice >= FIRST_RIGHT_ARC)))
        return changes

    def finished(self, state: StackState) -> Mask:
        return ~state.buffer_left

    def preferred(self, state: StackState, gold: Ints) -> Ints:
        """Take a gold arc, Left-Arc first; else Shift."""
        front = state.focus
        target = _topmost_headless(state)
        dependent = state.stack[state.rows, target]
        left = (target > 0) & (gold[state.rows, dependent] == front)
        reachable = (state.nodes >= target[:, None]) & (state.nodes < state.size[:, None])
        is_head = reachable & (state.stack == gold[state.rows, front][:, None])
        right = np.where(is_head.any(axis=1), FIRST_RIGHT_ARC + is_head.argmax(axis=1), SHIFT)
        return np.where(state.buffer_left, np.where(left, LEFT_ARC, right), -1)

    def names(self, state: StackState, choice: Ints) -> list[str]:
        target = _topmost_headless(state)
        names = []
        for row, index in enumerate(choice):
            position = target[row] if index == LEFT_ARC else index - FIRST_RIGHT_ARC
            side = "Left" if index == LEFT_ARC else "Right"
            names.append("Shift" if index == SHIFT else f"{side}-Arc_{state.size[row] - position}")
        return names


def _topmost_headless(state: StackState) -> Ints:
    """[batch] The stack position of the topmost headless word; 0, the root's, if all others have heads."""
    headless = np.take_along_axis(state.heads, state.stack, axis=1) == NO_HEAD
    return np.asarray(np.where(headless & (state.nodes < state.size[:, None]), state.nodes, 0).max(axis=1))
