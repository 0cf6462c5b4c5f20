"""The configurations of the Covington family, ⟨λ1, λ2, B, A⟩, and what its systems share.

λ1 and λ2 are always the words 0…i and i+1…j−1 (j the first word of the buffer), so one number, i, holds both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD
from longarc.transitions.system import Ints, Mask, Scores, State, TransitionSystem


class CovingtonState(State):
    """A batch of configurations."""

    def __init__(self, lengths: NDArray[np.integer[Any]], single_root: bool, with_root: bool) -> None:
        super().__init__(lengths, single_root)
        self.first = 0 if with_root else 1
        """The first word of λ1: the root, or word 1 where words without a head wait for the end (as in the figures
        of the paper, which leave the root out)."""
        self.left: Ints = np.zeros(len(self.lengths), dtype=np.int64)
        """[batch] last word of λ1, i in the paper; `first` − 1 when λ1 is empty."""
        self.tree: Ints = np.tile(self.nodes, (len(self.lengths), 1))
        """[batch, N] the root of the partial tree that holds each word: an arc h→d, d headless, closes a cycle
        exactly when d is the root of h's tree."""

    def lists(self, row: int) -> dict[str, list[int]]:
        return {
            "λ1": list(range(self.first, self.left[row] + 1)),
            "λ2": list(range(max(self.first, self.left[row] + 1), self.front[row])),
            "Buffer": list(range(self.front[row], self.lengths[row] + 1)),
        }


class CovingtonFamily(TransitionSystem[CovingtonState]):
    """What Covington and NL-Covington have in common: states, constraints, and how their oracles see the gold tree."""

    projective = False

    def initial(
        self, lengths: NDArray[np.integer[Any]], *, single_root: bool = True, with_root: bool = True
    ) -> CovingtonState:
        """`with_root` = False starts with an empty λ1: the artificial root takes no part in the transitions."""
        return CovingtonState(lengths, single_root, with_root)

    def finished(self, state: CovingtonState) -> Mask:
        return ~state.buffer_left

    def complete(self, state: CovingtonState, scores: Scores) -> None:
        """Each headless word takes the best-scored head that makes no cycle; node 0 first gets its one child."""
        n = state.layout.nodes
        for row in np.flatnonzero(((state.heads == NO_HEAD) & _is_word(state)).any(axis=1)):
            length = int(state.lengths[row])
            heads, tree = state.heads[row], state.tree[row]
            arcs = scores[row, : n * n].reshape(n, n)
            headless = [int(word) for word in np.flatnonzero(heads[1 : length + 1] == NO_HEAD) + 1]
            if not (heads[1 : length + 1] == 0).any():
                best = headless.pop(int(np.argmax(arcs[0, headless])))
                heads[best] = 0
                tree[tree == best] = 0
            first = 1 if state.single_root else 0
            for word in headless:
                candidates = np.flatnonzero(tree[: length + 1] != word)
                candidates = candidates[candidates >= first]
                head = int(candidates[np.argmax(arcs[candidates, word])])
                heads[word] = head
                tree[tree == word] = tree[head]


def _is_word(state: State) -> Mask:
    return np.asarray((state.nodes > 0) & (state.nodes <= state.lengths[:, None]))


def legal_arcs(state: CovingtonState, x: Ints, head_of_x: Ints, tree_of_x: Ints) -> tuple[Mask, Mask]:
    """Whether the arcs j→x and x→j may be added, for words x [batch or 1, m] with their heads and trees [batch, m].

    x must be in λ1; the dependent must be headless (single head) and not above the head (no cycle).
    """
    focus = state.focus
    reachable = (x >= state.first) & (x <= state.left[:, None]) & state.buffer_left[:, None]
    left = reachable & (x > 0) & (head_of_x == NO_HEAD) & (x != state.tree[state.rows, focus][:, None])
    headless = state.heads[state.rows, focus] == NO_HEAD
    right = reachable & headless[:, None] & (tree_of_x != focus[:, None])
    if state.single_root:
        right &= (x > 0) | ~state.root_taken[:, None]
    return left, right


def link(state: CovingtonState, rows: Ints, heads: Ints, dependents: Ints) -> None:
    """Adds one arc in each of the sentences `rows` and joins the two partial trees."""
    state.add_arcs(rows, heads, dependents)
    tree = state.tree[rows]
    joined = tree[np.arange(len(rows)), heads][:, None]
    state.tree[rows] = np.where(tree == dependents[:, None], joined, tree)


def shift(state: CovingtonState, rows: Ints) -> None:
    """λ1 · λ2 | j becomes the new λ1."""
    state.left[rows] = state.front[rows]
    state.front[rows] += 1


def next_gold_partner(state: CovingtonState, gold: Ints) -> Ints:
    """[batch] the word x of λ1 with the shortest pending gold arc between x and j; NO_HEAD where there is none."""
    in_left = (state.nodes >= 1) & (state.nodes <= state.left[:, None])
    dependents = in_left & (gold == state.focus[:, None])
    nearest = np.where(dependents, state.nodes, NO_HEAD).max(axis=1)
    head = gold[state.rows, state.focus]
    head = np.where((head >= state.first) & (head <= state.left), head, NO_HEAD)
    return np.asarray(np.maximum(nearest, head))
