"""`longarc evaluate`: evaluate a parser's output against gold trees."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from longarc.cli.options import Encoding, read_sentences
from longarc.cli.progress import count_sentences
from longarc.cli.terminal_tables import make_table
from longarc.data.formats import format_of_path
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.evaluation.breakdown import Breakdown
    from longarc.evaluation.conventions import Conventions
    from longarc.evaluation.corpus import Corpus
    from longarc.evaluation.measures import Judgement, Score


GoldFile = Annotated[
    str, typer.Argument(metavar="GOLD", help="Gold trees: CoNLL-U, CoNLL-X or JSON lines; - is standard input.")
]
Punctuation = Annotated[
    Literal["count", "ud", "penn", "conllx"],
    typer.Option(
        help="Words that attachment scores exclude. count: none; ud: gold relation punct; penn: gold tag is "
        "punctuation in the Penn Treebank; conllx: all characters are Unicode punctuation, as in eval.pl of CoNLL 2006."
    ),
]
Labels = Annotated[
    Literal["auto", "universal", "whole"],
    typer.Option(
        help="universal: compare relations without subtypes, and universal features only; whole: compare everything; "
        "auto: universal for CoNLL-U, whole for CoNLL-X."
    ),
]


def evaluate(
    gold: GoldFile,
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="A parser's output for the same text.")],
    punctuation: Punctuation = "count",
    labels: Labels = "auto",
    breakdown: Annotated[
        bool,
        typer.Option("--breakdown", help="Also show errors by relation, arc length, depth and more."),
    ] = False,
    train: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The parser's training data, to break errors down by seen and unseen words."),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Plot the breakdown to files in this folder.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, including the breakdown, instead of tables.")
    ] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Evaluate a parser's output against gold trees: UAS, LAS, CLAS, MLAS, BLEX, tags, features, lemmas and more.

    The words may differ if the text is the same: they are then aligned by characters, as in the CoNLL 2018 shared task.
    docs/evaluation.md explains every measure.
    """
    from longarc.evaluation.breakdown import break_down
    from longarc.evaluation.measures import count, judge, meaningful_measures, total

    if plots is not None:
        from longarc.evaluation.plots import check_picture, plot_breakdown

        check_picture(plots / "picture.svg")
    gold_corpus, system_corpus = read_corpora([gold, system], encoding)
    conventions = choose_conventions(gold_corpus, punctuation, labels)
    judgement = judge(gold_corpus, system_corpus, conventions)
    scores = total(count(judgement))
    scores = {name: scores[name] for name in meaningful_measures(gold_corpus, conventions)}
    details = None
    if breakdown or as_json or plots is not None or train is not None:
        forms = _count_forms(train, encoding) if train is not None else None
        details = break_down(judgement, training_forms=forms)
    if as_json and details is not None:
        files = {"gold": gold, "system": system}
        result = {**files, **_as_dict(judgement, scores, encoding), "breakdown": details.as_dict()}
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _print_scores(judgement, scores)
        if details is not None and (breakdown or train is not None):
            _print_breakdown(details)
    if plots is not None and details is not None:
        pictures = plot_breakdown(details, plots)
        typer.echo(f"longarc: {len(pictures)} pictures in {plots}", err=True)


def _count_forms(path: str, encoding: str) -> Counter[str]:
    from longarc.data.sentence import FORM

    sentences = read_sentences(path, encoding=encoding, skip_invalid=False, check=None)
    return Counter(word[FORM] for sentence in count_sentences(sentences, path) for word in sentence.word_rows)


def read_corpora(paths: Sequence[str], encoding: str) -> list[Corpus]:
    """Read the gold file, which comes first, and the systems' files."""
    from longarc.data.files import source_name
    from longarc.evaluation.corpus import Corpus
    from longarc.trees.structure import require_heads, require_tree

    if list(paths).count("-") > 1:
        raise LongarcError("only one of the files can be standard input", "Specify the others by name.")
    corpora = []
    for number, path in enumerate(paths):
        check = require_heads if number else require_tree
        sentences = read_sentences(path, encoding=encoding, skip_invalid=False, check=check)
        one_line_each = format_of_path(path) == "jsonl"
        corpora.append(Corpus(source_name(path), list(count_sentences(sentences, path)), one_line_each=one_line_each))
    return corpora


def choose_conventions(gold: Corpus, punctuation: Punctuation, labels: Labels) -> Conventions:
    """Return the conventions that the options select; the format of the gold file decides `auto`."""
    from longarc.evaluation.conventions import Conventions

    if labels == "auto":
        labels = "whole" if gold.sentences[0].format == "conllx" else "universal"
    return Conventions(punctuation, labels)


