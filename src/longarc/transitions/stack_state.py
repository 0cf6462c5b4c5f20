"""The configurations of the stack-based projective systems, (stack, buffer, arcs), and the parts that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable, State, TransitionSystem


class StackState(State):
    """A batch of configurations. Every stack starts with the root at its bottom."""

    def __init__(self, lengths: NDArray[np.integer[Any]], single_root: bool) -> None:
        super().__init__(lengths, single_root)
        self.stack: Ints = np.zeros((len(self.lengths), len(self.nodes)), dtype=np.int64)
        """[batch, N] from the bottom up; entries from `size` on are stale"""
        self.size: Ints = np.ones(len(self.lengths), dtype=np.int64)

    @property
    def top(self) -> Ints:
        """[batch] The top of the stack."""
        return np.asarray(self.stack[self.rows, self.size - 1])

    @property
    def second(self) -> Ints:
        """[batch] The word below the top; the root where there is none."""
        return np.where(self.size > 1, self.stack[self.rows, np.maximum(self.size - 2, 0)], 0)

    def push_front(self, rows: Ints) -> None:
        """Move the first word of the buffer to the stack in each of the sentences `rows`."""
        self.stack[rows, self.size[rows]] = self.front[rows]
        self.size[rows] += 1
        self.front[rows] += 1

    def lists(self, row: int) -> dict[str, list[int]]:
        return {
            "Stack": self.stack[row, : self.size[row]].tolist(),
            "Buffer": list(range(self.front[row], self.lengths[row] + 1)),
        }

    def without_pending_dependents(self, word: Ints, gold: Ints) -> Mask:
        """[batch] True where `word` [batch] has all its gold dependents."""
        return np.asarray(~((gold == word[:, None]) & (self.heads == NO_HEAD)).any(axis=1))


class StackSystem(TransitionSystem[StackState]):
    """The parts that arc-standard, arc-hybrid, arc-eager and arc-swift share."""

    projective = True

    def initial(self, lengths: NDArray[np.integer[Any]], *, single_root: bool = True) -> StackState:
        return StackState(lengths, single_root)

    def complete(self, state: StackState, scores: ScoreTable) -> ArcChanges:
        """Attach each headless word on the stack to the word below it: projective, and never a second root."""
        above = (state.nodes > 0) & (state.nodes < state.size[:, None])
        headless = above & (np.take_along_axis(state.heads, state.stack, axis=1) == NO_HEAD)
        rows, positions = np.nonzero(headless)
        dependents, heads = state.stack[rows, positions], state.stack[rows, positions - 1]
        state.heads[rows, dependents] = heads
        return ArcChanges(rows, heads, dependents)
