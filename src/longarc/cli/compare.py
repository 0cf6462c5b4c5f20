"""`longarc compare`: test whether the difference between parsers is statistically significant."""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from longarc.cli.evaluate import (
    GoldFile,
    Labels,
    Punctuation,
    choose_conventions,
    conventions_in_words,
    read_corpora,
)
from longarc.cli.options import Encoding
from longarc.cli.terminal_tables import make_table
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from rich.console import Console

    from longarc.evaluation.differences import DifferingSentence, WordArc
    from longarc.evaluation.significance import Comparison, PairedTest


Test = Literal["bootstrap", "randomisation", "randomization", "both"]


def compare(
    gold: GoldFile,
    systems: Annotated[
        list[str], typer.Argument(metavar="A B…", help="The output of two or more parsers for the same text.")
    ],
    samples: Annotated[int, typer.Option(min=1, help="Number of samples that each test draws.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed; the same seed gives the same figures.")] = 0,
    test: Annotated[
        Test, typer.Option(metavar="TEST", help="Which p-values to show: bootstrap, randomisation or both.")
    ] = "both",
    differences: Annotated[
        int, typer.Option(min=0, metavar="N", help="Show the N sentences on which the systems differ most.")
    ] = 0,
    punctuation: Punctuation = "count",
    labels: Labels = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Compare parsers on the same sentences: 95 % confidence intervals, and p-values of every difference.

    Paired bootstrap: p is the share of samples in which the better system is not better (one-sided). Approximate
    randomisation: p is the share of random swaps that give at least as large a difference (two-sided).
    """
    import numpy as np

    from longarc.evaluation import significance
    from longarc.evaluation.differences import largest_differences
    from longarc.evaluation.measures import MEASURES, count, judge, meaningful_measures

    if not 2 <= len(systems) <= len(string.ascii_uppercase):
        raise LongarcError(f"systems to compare: {len(systems)}", "Specify GOLD, then two or more systems, 26 at most.")
    gold_corpus, *corpora = read_corpora([gold, *systems], encoding)
    conventions = choose_conventions(gold_corpus, punctuation, labels)
    judgements = [judge(gold_corpus, corpus, conventions) for corpus in corpora]
    comparison = significance.compare(np.stack([count(judgement) for judgement in judgements]), samples, seed)
    columns = {name: list(MEASURES).index(name) for name in meaningful_measures(gold_corpus, conventions)}
    sentences = largest_differences(judgements, differences)
    if as_json:
        settings = {
            "punctuation": conventions.punctuation,
            "labels": conventions.labels,
            "encoding": encoding,
            "aligned_by": [judgement.alignment.by for judgement in judgements],
            "test": test,
            "samples": samples,
            "seed": seed,
            "confidence": 95,
        }
        result = {"gold": gold, "systems": systems, "settings": settings, "sentences": len(gold_corpus.sentences)}
        result |= {**_as_dict(comparison, columns, test), "differences": [sentence.as_dict() for sentence in sentences]}
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    for letter, path in zip(string.ascii_uppercase, systems, strict=False):
        console.print(f"{letter}: {escape(path)}", soft_wrap=True)
    console.print(escape(f"gold: {gold}, {len(gold_corpus.sentences):,} sentences"), soft_wrap=True)
    console.print(escape(conventions_in_words(conventions)), soft_wrap=True)
    _print_comparison(console, comparison, columns, test, samples, seed)
    for sentence in sentences:
        _print_sentence(console, sentence, len(systems))


def _as_dict(comparison: Comparison, columns: dict[str, int], test: Test) -> dict[str, Any]:
    """Return scores in the order of the systems, and pairs of systems, identified by their index from 0.

    `columns`: the column of each measure in the arrays of the comparison.
    """
    scores = {
        name: [
            {
                "score": float(comparison.scores[system, column]),
                "interval": comparison.intervals[system, column].tolist(),
            }
            for system in range(len(comparison.scores))
        ]
        for name, column in columns.items()
    }
    pairs = [
        {
            "first": pair.first,
            "second": pair.second,
            "measures": {name: _pair_figures(pair, column, test) for name, column in columns.items()},
        }
        for pair in comparison.pairs
    ]
    return {"scores": scores, "pairs": pairs}


def _pair_figures(pair: PairedTest, column: int, test: Test) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "difference": float(pair.difference[column]),
        "interval": pair.interval[column].tolist(),
        "equal": bool(pair.equal[column]),
    }
    if test in ("bootstrap", "both"):
        figures["bootstrap_p"] = float(pair.bootstrap_p[column])
    if test != "bootstrap":
        figures["randomization_p"] = float(pair.randomization_p[column])
    return figures


def _print_comparison(
    console: Console, comparison: Comparison, columns: dict[str, int], test: Test, samples: int, seed: int
) -> None:
    from longarc.evaluation.measures import MEASURES, TOKENISATION

    letters = string.ascii_uppercase[: len(comparison.scores)]
    shown = {
        name: column
        for name, column in columns.items()
        if name not in TOKENISATION or (comparison.scores[:, column] < 100).any()
    }
    table = make_table("F1 % \\[95 % interval]", *letters)
    for name, column in shown.items():
        cells = zip(comparison.scores[:, column], comparison.intervals[:, column], strict=True)
        table.add_row(MEASURES[name].title, *(f"{score:.2f} \\[{low:.2f}, {high:.2f}]" for score, (low, high) in cells))
    console.print(table)
    headings = ["difference", "95 % interval"]
    headings += ["p bootstrap"] if test in ("bootstrap", "both") else []
    headings += ["p randomisation"] if test != "bootstrap" else []
    for pair in comparison.pairs:
        title = f"{letters[pair.second]} − {letters[pair.first]}"
        table = make_table(title, *headings)
        table.columns[2].no_wrap = True  # break the names of measures rather than the interval
        for name, column in shown.items():
            table.add_row(MEASURES[name].title, *_pair_cells(pair, column, test, samples))
        console.print(table)
    console.print(
        f"{samples:,} samples, seed {seed}. Bootstrap: one-sided, share of samples in which the better system is not "
        "better. Randomisation: two-sided. No p is shown where two systems score the same."
    )


def _pair_cells(pair: PairedTest, column: int, test: Test, samples: int) -> list[str]:
    low, high = pair.interval[column]
    cells = [f"{pair.difference[column]:+.2f}", f"\\[{low:+.2f}, {high:+.2f}]"]
    if test in ("bootstrap", "both"):
        p = pair.bootstrap_p[column]
        cells.append("equal" if pair.equal[column] else f"{p:.4f}" if p else f"< {1 / samples:.4f}")
    if test != "bootstrap":
        cells.append("equal" if pair.equal[column] else f"{pair.randomization_p[column]:.4f}")
    return cells


def _print_sentence(console: Console, sentence: DifferingSentence, systems: int) -> None:
    from rich.markup import escape

    def cell(arc: WordArc | None, mark: bool) -> str:
        if arc is None:
            return "– no such word"
        sign = ("✓ " if arc.right else "✗ ") if mark else ""
        return escape(f"{sign}{arc.head} {arc.head_form or 'ROOT'} ({arc.relation})")

    console.print(escape(f"\nsentence {sentence.number} (line {sentence.line}): {sentence.text}"), soft_wrap=True)
    table = make_table("word", "gold head", *string.ascii_uppercase[:systems], left=2 + systems)
    for word in sentence.words:
        arcs = [cell(arc, True) for arc in word.systems]
        table.add_row(escape(f"{word.number} {word.form}"), cell(word.gold, False), *arcs)
    console.print(table)
