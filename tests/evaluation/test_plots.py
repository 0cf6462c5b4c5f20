"""Plots of any number of lines, and the order of the rows in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from longarc.evaluation.breakdown import Row
from longarc.evaluation.plots import (
    from_left_to_right,
    line_style,
    plot_learning_curve,
    plot_learning_curves,
    plot_transitions,
)
from longarc.evaluation.treebank_stats import TreebankStats, treebank_stats
from longarc.transitions import SYSTEMS
from tests.helpers.annotations import HEARING, SHORT, corpus


def stats_with_more_systems(more: int) -> TreebankStats:
    """Statistics while the last transition system is also registered under other names."""
    with pytest.MonkeyPatch.context() as patch:
        for number in range(more):
            patch.setitem(SYSTEMS, f"toy-{number}", SYSTEMS["arc-hybrid"])
        return treebank_stats(corpus(HEARING + SHORT).sentences)


def test_systems_are_looked_up_when_statistics_are_made() -> None:
    assert [*stats_with_more_systems(1).systems] == [*SYSTEMS, "toy-0"]


def test_any_number_of_systems_can_be_plotted(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    stats = stats_with_more_systems(8)
    plot_transitions({"treebank": stats}, tmp_path / "transitions.svg")
    drawn = (tmp_path / "transitions.svg").read_text(encoding="utf-8")
    assert len(stats.systems) == len(SYSTEMS) + 8
    assert all(f"<!-- {name} -->" in drawn for name in stats.systems), "a legend with every system"
    plot_learning_curves({name: [[{"epoch": 1, "loss": 1.0}]] for name in stats.systems}, tmp_path / "curves.svg")
    drawn = (tmp_path / "curves.svg").read_text(encoding="utf-8")
    assert all(f">{name}</text>" in drawn for name in stats.systems)


def test_lines_look_different() -> None:
    looks = [line_style(number) for number in range(24)]
    assert all(looks.count(look) == 1 for look in looks)


def test_arc_lengths_run_from_the_longest_to_the_left_to_the_longest_to_the_right() -> None:
    ordered = ["left 21+", "left 3-6", "left 1", "root", "right 2", "right 13-20"]
    rows = [Row(name, 1, 1, 1, 1, 1, 1) for name in sorted(ordered)]
    assert [row.name for row in from_left_to_right(rows)] == ordered


def test_learning_curves_have_only_the_epochs_that_were_scored(tmp_path: Path) -> None:
    history = [{"epoch": epoch, "loss": 1 / epoch} for epoch in range(1, 8)]
    history[2] |= {"dev_las": 50.0}
    history[6] |= {"dev_las": 70.0}
    plot_learning_curve(history, tmp_path / "one.svg")
    plot_learning_curves({"one": [history]}, tmp_path / "all.svg")
    assert all("LAS" in (tmp_path / name).read_text("utf-8") for name in ("one.svg", "all.svg"))
