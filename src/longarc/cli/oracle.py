"""`longarc oracle`: the transitions that build the trees of a treebank."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.options import Encoding, SkipInvalid, read_sentences
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence


def oracle(
    treebank: Annotated[str, typer.Argument(help="CoNLL-U, CoNLL-X or JSON lines; - is standard input.")],
    system: Annotated[
        str,
        typer.Option(
            "--system",
            "-s",
            help="covington, nl-covington, arc-swift, arc-eager, arc-standard or arc-hybrid.",
        ),
    ] = "nl-covington",
    show_states: Annotated[
        bool, typer.Option("--show-states", help="Lay out λ1, λ2, buffer and arc as in the paper's figures.")
    ] = False,
    without_root: Annotated[
        bool,
        typer.Option("--without-root", help="Leave the artificial root out, as the paper's figures do (Covington)."),
    ] = False,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Print the static oracle's transitions, one per line with the relation of the arc, a blank line between sentences.

    The projective systems lose arcs of non-projective trees; `longarc convert --projectivize` lifts those first.
    """
    from longarc.transitions import get_system
    from longarc.trees.structure import is_projective, require_tree

    definition = get_system(system)
    if without_root and definition.projective:
        raise LongarcError(f"--without-root is for covington and nl-covington, not for {system}")
    options = {"with_root": False} if without_root else {}
    crossing = 0
    try:
        sentences = read_sentences(treebank, encoding=encoding, skip_invalid=skip_invalid, check=require_tree)
        for number, sentence in enumerate(sentences):
            lines = _derivation(definition, sentence, show_states, options)
            sys.stdout.write(("\n" if number else "") + "\n".join(lines) + "\n")
            crossing += definition.projective and not is_projective(sentence.heads)
    finally:
        if crossing:
            typer.echo(f"longarc: {crossing} non-projective sentences: {system} cannot build all arcs", err=True)


def _derivation(system: Any, sentence: Sentence, show_states: bool, options: dict[str, Any]) -> list[str]:
    """The lines of one sentence."""
    from longarc.transitions.static_oracle import pad_heads

    lengths, gold = pad_heads([sentence.heads])
    relations = sentence.relations
    state = system.initial(lengths, single_root=False, **options)
    table = [["Tran.", *state.lists(0), "Arc"], ["", *map(_layout, state.lists(0).values()), ""]]
    lines = []
    while (choice := system.oracle(state, gold))[0] >= 0:
        name = system.names(state, choice)[0]
        before = state.heads[0].copy()
        system.apply(state, choice)
        arc = relation = ""
        for dependent in (state.heads[0] != before).nonzero()[0]:
            head = int(state.heads[0, dependent])
            arc = f"{head} → {dependent}" if head < dependent else f"{dependent} ← {head}"
            # An arc that is not in the tree, for want of a better one, has no relation.
            relation = "\t" + (relations[dependent] if gold[0, dependent] == head else "_")
        lines.append(name + relation)
        table.append([_abbreviation(name), *map(_layout, state.lists(0).values()), arc])
    if not show_states:
        return lines
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    words = " ".join(f"{number}:{form}" for number, form in enumerate(sentence.forms, 1))
    rows = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return [words, *(row.rstrip() for row in rows)]


def _layout(words: list[int]) -> str:
    return f"[ {', '.join(map(str, words))} ]" if words else "[ ]"


def _abbreviation(name: str) -> str:
    """SH, NA, LA_1, RA_2, RE: as in the paper's figures."""
    word, _, k = name.partition("_")
    first, _, second = word.partition("-")
    letters = first[0] + second[0] if second else first[:2].upper()
    return letters + (f"_{k}" if k else "")
