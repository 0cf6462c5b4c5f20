"""Properties of dependency trees: cycles, roots, projectivity, crossing arcs, gap degree.

Heads are arrays [n + 1]: `heads[d]` is the head of node d, and `heads[0]` is NO_HEAD.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.conll import RowError
from longarc.data.sentence import HEAD, Sentence

Heads = NDArray[np.int32]
Mask = NDArray[np.bool_]


def find_cycle(heads: NDArray[np.integer[Any]]) -> list[int]:
    """Return the nodes of one cycle, each followed by its head, or [] if there is none."""
    visited_from = [0] * len(heads)  # the word whose walk to the root first passed the node; 0 if none did yet
    pointers = heads.tolist()
    for start in range(1, len(pointers)):
        node = start
        while node > 0 and not visited_from[node]:
            visited_from[node] = start
            node = pointers[node]
        if node > 0 and visited_from[node] == start:
            cycle = [node]
            while pointers[cycle[-1]] != node:
                cycle.append(pointers[cycle[-1]])
            return cycle
    return []


def describe_cycle(cycle: list[int]) -> str:
    """Return the error message for a cycle, such as "the heads form a cycle: 1 → 2 → 1"."""
    return "the heads form a cycle: " + " → ".join(map(str, [*cycle, cycle[0]]))


def root_children(heads: NDArray[np.integer[Any]]) -> int:
    """Return the number of words attached to the artificial root."""
    return int((heads[1:] == 0).sum())


def is_tree(heads: Heads, *, single_root: bool = False) -> bool:
    """Return whether every word has a head and there is no cycle (and, for `single_root`, one child of the root)."""
    n = len(heads) - 1
    if n and not (heads[1:].min() >= 0 and heads[1:].max() <= n):
        return False
    return not find_cycle(heads) and (not single_root or root_children(heads) == 1)


def require_heads(sentence: Sentence, hint: str = "Only complete trees can be used here.") -> None:
    """Raise RowError if a word has no head."""
    for number, word in enumerate(sentence.word_rows, 1):
        if word[HEAD] == "_":
            raise RowError(sentence.row_of(number), "HEAD is _: the word has no head", hint)


def require_acyclic(sentence: Sentence, hint: str = "Correct the heads: each word must lead to the root.") -> None:
    """Raise RowError if the heads form a cycle. Words without a head are allowed."""
    if cycle := find_cycle(sentence.node_heads):
        raise RowError(sentence.row_of(cycle[0]), describe_cycle(cycle), hint)


def require_tree(sentence: Sentence) -> None:
    """Raise RowError if the heads do not form a tree."""
    require_heads(sentence)
    require_acyclic(sentence)


def dominance(heads: Heads) -> Mask:
    """Return [n + 1, n + 1]: True at [a, d] if node a is d or an ancestor of d."""
    nodes = np.arange(len(heads))
    reach = np.eye(len(heads), dtype=np.bool_)
    parent = np.where(heads < 0, nodes, heads)
    ancestor = nodes
    for _ in nodes:
        above = parent[ancestor]
        if np.array_equal(above, ancestor):
            break
        ancestor = above
        reach[ancestor, nodes] = True
    return reach


def projective_arcs(heads: Heads) -> Mask:
    """Return [n + 1]: whether the arc into each node is projective, that is, its head dominates all words inside it.

    True for the root and for words without a head.
    """
    n = len(heads)
    nodes = np.arange(n)
    low, high = np.minimum(heads, nodes), np.maximum(heads, nodes)
    has_head = heads >= 0
    inside = np.where(has_head, high - low - 1, 0)
    # dominated[d, k]: how many of the first k nodes the head of d dominates
    dominated = np.zeros((n, n + 1), dtype=np.int32)
    np.cumsum(dominance(heads)[np.where(has_head, heads, 0)], axis=1, out=dominated[:, 1:])
    dominated_inside = dominated[nodes, high] - dominated[nodes, np.minimum(low + 1, high)]
    return np.asarray(~has_head | (dominated_inside == inside))


def is_projective(heads: Heads) -> bool:
    """Return whether every arc is projective."""
    return bool(projective_arcs(heads).all())


def crossing_arcs(heads: Heads) -> Mask:
    """Return [n + 1, n + 1]: whether the arcs into two nodes cross, one end of each being strictly inside the other."""
    nodes = np.arange(len(heads))
    low = np.minimum(heads, nodes)[:, None]
    high = np.maximum(heads, nodes)[:, None]
    crosses = (low < low.T) & (high > low.T) & (high < high.T)
    has_head = heads >= 0
    return np.asarray((crosses | crosses.T) & has_head[:, None] & has_head[None, :])


def gap_degree(heads: Heads) -> int:
    """Return the largest number of gaps in the yield of any node (Bodirsky, Kuhlmann & Möhl 2005)."""
    yields = dominance(heads)
    starts = yields[:, 0].astype(np.int32) + (yields[:, 1:] & ~yields[:, :-1]).sum(axis=1)
    return int(starts.max()) - 1