def conventions_in_words(conventions: Conventions) -> str:
    """Return two lines that explain the conventions above a table of scores."""
    from longarc.evaluation.conventions import LABELS_MEANINGS, PUNCTUATION_MEANINGS

    return (
        f"punctuation: {conventions.punctuation} ({PUNCTUATION_MEANINGS[conventions.punctuation]})\n"
        f"labels: {conventions.labels} ({LABELS_MEANINGS[conventions.labels]})"
    )


def _as_dict(judgement: Judgement, scores: dict[str, Score], encoding: str) -> dict[str, Any]:
    from longarc.evaluation.corpus import cyclic_sentences
    from longarc.evaluation.measures import columns_equal_to_gold

    conventions = judgement.conventions
    return {
        "settings": {
            "punctuation": conventions.punctuation,
            "labels": conventions.labels,
            "encoding": encoding,
            "aligned_by": judgement.alignment.by,
        },
        "sentences": len(judgement.gold.sentences),
        "words": {
            "gold": len(judgement.gold),
            "system": len(judgement.system),
            "aligned": int(judgement.aligned.sum()),
            "counted": int(judgement.gold_counted.sum()),
        },
        "cyclic_system_sentences": cyclic_sentences(judgement.system),
        "columns_equal_to_gold": sorted(columns_equal_to_gold(judgement)),
        "scores": {name: score.f1 for name, score in scores.items()},
        "details": {
            name: {
                "precision": score.precision,
                "recall": score.recall,
                "f1": score.f1,
                "aligned_accuracy": score.aligned_accuracy,
                "correct": score.correct,
                "gold": score.gold,
                "system": score.system,
            }
            for name, score in scores.items()
        },
    }


def _print_scores(judgement: Judgement, scores: dict[str, Score]) -> None:
    from rich.console import Console
    from rich.markup import escape

    from longarc.evaluation.corpus import cyclic_sentences
    from longarc.evaluation.measures import MEASURES, TOKENISATION, columns_equal_to_gold

    copied = columns_equal_to_gold(judgement)
    console = Console(highlight=False)
    console.print(escape(f"{judgement.system.name} against {judgement.gold.name}"), soft_wrap=True)
    console.print(escape(conventions_in_words(judgement.conventions)), soft_wrap=True)
    realigned = judgement.alignment.by == "characters"
    if realigned:
        console.print("words: different in the two files, aligned by the characters of the text", soft_wrap=True)
    aligned = ["of aligned %"] if realigned else []
    table = make_table("measure", "precision %", "recall %", "F1 %", *aligned, "right", "gold", "system")
    for name, score in scores.items():
        if name in TOKENISATION and not realigned and score.correct == score.gold == score.system:
            continue
        accuracy = [f"{score.aligned_accuracy:.2f}" if name not in TOKENISATION else ""] if realigned else []
        shares = [f"{share:.2f}" for share in (score.precision, score.recall, score.f1)]
        counts = [f"{number:,}" for number in (score.correct, score.gold, score.system)]
        is_copied = not copied.isdisjoint(MEASURES[name].columns)
        table.add_row(MEASURES[name].title + (" *" if is_copied else ""), *shares, *accuracy, *counts)
    console.print(table)
    if copied:
        names = ", ".join(sorted(copied)).upper()
        console.print(f"* {names} equal gold in every word: copied from the gold file rather than predicted?")
    if cycles := cyclic_sentences(judgement.system):
        console.print(f"sentences of the system whose heads form cycles: {cycles:,}", soft_wrap=True)


def _print_breakdown(breakdown: Breakdown) -> None:
    from rich.console import Console
    from rich.markup import escape

    from longarc.evaluation.breakdown import TABLES

    console = Console(highlight=False)
    console.print("\nR: recall, of gold arcs. P: precision, of the system's arcs. In percent.", soft_wrap=True)
    for name, rows in breakdown.tables.items():
        console.print(f"\nby {TABLES[name]}", soft_wrap=True)
        headings = ("gold", "system", "UAS R", "UAS P", "LAS R", "LAS P", "LAS F1")
        table = make_table(name.replace("_", " "), *headings)
        for row in rows:
            figures = row.as_dict()
            keys = ("uas_recall", "uas_precision", "las_recall", "las_precision", "las_f1")
            shares = [f"{figures[key]:.2f}" for key in keys]
            table.add_row(escape(row.name), f"{row.gold:,}", f"{row.system:,}", *shares)
        console.print(table)
    confusions = (
        ("relations taken for others", breakdown.relation_confusions),
        ("wrong heads by tags", breakdown.head_confusions),
    )
    for title, confused in confusions:
        console.print(f"\nmost frequent: {title}" + ("" if confused else ": none"), soft_wrap=True)
        if confused:
            table = make_table(*(heading.replace("_", " ") for heading in confused[0]), left=len(confused[0]))
            for confusion in confused:
                table.add_row(*(escape(str(value)) for value in confusion.values()))
            console.print(table)
