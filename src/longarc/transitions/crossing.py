"""Count the arcs that a new arc would cross, for searches in which crossing has a cost."""

from __future__ import annotations

import numpy as np

from longarc.data.sentence import NO_HEAD
from longarc.transitions.system import Ints


def crossed_arcs(heads: Ints, word: Ints) -> Ints:
    """[batch, N] The number of arcs in `heads` [batch, N] that an arc between each node and `word` [batch] crosses.

    Two arcs cross if one end of each is strictly inside the other; arcs with a common end do not.
    """
    batch, nodes = heads.shape
    rows, dependents = np.nonzero(heads != NO_HEAD)
    ends, middle = heads[rows, dependents], word[rows]
    low, high = np.minimum(ends, dependents), np.maximum(ends, dependents)
    apart = (low != middle) & (high != middle)
    rows, low, high, middle = rows[apart], low[apart], high[apart], middle[apart]
    # An arc around `word` is crossed from everywhere outside it, another arc from everywhere inside it.
    around = (low < middle) & (middle < high)
    start, stop = np.where(around, high + 1, low + 1), np.where(around, low, high)
    size = batch * (nodes + 1)
    changes = np.bincount(rows * (nodes + 1) + start, minlength=size)
    changes -= np.bincount(rows * (nodes + 1) + stop, minlength=size)
    counts = changes.reshape(batch, nodes + 1).cumsum(axis=1)[:, :nodes]
    return np.asarray(counts + np.bincount(rows[around], minlength=batch)[:, None])


def first_crossing(heads: Ints, front: Ints) -> Ints:
    """[batch] Return the first word, from `front` [batch] on, whose arc crosses that of an earlier word; N if there is
    none. heads: [batch, N], 0 for the root and for padding."""
    nodes = np.arange(heads.shape[1])
    low, high = np.minimum(heads, nodes), np.maximum(heads, nodes)
    left, right = low[:, :, None], high[:, :, None]
    low, high = low[:, None], high[:, None]
    crossing = (left < low) & (low < right) & (right < high)
    first = np.full(len(heads), len(nodes))
    rows = np.flatnonzero(crossing.any(axis=(1, 2)))
    later = np.maximum(nodes[:, None], nodes)
    counts = crossing[rows] & (later >= front[rows, None, None])
    first[rows] = np.where(counts, later, len(nodes)).min(axis=(1, 2), initial=len(nodes))
    return first
