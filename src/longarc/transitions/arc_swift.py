"""Arc-swift (Qi & Manning 2017): arc-eager with its Reduce transitions folded into non-local arcs.

Right-Arc_k attaches the first word of the buffer to the k-th word of the stack from the top, popping the words above
it, which must have heads; Left-Arc attaches the topmost headless word of the stack to the first word of the buffer.
"""

from __future__ import annotations

import numpy as np

from longarc.data.sentence import NO_HEAD
from longarc.transitions.stack_state import StackState, StackSystem
from longarc.transitions.system import Ints, Mask

SHIFT, LEFT_ARC, FIRST_RIGHT_ARC = range(3)


class ArcSwift(StackSystem):
    """Choices: 0 is Shift, 1 Left-Arc, 2 + p the Right-Arc from the word at position p of the stack, 0 the bottom."""

    name = "arc-swift"

    def legal(self, state: StackState) -> Mask:
        going = state.buffer_left
        target = _topmost_headless(state)
        right = (state.nodes >= target[:, None]) & (state.nodes < state.size[:, None]) & going[:, None]
        right[:, 0] &= ~state.root_taken
        return np.concatenate([going[:, None], (going & (target > 0))[:, None], right], axis=1)

    def slots(self, state: StackState) -> Ints:
        front = state.focus
        dependent = state.stack[state.rows, _topmost_headless(state)]
        layout = state.layout
        local = np.stack([layout.shift(front), layout.arc(front, dependent)], axis=1)
        return np.concatenate([local, layout.arc(state.stack, front[:, None])], axis=1)

    def apply(self, state: StackState, choice: Ints) -> None:
        left = np.flatnonzero(choice == LEFT_ARC)
        target = _topmost_headless(state)[left]
        state.add_arcs(left, state.front[left], state.stack[left, target])
        state.size[left] = target
        right = np.flatnonzero(choice >= FIRST_RIGHT_ARC)
        position = choice[right] - FIRST_RIGHT_ARC
        state.add_arcs(right, state.stack[right, position], state.front[right])
        state.size[right] = position + 1
        state.push_front(np.flatnonzero((choice == SHIFT) | (choice >= FIRST_RIGHT_ARC)))

    def finished(self, state: StackState) -> Mask:
        return ~state.buffer_left

    def preferred(self, state: StackState, gold: Ints) -> Ints:
        """The arc that is right, the left one first; else Shift."""
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
        found = []
        for row, index in enumerate(choice):
            position = target[row] if index == LEFT_ARC else index - FIRST_RIGHT_ARC
            side = "Left" if index == LEFT_ARC else "Right"
            found.append("Shift" if index == SHIFT else f"{side}-Arc_{state.size[row] - position}")
        return found


def _topmost_headless(state: StackState) -> Ints:
    """[batch] the position in the stack of the topmost word without a head; the root, which has none, at the latest."""
    headless = np.take_along_axis(state.heads, state.stack, axis=1) == NO_HEAD
    return np.asarray(np.where(headless & (state.nodes < state.size[:, None]), state.nodes, 0).max(axis=1))
