"""`longarc evaluate`: how well a parser's output agrees with gold trees."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from longarc.cli.options import Encoding, is_jsonl, read_sentences, with_progress
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.evaluation.breakdown import Breakdown
    from longarc.evaluation.conventions import Conventions
    from longarc.evaluation.corpus import Corpus
    from longarc.evaluation.measures import Judgement, Score


class PunctuationName(str, Enum):
    counted = "count"  # `count` is a method of str
    ud = "ud"
    penn = "penn"
    conllx = "conllx"


class LabelsName(str, Enum):
    auto = "auto"
    universal = "universal"
    whole = "whole"


GoldFile = Annotated[
    str, typer.Argument(metavar="GOLD", help="The right trees: CoNLL-U, CoNLL-X or JSON lines; - is standard input.")
]
PunctuationOption = Annotated[
    PunctuationName,
    typer.Option(
        help="Which words the measures of attachment leave out: none (count), gold relation punct (ud), gold tag of "
        "the Penn Treebank's punctuation (penn), forms of Unicode punctuation as eval.pl of CoNLL 2006 (conllx)."
    ),
]
LabelsOption = Annotated[
    LabelsName,
    typer.Option(
        help="Compare relations without subtypes and universal features only (universal), or all as it stands (whole); "
        "auto is universal for CoNLL-U and whole for CoNLL-X."
    ),
]


def evaluate(
    gold: GoldFile,
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="The trees that a parser found for the same text.")],
    punctuation: PunctuationOption = PunctuationName.counted,
    labels: LabelsOption = LabelsName.auto,
    breakdown: Annotated[
        bool,
        typer.Option("--breakdown", help="Also show where the errors are: by relation, arc length, depth and more."),
    ] = False,
    train: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="What the parser was trained on: the breakdown then tells seen from unseen words."
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw the breakdown to files in this folder.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, breakdown included, instead of tables.")
    ] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Compare a parser's output with gold trees: UAS, LAS, CLAS, MLAS, BLEX, tags, features, lemmas, complete matches.

    Words need not be the same if the text is: they are then aligned by its characters as in the CoNLL 2018 shared task.
    docs/evaluation.md says what every measure means.
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
        found = {
            "gold": gold,
            "system": system,
            **_as_dict(judgement, scores, encoding),
            "breakdown": details.as_dict(),
        }
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        _print_scores(judgement, scores)
        if details is not None and (breakdown or train is not None):
            _print_breakdown(details)
    if plots is not None and details is not None:
        drawn = plot_breakdown(details, plots)
        typer.echo(f"longarc: {len(drawn)} pictures in {plots}", err=True)


def _count_forms(path: str, encoding: str) -> Counter[str]:
    from longarc.data.sentence import FORM

    sentences = read_sentences(path, encoding=encoding, skip_invalid=False, check=None)
    return Counter(word[FORM] for sentence in with_progress(sentences, path) for word in sentence.words)


def read_corpora(paths: Sequence[str], encoding: str) -> list[Corpus]:
    """The gold file, which comes first, and the systems' files."""
    from longarc.data.files import source_name
    from longarc.evaluation.corpus import Corpus, require_gold_tree, require_heads

    if list(paths).count("-") > 1:
        raise LongarcError("standard input can be one of the files only", "Give the others by their names.")
    corpora = []
    for number, path in enumerate(paths):
        check = require_heads if number else require_gold_tree
        sentences = read_sentences(path, encoding=encoding, skip_invalid=False, check=check)
        corpora.append(Corpus(source_name(path), list(with_progress(sentences, path)), one_line_each=is_jsonl(path)))
    return corpora


def choose_conventions(gold: Corpus, punctuation: PunctuationName, labels: LabelsName) -> Conventions:
    """What the options say, `auto` decided by the gold file's format."""
    from longarc.evaluation.conventions import Conventions

    chosen = labels.value
    if labels == LabelsName.auto:
        chosen = "whole" if gold.sentences[0].format == "conllx" else "universal"
    return Conventions(cast(Any, punctuation.value), cast(Any, chosen))


def conventions_in_words(conventions: Conventions) -> str:
    """Two lines that belong to every table of scores."""
    from longarc.evaluation.conventions import LABELS_MEANINGS, PUNCTUATION_MEANINGS

    return (
        f"punctuation: {conventions.punctuation} ({PUNCTUATION_MEANINGS[conventions.punctuation]})\n"
        f"labels: {conventions.labels} ({LABELS_MEANINGS[conventions.labels]})"
    )


def _as_dict(judgement: Judgement, scores: dict[str, Score], encoding: str) -> dict[str, Any]:
    from longarc.evaluation.corpus import cyclic_sentences

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
    from rich.table import Column, Table

    from longarc.evaluation.corpus import cyclic_sentences
    from longarc.evaluation.measures import MEASURES, TOKENISATION

    console = Console(highlight=False)
    console.print(escape(f"{judgement.system.name} against {judgement.gold.name}"), soft_wrap=True)
    console.print(escape(conventions_in_words(judgement.conventions)), soft_wrap=True)
    realigned = judgement.alignment.by == "characters"
    if realigned:
        console.print("words: not the same in both files, aligned by the characters of the text", soft_wrap=True)
    headings = ["precision %", "recall %", "F1 %", *(["of aligned %"] if realigned else []), "right", "gold", "system"]
    table = Table(Column("measure", no_wrap=True))
    for heading in headings:
        table.add_column(heading, justify="right")
    for name, score in scores.items():
        if name in TOKENISATION and not realigned and score.correct == score.gold == score.system:
            continue
        accuracy = [f"{score.aligned_accuracy:.2f}" if name not in TOKENISATION else ""] if realigned else []
        shares = [f"{share:.2f}" for share in (score.precision, score.recall, score.f1)]
        counts = [f"{number:,}" for number in (score.correct, score.gold, score.system)]
        table.add_row(MEASURES[name], *shares, *accuracy, *counts)
    console.print(table)
    if cycles := cyclic_sentences(judgement.system):
        console.print(f"{cycles:,} sentences of the system are no trees: their heads form cycles", soft_wrap=True)


def _print_breakdown(breakdown: Breakdown) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    from longarc.evaluation.breakdown import TABLES

    console = Console(highlight=False)
    console.print("\nR: recall, of gold arcs. P: precision, of the system's arcs.", soft_wrap=True)
    for name, rows in breakdown.tables.items():
        console.print(f"\nby {TABLES[name]}", soft_wrap=True)
        table = Table(Column(name.replace("_", " "), overflow="fold"))
        for heading in ("gold", "system", "UAS R %", "UAS P %", "LAS R %", "LAS P %", "LAS F1"):
            table.add_column(heading, justify="right")
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
    for title, found in confusions:
        console.print(f"\nmost frequent: {title}" + ("" if found else ": none"), soft_wrap=True)
        if found:
            table = Table(*(heading.replace("_", " ") for heading in found[0]))
            for one in found:
                table.add_row(*(escape(str(value)) for value in one.values()))
            console.print(table)
