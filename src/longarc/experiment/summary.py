"""Results over seeds: means and spreads, sums of counts, and whether two systems differ by more than luck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import mean
from typing import Any

import numpy as np

from longarc.evaluation.breakdown import Row
from longarc.evaluation.corpus import Numbers
from longarc.evaluation.significance import compare
from longarc.experiment.plan import Plan, Treebank
from longarc.experiment.results import Result

ALPHA = 0.05
MEASURES = ("uas", "las")


@dataclass(frozen=True)
class Spread:
    """A figure over seeds."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(mean(values), min(values), max(values))


@dataclass(frozen=True)
class Setting:
    """A treebank with a preset: what systems are compared within."""

    treebank: Treebank
    preset: str
    label: str
    """For people; the preset is named where there are several."""
    results: Mapping[str, Sequence[Result]]
    """By system, in the plan's order; systems without any result are left out."""

    @property
    def slug(self) -> str:
        """For names of files."""
        return f"{self.treebank.slug}-{self.preset}"


def settings(plan: Plan, results: Mapping[str, Result]) -> list[Setting]:
    """The measured runs of a plan, put in order; only those settings of which something was measured."""
    found = []
    for treebank in plan.treebanks:
        for preset in plan.presets:
            by_system: dict[str, list[Result]] = {}
            for run in plan.runs:
                if run.treebank.name == treebank.name and run.preset == preset and run.name in results:
                    by_system.setdefault(run.system, []).append(results[run.name])
            label = treebank.name if len(plan.presets) == 1 else f"{treebank.name}, {preset}"
            if by_system:
                found.append(Setting(treebank, preset, label, by_system))
    return found


@dataclass(frozen=True)
class Pairing:
    """Two systems on the same sentences with the same seeds. Mappings are by measure, scores are percentages."""

    seeds: list[int]
    first: dict[str, float]
    second: dict[str, float]
    p: dict[str, float]
    """Of the paired bootstrap, one-sided; see evaluation.significance."""
    equal: dict[str, bool]

    def is_best(self, measure: str, second: bool) -> bool:
        """Whether a system is the better one, or as good as the other."""
        ahead = self.second[measure] > self.first[measure]
        return self.equal[measure] or ahead == second

    def is_significant(self, measure: str, second: bool) -> bool:
        """Whether a system is better by more than chance."""
        return not self.equal[measure] and self.is_best(measure, second) and self.p[measure] < ALPHA


def pair(first: Sequence[Result], second: Sequence[Result], samples: int) -> Pairing | None:
    """Compares two systems by the seeds that both have; None if there are none, or if the test sentences differ."""
    seeds = sorted({result.seed for result in first} & {result.seed for result in second})
    if not seeds:
        return None
    sides = [[result for result in side if result.seed in seeds] for side in (first, second)]
    words = [result.sentence_counts["words"] for side in sides for result in side]
    if any(other != words[0] for other in words):
        return None
    counts = np.stack([_summed_counts(side) for side in sides])
    found = compare(counts, samples)
    (test,) = found.pairs
    scores = [dict(zip(MEASURES, row.tolist(), strict=True)) for row in found.scores]
    return Pairing(
        seeds=seeds,
        first=scores[0],
        second=scores[1],
        p=dict(zip(MEASURES, test.bootstrap_p.tolist(), strict=True)),
        equal=dict(zip(MEASURES, test.equal.tolist(), strict=True)),
    )


def _summed_counts(results: Sequence[Result]) -> Numbers:
    """[sentences, measures, 4] as of measures.count, all seeds together; gold and parser have the same words."""
    by_measure = []
    for measure in MEASURES:
        right = np.sum([result.sentence_counts[measure] for result in results], axis=0)
        words = np.sum([result.sentence_counts["words"] for result in results], axis=0)
        by_measure.append(np.stack([right, words, words, words], axis=1))
    return np.stack(by_measure, axis=1).astype(np.int64)


_COUNTS = [field.name for field in fields(Row) if field.name != "name"]


def summed_rows(tables: Sequence[Sequence[Mapping[str, Any]]]) -> list[Row]:
    """The rows of several seeds' tables added up by their names, in the order in which they first occur."""
    sums: dict[str, list[int]] = {}
    for table in tables:
        for row in table:
            before = sums.get(row["name"], [0] * len(_COUNTS))
            sums[row["name"]] = [old + int(row[key]) for old, key in zip(before, _COUNTS, strict=True)]
    return [Row(name, *counts) for name, counts in sums.items()]
