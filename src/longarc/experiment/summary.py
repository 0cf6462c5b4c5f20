"""Aggregate results over seeds: means, spreads, summed counts, and significance of differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import mean
from typing import Any

import numpy as np

from longarc.evaluation.breakdown import Row
from longarc.evaluation.significance import authors_test, compare_seeds
from longarc.experiment.plan import ExperimentPlan, ExperimentTreebank
from longarc.experiment.results import Result, unpack_mask

ALPHA = 0.05
MEASURES = ("uas", "las")


@dataclass(frozen=True)
class Spread:
    """The mean and range of a score over seeds."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(mean(values), min(values), max(values))


@dataclass(frozen=True)
class Setting:
    """A treebank with a preset; systems are compared within a setting."""

    treebank: ExperimentTreebank
    preset: str
    label: str
    """The name in tables; it includes the preset if there are several."""
    results: Mapping[str, Sequence[Result]]
    """By system, or by system and variant (plan.Run.label), in the order of the plan, if there are any."""

    @property
    def slug(self) -> str:
        """The name in a form that is safe in file names."""
        return f"{self.treebank.slug}-{self.preset}"


def settings(plan: ExperimentPlan, results: Mapping[str, Result]) -> list[Setting]:
    """Group the results of a plan by treebank and preset; settings without results are omitted."""
    groups = []
    for treebank in plan.treebanks:
        for preset in plan.presets:
            by_system: dict[str, list[Result]] = {}
            for run in plan.runs:
                if run.treebank.name == treebank.name and run.preset == preset and run.name in results:
                    by_system.setdefault(run.label, []).append(results[run.name])
            label = treebank.name if len(plan.presets) == 1 else f"{treebank.name}, {preset}"
            if by_system:
                groups.append(Setting(treebank, preset, label, by_system))
    return groups


@dataclass(frozen=True)
class Pairing:
    """Two systems compared on the same sentences with the same seeds: percentages by measure."""

    seeds: list[int]
    first: dict[str, float]
    second: dict[str, float]
    p: dict[str, float]
    """Two-sided p-values of a bootstrap over sentences and seeds; see significance.compare_seeds."""
    authors_p: dict[str, float]
    """P-values of the authors' own test; empty if a result does not record which words are right."""
    equal: dict[str, bool]

    def is_best(self, measure: str, second: bool) -> bool:
        """Return whether a system is better than the other, or as good."""
        ahead = self.second[measure] > self.first[measure]
        return self.equal[measure] or ahead == second

    def is_significant(self, measure: str, second: bool) -> bool:
        """Return whether a system is significantly better; never with one seed, which says nothing about seeds."""
        is_better = not self.equal[measure] and self.is_best(measure, second)
        return is_better and len(self.seeds) > 1 and self.p[measure] < ALPHA


def pair(first: Sequence[Result], second: Sequence[Result], samples: int) -> Pairing | None:
    """Compare two systems on the seeds that both have; None if there are none or if the test sentences differ."""
    seeds = sorted({result.seed for result in first} & {result.seed for result in second})
    if not seeds:
        return None
    sides = [[result for result in side if result.seed in seeds] for side in (first, second)]
    words = [result.sentence_counts["words"] for side in sides for result in side]
    if any(other != words[0] for other in words):
        return None
    counts = [
        np.array([[result.sentence_counts[measure] for measure in MEASURES] for result in side]).transpose(0, 2, 1)
        for side in sides
    ]
    test = compare_seeds(counts[0], counts[1], np.array(words[0]), samples)
    by_measure = [dict(zip(MEASURES, values.tolist(), strict=True)) for values in (test.first, test.second, test.p)]
    authors_p = {}
    if all(result.right_words for side in sides for result in side):
        for measure in MEASURES:
            masks = [
                np.stack([unpack_mask(result.right_words[measure], sum(words[0])) for result in side]) for side in sides
            ]
            authors_p[measure] = authors_test(masks[0], masks[1], samples)
    equal = dict(zip(MEASURES, test.equal.tolist(), strict=True))
    return Pairing(seeds, by_measure[0], by_measure[1], by_measure[2], authors_p, equal)


def mixed_commits(measured: Sequence[Setting]) -> list[str]:
    """Describe the systems whose runs were made with different commits of the code."""
    return [
        f"{setting.label}, {system}: {', '.join(sorted(commits))}"
        for setting in measured
        for system, results in setting.results.items()
        if len(commits := {result.commit or "unknown" for result in results}) > 1
    ]


_COUNTS = [field.name for field in fields(Row) if field.name != "name"]


def summed_rows(tables: Sequence[Sequence[Mapping[str, Any]]]) -> list[Row]:
    """Add up the rows of several seeds' tables by name, in order of first occurrence."""
    sums: dict[str, list[int]] = {}
    for table in tables:
        for row in table:
            before = sums.get(row["name"], [0] * len(_COUNTS))
            sums[row["name"]] = [old + int(row[key]) for old, key in zip(before, _COUNTS, strict=True)]
    return [Row(name, *counts) for name, counts in sums.items()]
