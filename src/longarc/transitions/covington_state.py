"""The configurations of the Covington family, ⟨λ1, λ2, B, A⟩, and the parts that its systems share.

λ1 and λ2 always hold the words 0…i and i+1…j−1, where j is the first word of the buffer, so the number i encodes both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD
from longarc.transitions.crossing import crossed_arcs
from longarc.transitions.dynamic_oracle import loss
from longarc.transitions.forest import ForestState
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable, TransitionSystem


class CovingtonState(ForestState):
    """A batch of configurations."""

    def __init__(self, lengths: NDArray[np.integer[Any]], single_root: bool, with_root: bool) -> None:
        super().__init__(lengths, single_root)
        self.first = 0 if with_root else 1
        """The first word of λ1: the root, or word 1 where the root is left out as in the paper's figures."""
        self.left: Ints = np.zeros(len(self.lengths), dtype=np.int64)
        """[batch] last word of λ1, i in the paper; `first` − 1 when λ1 is empty"""
        self._crossings: Ints | None = None
        """[batch, N] what `crossings` returns when j becomes the first word of the buffer, if it was called"""
        self._attached: Ints = np.zeros(len(self.lengths), dtype=np.int64)
        """[batch] words that became dependents of j since then"""

    @property
    def crossings(self) -> Ints:
        """[batch, N] How many crossings the arc between each word x of λ1 and j brings about: one for each arc that it
        crosses, and one for each headless word inside it, which only a crossing arc can attach later."""
        if self._crossings is None:
            dependents = self.heads == self.front[:, None]
            headless = (self.headless | dependents).cumsum(axis=1)
            inside = headless[self.rows, self.focus - 1][:, None] - headless
            before_focus = self.nodes < self.front[:, None]
            self._crossings = np.where(before_focus, crossed_arcs(self.heads, self.front) + inside, 0)
            self._attached = dependents.sum(axis=1)
        return self._crossings - self._attached[:, None]  # all of them are inside, because x is further left

    def legal_arcs(self, x: Ints, headless_x: Mask, tree_of_x: Ints) -> tuple[Mask, Mask]:
        """Return whether the arcs j→x and x→j are legal, for words x [batch or 1, m]; other arguments [batch, m].

        x must be in λ1, the dependent must be headless, and the arc must not close a cycle.
        """
        at_focus = self.rows, self.focus
        in_left = x <= np.where(self.buffer_left, self.left, -1)[:, None]
        left = in_left & headless_x
        left &= x != self.tree[at_focus][:, None]
        right = in_left & (tree_of_x != at_focus[1][:, None])
        first_head = np.maximum(self.root_taken, self.first)
        right &= x >= np.where(self.headless[at_focus], first_head, len(self.nodes))[:, None]
        return left, right

    def add_arcs(self, rows: Ints, heads: Ints, dependents: Ints) -> ArcChanges:
        if self._crossings is not None:
            self._attached[rows] += dependents < heads
        return super().add_arcs(rows, heads, dependents)

    def shift(self, rows: Ints) -> None:
        """Make λ1 · λ2 | j the new λ1 in each of the sentences `rows`."""
        focus = self.front[rows]
        if self._crossings is not None and len(rows):
            self._crossings[rows] += self._new_crossings(rows, focus)
            self._attached[rows] = 0
        self.left[rows] = focus
        self.front[rows] = focus + 1

    def _new_crossings(self, rows: Ints, focus: Ints) -> Ints:
        """[rows, N] How `_crossings` changes in the sentences `rows` when the word after j becomes the new j."""
        own_head = self.heads[rows, focus]
        dependents = self.heads[rows] == focus[:, None]
        up_to = dependents.cumsum(axis=1)
        # An arc between x and the new j crosses the arcs between words to the left of x and j. The dependents of j to
        # the right of x are no longer headless; j itself may be.
        changes = 2 * up_to - dependents - up_to[:, -1:]
        changes += self.nodes > own_head[:, None]  # NO_HEAD is lower than all nodes
        changes *= self.nodes < focus[:, None]
        return np.asarray(changes)

    def lists(self, row: int) -> dict[str, list[int]]:
        return {
            "λ1": list(range(self.first, self.left[row] + 1)),
            "λ2": list(range(max(self.first, self.left[row] + 1), self.front[row])),
            "Buffer": list(range(self.front[row], self.lengths[row] + 1)),
        }


class CovingtonFamily(TransitionSystem[CovingtonState]):
    """The states, constraints and oracles that Covington and NL-Covington share."""

    projective = False
    has_crossing_cost = True
    has_dynamic_oracle = True

    def initial(
        self, lengths: NDArray[np.integer[Any]], *, single_root: bool = True, with_root: bool = True
    ) -> CovingtonState:
        """With `with_root=False` λ1 starts empty: the artificial root takes no part in the transitions."""
        return CovingtonState(lengths, single_root, with_root)

    def loss(self, state: CovingtonState, gold: Ints) -> Ints:
        return loss(state, gold)

    def finished(self, state: CovingtonState) -> Mask:
        return ~state.buffer_left

    def complete(self, state: CovingtonState, scores: ScoreTable) -> ArcChanges:
        """Attach each headless word to the best-scored head that closes no cycle; node 0 first gets its one child."""
        changes = []
        is_word = (state.nodes > 0) & (state.nodes <= state.lengths[:, None])
        for row in np.flatnonzero(((state.heads == NO_HEAD) & is_word).any(axis=1)):
            length = int(state.lengths[row])
            heads, tree, arcs = state.heads[row], state.tree[row], scores.arcs[state.sentence[row]]
            headless = [int(word) for word in np.flatnonzero(heads[1 : length + 1] == NO_HEAD) + 1]
            if not (heads[1 : length + 1] == 0).any():
                values = arcs[0, headless]
                if scores.crossing_cost:
                    crossed = crossed_arcs(np.tile(heads, (len(headless), 1)), np.array(headless))
                    values = values - scores.crossing_cost * crossed[:, 0]
                best = headless.pop(int(np.argmax(values)))
                heads[best] = 0
                tree[tree == best] = 0
                changes.append((int(row), 0, best))
            first = 1 if state.single_root else 0
            for word in headless:
                candidates = np.flatnonzero(tree[: length + 1] != word)
                candidates = candidates[candidates >= first]
                values = arcs[candidates, word]
                if scores.crossing_cost:
                    crossed = crossed_arcs(heads[None], np.array([word]))
                    values = values - scores.crossing_cost * crossed[0, candidates]
                head = int(candidates[np.argmax(values)])
                heads[word] = head
                tree[tree == word] = tree[head]
                changes.append((int(row), head, word))
        return ArcChanges.of(changes)


def next_gold_partner(state: CovingtonState, gold: Ints) -> Ints:
    """[batch] The word x of λ1 with the shortest pending gold arc between x and j; NO_HEAD where there is none."""
    in_left = (state.nodes >= 1) & (state.nodes <= state.left[:, None])
    dependents = in_left & (gold == state.focus[:, None])
    nearest = np.where(dependents, state.nodes, NO_HEAD).max(axis=1)
    head = gold[state.rows, state.focus]
    head = np.where((head >= state.first) & (head <= state.left), head, NO_HEAD)
    return np.asarray(np.maximum(nearest, head))
