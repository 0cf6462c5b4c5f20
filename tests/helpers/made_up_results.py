"""Build experiment results with known counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from longarc.evaluation.breakdown import Row
from longarc.experiment.plan import ExperimentTreebank
from longarc.experiment.report_markdown import Cell, Table
from longarc.experiment.results import Result
from longarc.experiment.summary import Setting


def result(system: str, heads: list[int], arcs: list[int], seed: int = 1) -> Result:
    """A result with so many right heads and arcs in sentences of ten words."""
    words = 10 * len(heads)
    scores = {"uas": 100 * sum(heads) / words, "las": 100 * sum(arcs) / words, "upos": 99.0, "complete_labelled": 1.0}
    return Result(
        run=f"{system}-{seed}",
        treebank="made up",
        preset="paper",
        system=system,
        seed=seed,
        date="2018-06-01",
        scores=scores,
        conventions={"punctuation": "count", "labels": "whole", "tags": "predicted"},
        test={"sentences": len(heads), "words": words, "counted_words": words},
        arc_length=[],
        nonprojective=asdict(Row("non-projective", 0, 0, 0, 0, 0, 0)),
        sentence_counts={"words": [10] * len(heads), "uas": heads, "las": arcs},
        training={"seconds": 90.0, "epochs": 10},
        versions={},
        identity={},
    )


def setting(paper_row: str | None = None, **results: Sequence[Result]) -> Setting:
    treebank = ExperimentTreebank(name="made up", test=Path("test"), train=Path("train"), paper=paper_row)
    return Setting(treebank, "paper", "made up", {key.replace("_", "-"): found for key, found in results.items()})


def row_of(table: Table | None, number: int = 0) -> list[Cell | str]:
    assert table is not None
    return list(table.rows[number])
