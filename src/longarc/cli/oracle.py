"""`longarc oracle`: print the transitions that build the trees of a treebank."""

from __future__ import annotations

import shutil
import sys
import textwrap
from bisect import bisect_left
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.completion import complete_system
from longarc.cli.options import Encoding, Memory, SkipInvalid, TreebankFile, check_tree_and_memory, read_sentences
from longarc.errors import LongarcError
from longarc.transitions import SYSTEMS, get_system

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence
    from longarc.runtime.steps import Derivation, NodeArc

BYTES_PER_PAIR = 80
"""Approximate memory of the derivation of a sentence, per pair of words."""

READ_FROM_END = ("λ1", "Stack")
"""The lists whose last word is the next to be processed; of the others it is the first."""


def oracle(
    treebank: TreebankFile,
    system: Annotated[
        str,
        typer.Option(
            "--system",
            "-s",
            metavar="NAME",
            autocompletion=complete_system,
            help=f"Transition system: {', '.join(SYSTEMS)}.",
        ),
    ] = "nl-covington",
    show_states: Annotated[
        bool, typer.Option("--show-states", help="Print λ1, λ2, buffer and arc as in the paper's figures.")
    ] = False,
    without_root: Annotated[
        bool,
        typer.Option("--without-root", help="Omit the artificial root, as the paper's figures do (Covington systems)."),
    ] = False,
    memory: Memory = 1024,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Print the static oracle's transitions, one per line with the relation of the arc, a blank line between sentences.

    Projective systems cannot build all arcs of non-projective trees; lift those first with
    `longarc convert --projectivize`.
    """
    from longarc.runtime.steps import oracle_steps
    from longarc.trees.structure import is_projective

    projective = get_system(system).projective
    if without_root and projective:
        raise LongarcError(f"--without-root: {system} needs the root", "Use it with covington or nl-covington.")
    options = {"with_root": False} if without_root else {}
    width = shutil.get_terminal_size(fallback=(0, 0)).columns  # 0: the output is not a terminal and has no width
    incomplete = 0
    try:
        check = check_tree_and_memory(memory, BYTES_PER_PAIR)
        sentences = read_sentences(treebank, encoding=encoding, skip_invalid=skip_invalid, check=check)
        for number, sentence in enumerate(sentences):
            derivation = oracle_steps(sentence, system, **options)
            lines = _table(sentence, derivation, width) if show_states else _transitions(derivation)
            sys.stdout.write(("\n" if number else "") + "\n".join(lines) + "\n")
            incomplete += projective and not is_projective(sentence.node_heads)
    finally:
        if incomplete:
            typer.echo(f"longarc: {incomplete} non-projective sentences: {system} cannot build all arcs", err=True)


def _transitions(derivation: Derivation) -> list[str]:
    """Return a line for each transition."""
    choices = [step.taken for step in derivation.steps]
    return [f"{choice.name}\t{choice.arc.relation}" if choice.arc else choice.name for choice in choices]


def _table(sentence: Sentence, derivation: Derivation, width: int) -> list[str]:
    """Return the words, and a table of the transitions with the configuration after each.

    If the table is wider than `width`, which is 0 for any, long lists show only the words next to be processed.
    """
    words = " ".join(f"{number}:{form}" for number, form in enumerate(sentence.forms, 1))
    lines = _table_lines(derivation, len(sentence) + 1)
    if not width or max(map(len, lines)) <= width:
        return [words, *lines]

    def is_too_wide(shown: int) -> bool:
        return max(map(len, _table_lines(derivation, shown))) > width

    shown = bisect_left(range(len(sentence)), True, lo=1, key=is_too_wide) - 1
    heading = textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)
    return [*heading, *_table_lines(derivation, max(1, shown))]


def _table_lines(derivation: Derivation, shown: int) -> list[str]:
    """Return the lines of the table; lists show at most `shown` words."""

    def format_lists(lists: dict[str, list[int]]) -> list[str]:
        return [_format_list(words, shown, from_end=name in READ_FROM_END) for name, words in lists.items()]

    rows = [
        ["Tran.", *derivation.initial, "Arc"],
        ["", *format_lists(derivation.initial), ""],
        *(
            [_abbreviation(step.taken.name), *format_lists(step.lists), _format_arc(step.taken.arc)]
            for step in derivation.steps
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [line.rstrip() for line in lines]


def _format_arc(arc: NodeArc | None) -> str:
    if arc is None:
        return ""
    return f"{arc.head} → {arc.dependent}" if arc.head < arc.dependent else f"{arc.dependent} ← {arc.head}"


def _format_list(words: list[int], shown: int, *, from_end: bool) -> str:
    items = list(map(str, words))
    if len(items) > shown:
        items = ["…", *items[-shown:]] if from_end else [*items[:shown], "…"]
    return f"[ {', '.join(items)} ]" if items else "[ ]"


def _abbreviation(name: str) -> str:
    """Return SH, NA, LA_1, RA_2 or RE, as in the paper's figures."""
    word, _, k = name.partition("_")
    first, _, second = word.partition("-")
    letters = first[0] + second[0] if second else first[:2].upper()
    return letters + (f"_{k}" if k else "")
