"""Measuring one model on its test file: parsed by the runtime, scored by the code of `longarc evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longarc.data.conll import read_all, write
from longarc.data.sentence import Sentence
from longarc.evaluation.breakdown import Row, break_down
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import CORRECT, GOLD, MEASURES, count, judge, meaningful_measures, total
from longarc.experiment.plan import Treebank
from longarc.runtime.parser import Parser
from longarc.transitions import SYSTEMS
from longarc.transitions.static_oracle import run_oracle

COUNTED_TRANSITIONS = ("covington", "nl-covington")
"""The systems of the paper's Table 4."""


def parsed_file(folder: Path, sentences: Sequence[Sentence]) -> Path:
    """Where the parser's output goes, named after its format."""
    return folder / f"test.parsed.{'conll' if sentences[0].format == 'conllx' else 'conllu'}"


def measure(parser: Parser, treebank: Treebank, test: Sequence[Sentence], folder: Path) -> dict[str, Any]:
    """Parses the test sentences with predicted tags, writes them to the folder, and scores what was written.

    The keys are those of results.Result that a measurement gives.
    """
    target = parsed_file(folder, test)
    write(target, parser.stream([sentence.copy() for sentence in test]), encoding=treebank.encoding)
    written = read_all(target, encoding=treebank.encoding, format=test[0].format)
    gold = Corpus(str(treebank.test), test)
    conventions = Conventions(treebank.punctuation, "whole" if test[0].format == "conllx" else "universal")
    judgement = judge(gold, Corpus(str(target), written), conventions)
    counts = count(judgement)
    scores = total(counts)
    tables = break_down(judgement, confusions=0).tables
    uas, las = (list(MEASURES).index(name) for name in ("uas", "las"))
    return {
        "scores": {name: round(scores[name].f1, 4) for name in meaningful_measures(gold, conventions)},
        "conventions": {**asdict(conventions), "tags": "predicted"},
        "test": {
            "file": str(treebank.test),
            "sentences": len(test),
            "words": len(gold),
            "counted_words": scores["las"].gold,
            "transitions_per_sentence": transitions_per_sentence(test),
        },
        "arc_length": [_row(row) for row in tables["arc_length"]],
        "nonprojective": _nonprojective(tables["projectivity"]),
        "sentence_counts": {
            "words": counts[:, las, GOLD].tolist(),
            "uas": counts[:, uas, CORRECT].tolist(),
            "las": counts[:, las, CORRECT].tolist(),
        },
    }


def _row(row: Row) -> dict[str, Any]:
    return {**asdict(row), **{key: _rounded(value) for key, value in row.as_dict().items()}}


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _nonprojective(rows: Sequence[Row]) -> dict[str, Any]:
    name = "non-projective"
    return _row(next((row for row in rows if row.name == name), Row(name, 0, 0, 0, 0, 0, 0)))


def transitions_per_sentence(sentences: Sequence[Sentence]) -> dict[str, float]:
    """How many transitions the gold oracles of the Covington systems take, the root's arcs included."""
    trees = [sentence.heads for sentence in sentences]
    return {
        name: round(sum(int(run.transitions.sum()) for run in run_oracle(SYSTEMS[name], trees)) / len(trees), 4)
        for name in COUNTED_TRANSITIONS
    }
