"""Grouping sentences into batches of similar length under a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def batches_by_length(lengths: Sequence[int] | NDArray[np.int64], budget: int) -> list[NDArray[np.int64]]:
    """Indices of sentences, sorted by length, in batches whose padded size (longest × count) stays within `budget`.

    A sentence longer than the budget is a batch of its own. A batch that is half full ends where the length changes:
    where sentences abound, nearly all batches have sentences of one length, and no work is lost on padding.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(sizes, kind="stable")
    batches = []
    start = 0
    ordered = np.maximum(sizes[order], 1).tolist()
    for end in range(1, len(order) + 1):
        if end < len(order):
            longer = ordered[end] > ordered[end - 1]
            half_full = 2 * ordered[end - 1] * (end - start) >= budget
            if ordered[end] * (end - start + 1) <= budget and not (longer and half_full):
                continue
        batches.append(order[start:end])
        start = end
    return batches


def groups_of_like_length(lengths: NDArray[np.integer[Any]], few: int, padding: float) -> list[NDArray[np.int64]]:
    """Indices of sentences in groups in which none is shorter than the longest by more than the share `padding`, except
    that a group takes `few` sentences at least while there are any."""
    order = np.argsort(lengths, kind="stable")
    ordered = np.asarray(lengths)[order]
    shortest = np.searchsorted(ordered, ordered * (1 - padding))
    groups = []
    end = len(order)
    while end > 0:
        start = max(0, min(int(shortest[end - 1]), end - few))
        groups.append(order[start:end])
        end = start
    return groups
