"""Group sentences of similar length into batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def batches_by_length(lengths: Sequence[int] | NDArray[np.int64], budget: int) -> list[NDArray[np.int64]]:
    """Return sentence indices, sorted by length, in batches whose padded size (longest × count) is at most `budget`.

    A sentence longer than the budget is a batch of its own. A batch that is at least half full ends where the length
    changes, so that with many sentences nearly all batches contain a single length and no padding.
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


def groups_of_like_length(
    lengths: NDArray[np.integer[Any]], group_cost: int, power: int = 1
) -> list[NDArray[np.int64]]:
    """Partition sentence indices into groups of minimal total cost, which is longest^power × count + `group_cost` for
    each group.

    Sentences of one length are in one group.
    """
    order = np.argsort(lengths, kind="stable")
    sizes, counts = np.unique(lengths, return_counts=True)
    ends = [0, *np.cumsum(counts).tolist()]
    least = [0]  # minimal cost of the sentences of the first k sizes
    first_sizes = []  # first size of the group that ends with each size
    for last, size in enumerate(sizes.tolist()):
        costs = [least[first] + size**power * (ends[last + 1] - ends[first]) for first in range(last + 1)]
        least.append(min(costs) + group_cost)
        first_sizes.append(costs.index(min(costs)))
    groups = []
    end = len(sizes)
    while end > 0:
        start = first_sizes[end - 1]
        groups.append(order[ends[start] : ends[end]])
        end = start
    return groups
