"""Evaluate one model on its test file, with the same scores as `longarc evaluate`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longarc.data.conll import read_all, write
from longarc.data.sentence import Sentence
from longarc.evaluation.breakdown import Row, break_down, nonprojective_row
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import CORRECT, GOLD, MEASURES, count, judge, meaningful_measures, total
from longarc.experiment.plan import ExperimentTreebank
from longarc.experiment.results import pack_mask
from longarc.runtime.parser import Parser
from longarc.transitions import SYSTEMS
from longarc.transitions.static_oracle import run_oracle

COUNTED_TRANSITIONS = ("covington", "nl-covington")
"""The systems of the paper's Table 4."""


def measure(parser: Parser, treebank: ExperimentTreebank, test: Sequence[Sentence], folder: Path) -> dict[str, Any]:
    """Parse the test sentences, without their annotation, write them to the folder, and evaluate the file.

    Return the fields of results.Result that depend on the evaluation. Columns that are not predicted have no score.
    """
    target = folder / f"test.parsed.{'conll' if test[0].format == 'conllx' else 'conllu'}"
    start = time.perf_counter()
    parsed_sentences = list(parser.stream([sentence.without_annotation() for sentence in test]))
    seconds = time.perf_counter() - start
    write(target, parsed_sentences, encoding=treebank.encoding)
    parsed = read_all(target, encoding=treebank.encoding, format=test[0].format)
    gold = Corpus(str(treebank.test), test)
    conventions = Conventions(treebank.punctuation, "whole" if test[0].format == "conllx" else "universal")
    judgement = judge(gold, Corpus(str(target), parsed), conventions)
    counts = count(judgement)
    scores = total(counts)
    breakdown = break_down(judgement, confusions=0)
    uas, las = (list(MEASURES).index(name) for name in ("uas", "las"))
    names = [
        name
        for name in meaningful_measures(gold, conventions)
        if all(column in parser.columns for column in MEASURES[name].columns)
    ]
    return {
        "scores": {name: round(scores[name].f1, 4) for name in names},
        "conventions": {**asdict(conventions), "tags": "predicted"},
        "test": {
            "file": "/".join(treebank.test.parts[-2:]),
            "sentences": len(test),
            "words": len(gold),
            "counted_words": scores["las"].gold,
            "transitions_per_sentence": transitions_per_sentence(test),
            "words_per_second": round(len(gold) / seconds),
        },
        "arc_length": [_row(row) for row in breakdown.tables["arc_length"]],
        "nonprojective": _row(nonprojective_row(breakdown)),
        "sentence_counts": {
            "words": counts[:, las, GOLD].tolist(),
            "uas": counts[:, uas, CORRECT].tolist(),
            "las": counts[:, las, CORRECT].tolist(),
        },
        "right_words": {
            "uas": pack_mask(judgement.right_head[judgement.gold_counted]),
            "las": pack_mask(judgement.right_arc[judgement.gold_counted]),
        },
    }


def _row(row: Row) -> dict[str, Any]:
    shares = {key: round(value, 4) if isinstance(value, float) else value for key, value in row.as_dict().items()}
    return {**asdict(row), **shares}


def transitions_per_sentence(sentences: Sequence[Sentence]) -> dict[str, float]:
    """Return the mean number of transitions of the Covington systems' oracles, including the arcs of the root."""
    trees = [sentence.node_heads for sentence in sentences]
    return {
        name: round(sum(int(run.transitions.sum()) for run in run_oracle(SYSTEMS[name], trees)) / len(trees), 4)
        for name in COUNTED_TRANSITIONS
    }
