"""Sums and means over seeds."""

from __future__ import annotations

from dataclasses import asdict
from statistics import mean

import msgspec
import pytest

from longarc.evaluation.breakdown import Row
from longarc.experiment.summary import mixed_commits, pair, summed_rows
from longarc.experiment.tables import spread_table
from tests.helpers.made_up_results import result, row_of, setting


def test_seeds_are_added_up_and_only_those_that_both_systems_have_are_compared() -> None:
    first = [result("covington", [4, 6], [4, 6], seed) for seed in (1, 2)]
    second = [result("nl-covington", [5, right], [5, right], seed) for seed, right in ((1, 7), (2, 9), (3, 0))]
    found = pair(first, second, 100)
    assert found is not None
    assert found.seeds == [1, 2]
    assert found.first["uas"] == pytest.approx(50)
    assert found.second["uas"] == pytest.approx(mean([60, 70]))
    assert pair(first[:1], second[1:2], 100) is None, "no seed in common"
    other_sentences = result("nl-covington", [5, 5, 5], [5, 5, 5], 1)
    assert pair(first, [other_sentences], 100) is None
    row = row_of(spread_table([setting(nl_covington=second)]))
    assert row[:5] == ["made up", "nl-covington", "1, 2, 3", "51.67", "25.00–70.00"]
    row = row_of(spread_table([setting(nl_covington=second[:1])]))
    assert row[3:5] == ["60.00", "–"], "one seed has no spread"


def test_rows_of_several_seeds_are_added_up_by_their_names() -> None:
    one = [asdict(Row("root", 1, 1, 1, 2, 1, 0)), asdict(Row("left 1", 5, 4, 3, 5, 4, 3))]
    two = [asdict(Row("left 1", 5, 1, 1, 6, 2, 2)), asdict(Row("right 2", 0, 0, 0, 1, 0, 0))]
    assert summed_rows([one, two]) == [
        Row("root", 1, 1, 1, 2, 1, 0),
        Row("left 1", 10, 5, 4, 11, 6, 5),
        Row("right 2", 0, 0, 0, 1, 0, 0),
    ]


def test_runs_of_different_commits_are_named() -> None:
    runs = [msgspec.structs.replace(result("mst", [5], [5], seed), commit=f"c{seed}") for seed in (1, 2)]
    assert mixed_commits([setting(mst=runs)]) == ["made up, mst: c1, c2"]
    assert mixed_commits([setting(mst=runs[:1])]) == []
