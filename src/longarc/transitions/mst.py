"""Graph-based parsing (McDonald et al. 2005) in the terms of a transition system: each word takes its best head, and if
the result is not a tree, `complete` replaces it by the maximum spanning tree (Chu & Liu 1965; Edmonds 1967).

The loss is that of head selection: one softmax over all nodes for each word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.pointer import Pointer, PointerState
from longarc.transitions.system import ArcChanges, Ints, Mask, ScoreTable
from longarc.trees.structure import find_cycle, root_children


class Mst(Pointer):
    """Choices: x attaches the first word of the buffer to node x, even if that closes a cycle."""

    name = "mst"
    reference = "McDonald et al. (2005)"
    has_crossing_cost = False

    def _first_conflict(self, state: PointerState, heads: Ints, scores: ScoreTable) -> Ints:
        return np.full(len(state.rows), len(state.nodes))

    def legal(self, state: PointerState) -> Mask:
        last = np.where(state.buffer_left, state.lengths, -1)[:, None]
        return np.asarray((state.nodes <= last) & (state.nodes != state.focus[:, None]))

    def complete(self, state: PointerState, scores: ScoreTable) -> ArcChanges:
        """Replace heads that do not form a tree, or have several roots where one is allowed, by the best tree."""
        arcs = []
        for row, length in enumerate(state.lengths.tolist()):
            heads = state.heads[row, : length + 1]
            if not find_cycle(heads) and not (state.single_root and root_children(heads) > 1):
                continue
            table = scores.arcs[state.sentence[row], : length + 1, : length + 1].astype(np.float64)
            tree = maximum_spanning_tree(table, single_root=state.single_root)
            arcs += [(row, int(tree[word]), word) for word in np.flatnonzero(tree != heads).tolist()]
            heads[:] = tree
        return ArcChanges.of(arcs)


def maximum_spanning_tree(scores: NDArray[np.float64], *, single_root: bool) -> Ints:
    """[N] Return the heads of the best tree rooted in node 0, for scores [N, N] by head and dependent.

    With `single_root`, root arcs are lowered by more than any tree can gain, so that the best tree has one of them
    (Stanojević & Cohen 2021).
    """
    # Scaled to [−1, 0], which does not change the best tree; halved first, since the largest numbers may be there.
    low, high = scores.min() / 2, scores.max() / 2
    scores = (scores / 2 - high) / (high - low if high > low else 1)
    if single_root:
        scores[0] -= 1 + len(scores)
    np.fill_diagonal(scores, -np.inf)
    scores[:, 0] = -np.inf
    return _spanning_tree(scores)


def _spanning_tree(scores: NDArray[np.float64]) -> Ints:
    """Chu-Liu-Edmonds: contract a cycle of best heads to one node, solve the smaller graph, and expand it."""
    heads: Ints = scores.argmax(axis=0)
    heads[0] = -1
    cycle = find_cycle(heads)
    if not cycle:
        return heads
    inside = np.zeros(len(scores), dtype=np.bool_)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)
    members = np.flatnonzero(inside)
    # An arc into the cycle replaces one of its arcs.
    gains = scores[np.ix_(outside, members)] - scores[heads[members], members]
    entry, exits = gains.argmax(axis=1), scores[np.ix_(members, outside)].argmax(axis=0)
    contracted = np.full((len(outside) + 1, len(outside) + 1), -np.inf)
    contracted[:-1, :-1] = scores[np.ix_(outside, outside)]
    contracted[:-1, -1] = gains.max(axis=1)
    contracted[-1, :-1] = scores[members[exits], outside]
    solved = _spanning_tree(contracted)
    into_cycle = solved[-1]
    for position, head in enumerate(solved[:-1].tolist()):
        if position:
            heads[outside[position]] = members[exits[position]] if head == len(outside) else outside[head]
    heads[members[entry[into_cycle]]] = outside[into_cycle]
    return heads
