"""`longarc compare`: whether one parser is better than another by more than chance."""

from __future__ import annotations

import json
import string
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.evaluate import (
    GoldFile,
    LabelsName,
    LabelsOption,
    PunctuationName,
    PunctuationOption,
    choose_conventions,
    conventions_in_words,
    read_corpora,
)
from longarc.cli.options import Encoding
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from rich.console import Console

    from longarc.evaluation.differences import Arc, DifferingSentence
    from longarc.evaluation.significance import Comparison, PairedTest


class TestName(str, Enum):
    bootstrap = "bootstrap"
    randomization = "randomization"
    both = "both"


def compare(
    gold: GoldFile,
    systems: Annotated[
        list[str], typer.Argument(metavar="A B…", help="Two or more parsers' output for the same text.")
    ],
    samples: Annotated[int, typer.Option(min=1, help="Samples that each test draws.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same figures.")] = 0,
    test: Annotated[TestName, typer.Option(help="Whose p-values to show.")] = TestName.both,
    differences: Annotated[
        int, typer.Option(min=0, metavar="N", help="Show the N sentences on which the systems differ most.")
    ] = 0,
    punctuation: PunctuationOption = PunctuationName.counted,
    labels: LabelsOption = LabelsName.auto,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Compare parsers on the same sentences: 95 % confidence intervals and p-values of every difference.

    Paired bootstrap: p is the share of samples in which the better system is not better (one-sided). Approximate
    randomisation: p is the share of random swaps that give at least as large a difference (two-sided).
    """
    import numpy as np

    from longarc.evaluation import significance
    from longarc.evaluation.differences import largest_differences
    from longarc.evaluation.measures import MEASURES, count, judge, meaningful_measures

    if not 2 <= len(systems) <= len(string.ascii_uppercase):
        raise LongarcError(f"{len(systems)} systems to compare", "Name GOLD and then two or more systems, 26 at most.")
    gold_corpus, *corpora = read_corpora([gold, *systems], encoding)
    conventions = choose_conventions(gold_corpus, punctuation, labels)
    judgements = [judge(gold_corpus, corpus, conventions) for corpus in corpora]
    found = significance.compare(np.stack([count(judgement) for judgement in judgements]), samples, seed)
    places = {name: list(MEASURES).index(name) for name in meaningful_measures(gold_corpus, conventions)}
    sentences = largest_differences(judgements, differences)
    if as_json:
        settings = {
            "punctuation": conventions.punctuation,
            "labels": conventions.labels,
            "encoding": encoding,
            "aligned_by": [judgement.alignment.by for judgement in judgements],
            "test": test.value,
            "samples": samples,
            "seed": seed,
            "confidence": 95,
        }
        result = {"gold": gold, "systems": systems, "settings": settings, "sentences": len(gold_corpus.sentences)}
        result |= {**_as_dict(found, places, test), "differences": [sentence.as_dict() for sentence in sentences]}
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    for letter, path in zip(string.ascii_uppercase, systems, strict=False):
        console.print(f"{letter}: {escape(path)}", soft_wrap=True)
    console.print(escape(f"gold: {gold}, {len(gold_corpus.sentences):,} sentences"), soft_wrap=True)
    console.print(escape(conventions_in_words(conventions)), soft_wrap=True)
    _print_comparison(console, found, places, test, samples, seed)
    for sentence in sentences:
        _print_sentence(console, sentence, len(systems))


def _as_dict(found: Comparison, places: dict[str, int], test: TestName) -> dict[str, Any]:
    """Lists are in the order of the systems; a pair names its systems by their places, from 0."""
    scores = {
        name: [
            {"score": float(found.scores[system, place]), "interval": found.intervals[system, place].tolist()}
            for system in range(len(found.scores))
        ]
        for name, place in places.items()
    }
    pairs = [
        {
            "first": pair.first,
            "second": pair.second,
            "measures": {name: _pair_figures(pair, place, test) for name, place in places.items()},
        }
        for pair in found.pairs
    ]
    return {"scores": scores, "pairs": pairs}


def _pair_figures(pair: PairedTest, place: int, test: TestName) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "difference": float(pair.difference[place]),
        "interval": pair.interval[place].tolist(),
        "equal": bool(pair.equal[place]),
    }
    if test != TestName.randomization:
        figures["bootstrap_p"] = float(pair.bootstrap_p[place])
    if test != TestName.bootstrap:
        figures["randomization_p"] = float(pair.randomization_p[place])
    return figures


def _print_comparison(
    console: Console, found: Comparison, places: dict[str, int], test: TestName, samples: int, seed: int
) -> None:
    from rich.table import Table

    from longarc.evaluation.measures import MEASURES, TOKENISATION

    letters = string.ascii_uppercase[: len(found.scores)]
    shown = {
        name: place
        for name, place in places.items()
        if name not in TOKENISATION or (found.scores[:, place] < 100).any()
    }
    table = Table("F1 % [95 % interval]")
    for letter in letters:
        table.add_column(letter, justify="right")
    for name, place in shown.items():
        cells = zip(found.scores[:, place], found.intervals[:, place], strict=True)
        table.add_row(MEASURES[name], *(f"{score:.2f} \\[{low:.2f}, {high:.2f}]" for score, (low, high) in cells))
    console.print(table)
    for pair in found.pairs:
        table = Table(f"{letters[pair.second]} − {letters[pair.first]}")
        headings = ["difference", "95 % interval"]
        headings += ["p, bootstrap"] if test != TestName.randomization else []
        headings += ["p, randomisation"] if test != TestName.bootstrap else []
        for heading in headings:
            table.add_column(heading, justify="right")
        for name, place in shown.items():
            table.add_row(MEASURES[name], *_pair_cells(pair, place, test, samples))
        console.print(table)
    console.print(
        f"{samples:,} samples, seed {seed}. Bootstrap: one-sided, share of samples in which the better system is not "
        "better. Randomisation: two-sided. No p is given where two systems score the same.",
        soft_wrap=True,
    )


def _pair_cells(pair: PairedTest, place: int, test: TestName, samples: int) -> list[str]:
    low, high = pair.interval[place]
    cells = [f"{pair.difference[place]:+.2f}", f"\\[{low:+.2f}, {high:+.2f}]"]
    if test != TestName.randomization:
        p = pair.bootstrap_p[place]
        cells.append("equal" if pair.equal[place] else f"{p:.4f}" if p else f"< {1 / samples:.4f}")
    if test != TestName.bootstrap:
        cells.append("equal" if pair.equal[place] else f"{pair.randomization_p[place]:.4f}")
    return cells


def _print_sentence(console: Console, sentence: DifferingSentence, systems: int) -> None:
    from rich.markup import escape
    from rich.table import Table

    def cell(arc: Arc | None, mark: bool) -> str:
        if arc is None:
            return "– no such word"
        sign = ("✓ " if arc.right else "✗ ") if mark else ""
        return escape(f"{sign}{arc.head} {arc.head_form or 'ROOT'} ({arc.relation})")

    console.print(escape(f"\nsentence {sentence.number} (line {sentence.line}): {sentence.text}"), soft_wrap=True)
    table = Table("word", "gold head", *string.ascii_uppercase[:systems])
    for word in sentence.words:
        found = [cell(arc, True) for arc in word.systems]
        table.add_row(escape(f"{word.number} {word.form}"), cell(word.gold, False), *found)
    console.print(table)
