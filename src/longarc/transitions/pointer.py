"""Left-to-right attachment with pointers (Fernández-González & Gómez-Rodríguez, NAACL 2019): each word in turn takes
its head among all nodes of the sentence, as long as the arc closes no cycle. A tree over n words takes n transitions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.crossing import crossed_arcs, first_crossing
from longarc.transitions.forest import ForestState, last_of_first_cycle
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable, TransitionSystem

MOST_CELLS, LEAST_GAIN = 100_000, 4
"""A shortcut takes as long as several steps. It is not repeated above this number of pairs of nodes in a batch, padding
included, or once it has attached fewer words than this per unfinished sentence."""


class PointerState(ForestState):
    """A batch of configurations; the words before `front` have heads."""

    best: Ints | None = None
    """[batch, N] The best head of each word, whether legal or not, once it is known"""
    repeats: bool = True
    """Whether the shortcut has attached enough words to be repeated"""

    def lists(self, row: int) -> dict[str, list[int]]:
        return {
            "Attached": list(range(1, self.front[row])),
            "Buffer": list(range(self.front[row], self.lengths[row] + 1)),
        }


class Pointer(TransitionSystem[PointerState]):
    """Choices: x attaches the first word of the buffer to node x."""

    name = "pointer"
    reference = "Fernández-González & Gómez-Rodríguez (2019)"
    projective = False
    has_crossing_cost = True

    def initial(self, lengths: NDArray[np.integer[Any]], *, single_root: bool = True) -> PointerState:
        return PointerState(lengths, single_root)

    def shortcut(self, state: PointerState, scores: ScoreTable) -> None:
        """Attach each word of the buffer to its best head, up to the first word for which that is illegal or crosses
        arcs at a cost: no other head is better."""
        batch, size, lengths = len(state.rows), len(state.nodes), state.lengths[:, None]
        if state.best is None:  # an initial configuration, so that rows are sentences
            is_head = (state.nodes <= lengths)[:, :, None] & (state.nodes[:, None] != state.nodes)
            state.best = np.where(is_head, scores.arcs, -np.inf).argmax(axis=1)
        elif not state.repeats or batch * size**2 > MOST_CELLS:
            return
        is_waiting = (state.nodes >= state.front[:, None]) & (state.nodes <= lengths)
        heads = np.where(is_waiting, state.best, np.maximum(state.heads, 0))
        certain = is_waiting & (state.nodes < self._first_conflict(state, heads, scores)[:, None])
        state.attach(certain, heads)
        state.front += certain.sum(axis=1)
        state.repeats = bool(certain.sum() >= LEAST_GAIN * is_waiting.any(axis=1).sum())

    def _first_conflict(self, state: PointerState, heads: Ints, scores: ScoreTable) -> Ints:
        """[batch] Return the first word of the buffer whose best head need not be the search's choice; N if there is
        none. heads: [batch, N], the best ones for the words of the buffer, and 0 for the root and for padding."""
        nodes, size = state.nodes, len(state.nodes)
        first = last_of_first_cycle(heads)
        if state.single_root:
            is_root = (heads == 0) & (nodes > 0) & (nodes <= state.lengths[:, None])
            later_root = np.cumsum(is_root, axis=1) > 1
            first = np.minimum(first, np.where(later_root.any(axis=1), later_root.argmax(axis=1), size))
        if scores.crossing_cost and self.has_crossing_cost:
            first = np.minimum(first, first_crossing(heads, state.front))
        return first

    def legal(self, state: PointerState) -> Mask:
        last = np.where(state.buffer_left, state.lengths, -1)[:, None]
        legal = (state.nodes <= last) & (state.tree != state.focus[:, None])
        legal[:, 0] &= ~state.root_taken
        return np.asarray(legal)

    def gather(self, state: PointerState, table: ScoreTable) -> NDArray[Any]:
        values = table.arcs[state.sentence, :, state.focus]
        if table.crossing_cost and self.has_crossing_cost:
            values = values - (table.crossing_cost * crossed_arcs(state.heads, state.focus)).astype(values.dtype)
        return np.asarray(values)

    def apply(self, state: PointerState, choice: Ints) -> ArcChanges:
        rows = np.flatnonzero(choice >= 0)
        changes = state.add_arcs(rows, choice[rows], state.front[rows])
        state.front[rows] += 1
        return changes

    def finished(self, state: PointerState) -> Mask:
        return ~state.buffer_left

    def preferred(self, state: PointerState, gold: Ints) -> Ints:
        """Attach the word to its gold head."""
        return np.where(state.buffer_left, gold[state.rows, state.focus], -1)

    def complete(self, state: PointerState, scores: ScoreTable) -> ArcChanges:
        """Do nothing: every word has a head."""
        return ArcChanges.of([])

    def names(self, state: PointerState, choice: Ints) -> list[str]:
        return [f"Attach_{head}" for head in choice]
