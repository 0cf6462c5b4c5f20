"""What a tree looks like: whether it is one, its roots, crossing and non-projective arcs, gap degree.

Heads are arrays [n + 1] with `heads[d]` the head of node d and `heads[0]` = NO_HEAD.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from longarc.data.conll import RowError
from longarc.data.sentence import NO_HEAD, Sentence

Heads = NDArray[np.int32]
Mask = NDArray[np.bool_]


def find_cycle(heads: Heads) -> list[int]:
    """The nodes of the first cycle that is found when heads are followed from left to right; [] if there is none."""
    state = [0] * len(heads)  # 0 not seen yet, otherwise the start of the walk that saw the node
    pointers = heads.tolist()
    for start in range(1, len(pointers)):
        node = start
        while node > 0 and not state[node]:
            state[node] = start
            node = pointers[node]
        if node > 0 and state[node] == start:
            cycle = [node]
            while pointers[cycle[-1]] != node:
                cycle.append(pointers[cycle[-1]])
            return cycle
    return []


def root_children(heads: Heads) -> int:
    """How many words hang on the artificial root."""
    return int((heads[1:] == 0).sum())


def is_tree(heads: Heads, *, single_root: bool = False) -> bool:
    """Whether every word has a head within the sentence and no word is its own ancestor (and one child of 0)."""
    n = len(heads) - 1
    if n and not (heads[1:].min() >= 0 and heads[1:].max() <= n):
        return False
    return not find_cycle(heads) and (not single_root or root_children(heads) == 1)


def require_tree(sentence: Sentence) -> None:
    """A check for the reader: refuses a sentence whose HEAD column is not a tree."""
    heads = sentence.heads
    if (missing := np.flatnonzero(heads[1:] == NO_HEAD)).size:
        raise _error(sentence, int(missing[0]), "HEAD is _: the word has no head", "A complete tree is needed here.")
    _require_acyclic(sentence, heads)


def require_tree_if_any(sentence: Sentence) -> None:
    """A check for the reader: as `require_tree`, but heads that are not there at all will do."""
    _require_acyclic(sentence, sentence.heads)


def _require_acyclic(sentence: Sentence, heads: Heads) -> None:
    if cycle := find_cycle(heads):
        path = " → ".join(str(node) for node in [*cycle, cycle[0]])
        hint = "Every word must lead to the root by way of its heads; mend the file, or use --skip-invalid."
        raise _error(sentence, cycle[0] - 1, f"the heads form a cycle: {path}", hint)


def _error(sentence: Sentence, word: int, message: str, hint: str) -> RowError:
    row = next(i for i, row in enumerate(sentence.rows) if row is sentence.words[word])
    return RowError(row, message, hint)


def dominance(heads: Heads) -> Mask:
    """[n + 1, n + 1] whether node a is an ancestor of node d, or d itself, at [a, d]."""
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
    """[n + 1] whether the arc into each node is projective: all words strictly inside it descend from its head.

    The root, which has no arc, and words without a head count as projective.
    """
    n = len(heads)
    nodes = np.arange(n)
    low, high = np.minimum(heads, nodes), np.maximum(heads, nodes)
    has_head = heads >= 0
    inside = np.where(has_head, high - low - 1, 0)
    # Row d of `descendants` counts, up to each position, the words that d's head dominates.
    descendants = np.zeros((n, n + 1), dtype=np.int32)
    np.cumsum(dominance(heads)[np.where(has_head, heads, 0)], axis=1, out=descendants[:, 1:])
    found = descendants[nodes, high] - descendants[nodes, np.minimum(low + 1, high)]
    return np.asarray(~has_head | (found == inside))


def is_projective(heads: Heads) -> bool:
    """Whether every arc of the tree is projective."""
    return bool(projective_arcs(heads).all())


def crossing_arcs(heads: Heads) -> Mask:
    """[n + 1, n + 1] whether the arcs into two nodes cross: exactly one end of one lies strictly inside the other."""
    nodes = np.arange(len(heads))
    low = np.minimum(heads, nodes)[:, None]
    high = np.maximum(heads, nodes)[:, None]
    crosses = (low < low.T) & (high > low.T) & (high < high.T)
    has_head = heads >= 0
    return np.asarray((crosses | crosses.T) & has_head[:, None] & has_head[None, :])


def gap_degree(heads: Heads) -> int:
    """The largest number of gaps in the yield of any node (Bodirsky, Kuhlmann & Möhl 2005); 0 for a projective tree."""
    yields = dominance(heads)
    starts = yields[:, 0].astype(np.int32) + (yields[:, 1:] & ~yields[:, :-1]).sum(axis=1)
    return int(starts.max()) - 1
