"""`longarc stats`: statistics of treebanks, and how each transition system covers them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.options import Encoding, SkipInvalid, read_sentences
from longarc.cli.progress import count_sentences
from longarc.cli.terminal_tables import make_table

if TYPE_CHECKING:
    from longarc.evaluation.treebank_stats import TreebankStats


def stats(
    treebanks: Annotated[
        list[str], typer.Argument(metavar="FILE", help="CoNLL-U, CoNLL-X or JSON lines; - is standard input.")
    ],
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Plot transitions by sentence length for each system to this file (.svg, .png or .pdf)."),
    ] = None,
) -> None:
    """Show the size and non-projectivity of treebanks, and how each transition system covers them.

    "Represented sentences" are those whose tree the system can build completely; "arcs recovered" are the arcs that
    the transitions of its oracle build. Transitions are counted with the artificial root, as in the paper.
    """
    from longarc.evaluation.treebank_stats import treebank_stats
    from longarc.trees.structure import require_tree

    if plot is not None:
        from longarc.evaluation.plots import check_picture

        check_picture(plot)
    stats_by_path: dict[str, TreebankStats] = {}
    for path in treebanks:
        sentences = read_sentences(path, encoding=encoding, skip_invalid=skip_invalid, check=require_tree)
        stats_by_path[path] = treebank_stats(count_sentences(sentences, path))
    if as_json:
        treebank_figures = [{"file": path, **result.as_dict()} for path, result in stats_by_path.items()]
        typer.echo(json.dumps({"treebanks": treebank_figures}, ensure_ascii=False, indent=2))
    else:
        for path, result in stats_by_path.items():
            _print_tables(path, result.as_dict())
    if plot is not None:
        from longarc.evaluation.plots import plot_transitions

        plot_transitions(stats_by_path, plot)


def _print_tables(path: str, figures: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    table = make_table("", "", title=escape(path))
    table.add_row("sentences", f"{figures['sentences']:,}")
    table.add_row("words", f"{figures['words']:,}")
    table.add_row("words per sentence", f"{figures['words_per_sentence']:.2f}")
    table.add_row("longest sentence", f"{figures['longest_sentence']:,}")
    table.add_row("relations", f"{figures['relations']:,}")
    for key in ("nonprojective_arcs", "nonprojective_sentences", "several_roots"):
        name = key.replace("nonprojective", "non-projective").replace("_", " ")
        table.add_row(name, f"{figures[key]:,} ({figures[key + '_percent']:.2f} %)")
    table.add_row("largest gap degree", max(figures["gap_degrees"], key=int, default="0"))
    table.add_row("multiword tokens", f"{figures['multiword_tokens']:,}")
    table.add_row("empty nodes", f"{figures['empty_nodes']:,}")
    systems = make_table("system", "transitions", "represented %", "arcs %")
    for name, system in figures["systems"].items():
        systems.add_row(
            name,
            f"{system['transitions_per_sentence']:.2f}",
            f"{system['representable_sentences_percent']:.2f}",
            f"{system['arcs_recovered_percent']:.2f}",
        )
    console = Console()
    console.print(table, systems, sep="\n")
    console.print("transitions: per sentence. represented: trees that the system can build.")
