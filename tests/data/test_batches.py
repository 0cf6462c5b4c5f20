"""Grouping sentences of similar length."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longarc.data.batches import groups_of_like_length


@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=8), cost=st.integers(0, 8), power=st.sampled_from([1, 2])
)
def test_groups_of_like_length_cost_the_least(lengths: list[int], cost: int, power: int) -> None:
    def total(groups: list[list[int]]) -> int:
        return sum(cost + max(group) ** power * len(group) for group in groups)

    groups = [group.tolist() for group in groups_of_like_length(np.array(lengths), cost, power)]
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    ordered = sorted(lengths)
    last = len(ordered)
    cuts = [[0, *cut, last] for count in range(last) for cut in combinations(range(1, last), count)]
    least = min(total([ordered[start:end] for start, end in pairwise(cut)]) for cut in cuts)
    assert total([[lengths[index] for index in group] for group in groups]) == least
