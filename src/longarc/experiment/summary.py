"""Aggregate results over seeds: means, spreads, summed counts, and significance of differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import mean
from typing import Any

import numpy as np

from longarc.evaluation.breakdown import Row
from longarc.evaluation.significance import compare
from longarc.experiment.plan import ExperimentPlan, ExperimentTreebank
from longarc.experiment.results import Result
from longarc.transitions.system import Ints

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
    """By system, in the order of the plan; systems without results are omitted."""

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
                    by_system.setdefault(run.system, []).append(results[run.name])
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
    """One-sided p-values of the paired bootstrap; see evaluation.significance."""
    equal: dict[str, bool]

    def is_best(self, measure: str, second: bool) -> bool:
        """Return whether a system is better than the other, or as good."""
        ahead = self.second[measure] > self.first[measure]
        return self.equal[measure] or ahead == second

    def is_significant(self, measure: str, second: bool) -> bool:
        """Return whether a system is significantly better."""
        return not self.equal[measure] and self.is_best(measure, second) and self.p[measure] < ALPHA


def pair(first: Sequence[Result], second: Sequence[Result], samples: int) -> Pairing | None:
    """Compare two systems on the seeds that both have; None if there are none or if the test sentences differ."""
    seeds = sorted({result.seed for result in first} & {result.seed for result in second})
    if not seeds:
        return None
    sides = [[result for result in side if result.seed in seeds] for side in (first, second)]
    words = [result.sentence_counts["words"] for side in sides for result in side]
    if any(other != words[0] for other in words):
        return None
    counts = np.stack([_summed_counts(side) for side in sides])
    comparison = compare(counts, samples)
    (test,) = comparison.pairs
    scores = [dict(zip(MEASURES, row.tolist(), strict=True)) for row in comparison.scores]
    return Pairing(
        seeds=seeds,
        first=scores[0],
        second=scores[1],
        p=dict(zip(MEASURES, test.bootstrap_p.tolist(), strict=True)),
        equal=dict(zip(MEASURES, test.equal.tolist(), strict=True)),
    )


def _summed_counts(results: Sequence[Result]) -> Ints:
    """Return counts [sentences, measures, 4] as measures.count does, summed over seeds; the words are the same."""
    by_measure = []
    for measure in MEASURES:
        correct = np.sum([result.sentence_counts[measure] for result in results], axis=0)
        words = np.sum([result.sentence_counts["words"] for result in results], axis=0)
        by_measure.append(np.stack([correct, words, words, words], axis=1))
    return np.stack(by_measure, axis=1).astype(np.int64)


_COUNTS = [field.name for field in fields(Row) if field.name != "name"]


def summed_rows(tables: Sequence[Sequence[Mapping[str, Any]]]) -> list[Row]:
    """Add up the rows of several seeds' tables by name, in order of first occurrence."""
    sums: dict[str, list[int]] = {}
    for table in tables:
        for row in table:
            before = sums.get(row["name"], [0] * len(_COUNTS))
            sums[row["name"]] = [old + int(row[key]) for old, key in zip(before, _COUNTS, strict=True)]
    return [Row(name, *counts) for name, counts in sums.items()]
