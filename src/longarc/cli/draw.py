"""`longarc draw`: trees on the terminal, as SVG, or for LaTeX."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.options import Encoding, SkipInvalid, read_sentences
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence

    Pairs = Iterator[tuple[Sentence, Sentence | None]]
    Drawing = Callable[[Sentence, Sentence | None], str]

MAX_PICTURES = 50
"""More files than this are not written unless one sentence is chosen."""

SUFFIXES = {".svg": "svg", ".tex": "tikz", ".tikz": "tikz", ".txt": "text"}


class ThemeName(str, Enum):
    light = "light"
    dark = "dark"
    auto = "auto"


def draw(
    treebank: Annotated[
        str, typer.Argument(metavar="FILE", help="CoNLL-U, CoNLL-X or JSON lines; - is standard input.")
    ],
    sentence: Annotated[
        str | None,
        typer.Option(
            "--sentence", "-n", metavar="N", help="Only this one: its number, counted from 1, or its sent_id."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="GOLD", help="A treebank with the same sentences: show where its trees differ."),
    ] = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help=".svg, .tex, .tikz or .txt; - is text on the terminal."),
    ] = "-",
    tags: Annotated[bool, typer.Option(help="Show part-of-speech tags.")] = True,
    features: Annotated[bool, typer.Option("--features", help="Show morphological features.")] = False,
    theme: Annotated[
        ThemeName, typer.Option(help="Colours of an SVG; auto follows the reader's screen.")
    ] = ThemeName.light,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Draw trees. Several sentences go into one text, or into several pictures: OUT-1.svg, OUT-2.svg and so on."""
    from longarc.data.files import open_output

    kind = _kind(output)
    if treebank == against == "-":
        raise LongarcError("FILE and --against cannot both be standard input")
    pairs = _pairs(treebank, against, encoding, skip_invalid)
    if sentence is not None:
        pairs = iter([_choose(pairs, sentence, treebank)])
    drawing = _drawing(kind, tags, features, theme, colour=output == "-" and _wants_colour())
    if against is not None:
        drawing = _naming_lines(drawing, treebank, against)
    if kind == "text":
        with open_output(output) as stream:
            count = 0
            for count, (tree, gold) in enumerate(pairs, 1):
                stream.write((("\n" if count > 1 else "") + _heading(tree) + drawing(tree, gold)).encode())
            if not count:
                raise LongarcError(f"{treebank}: there is no sentence to draw")
        return
    chosen = list(islice(pairs, MAX_PICTURES + 1))
    if len(chosen) > MAX_PICTURES:
        raise LongarcError(
            f"{treebank}: more than {MAX_PICTURES} sentences, a picture each",
            "Choose one with --sentence, or draw them all into one text with -o OUT.txt.",
        )
    if not chosen:
        raise LongarcError(f"{treebank}: there is no sentence to draw")
    # All are drawn before the first is written, so that a mistake leaves nothing behind.
    pictures = [drawing(tree, gold) for tree, gold in chosen]
    for number, picture in enumerate(pictures, 1):
        with open_output(output if len(pictures) == 1 else _numbered(output, number)) as stream:
            stream.write(picture.encode())


def _kind(output: str) -> str:
    """What kind of drawing a name asks for."""
    if output == "-":
        return "text"
    suffixes = [suffix for suffix in Path(output).suffixes if suffix not in (".gz", ".xz")]
    if not suffixes or suffixes[-1] not in SUFFIXES:
        raise LongarcError(
            f"{output}: the name does not say which kind of drawing is wanted",
            f"End it in {', '.join(SUFFIXES)}, or leave it out for text on the terminal.",
        )
    return SUFFIXES[suffixes[-1]]


def _numbered(output: str, number: int) -> Path:
    """trees.svg as trees-3.svg, trees.svg.gz as trees-3.svg.gz."""
    path = Path(output)
    packed = path.suffix if path.suffix in (".gz", ".xz") else ""
    plain = path.with_suffix("") if packed else path
    return plain.with_name(f"{plain.stem}-{number}{plain.suffix}{packed}")


def _wants_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _drawing(kind: str, tags: bool, features: bool, theme: ThemeName, *, colour: bool) -> Drawing:
    from longarc.drawing.svg import svg_tree
    from longarc.drawing.text import text_tree
    from longarc.drawing.tikz import tikz_tree

    if kind == "svg":
        return lambda tree, gold: svg_tree(tree, tags=tags, features=features, theme=theme.value, against=gold)
    if kind == "tikz":
        return lambda tree, gold: tikz_tree(tree, tags=tags, features=features, against=gold)
    return lambda tree, gold: text_tree(tree, tags=tags, features=features, colour=colour, against=gold)


def _naming_lines(drawing: Drawing, treebank: str, against: str) -> Drawing:
    """The same drawing, whose mistakes say in which lines of the two files the sentence stands."""

    from longarc.data.files import source_name

    def named(tree: Sentence, gold: Sentence | None) -> str:
        try:
            return drawing(tree, gold)
        except LongarcError as error:
            place = f"{source_name(treebank)}:{tree.line} and {source_name(against)}:{gold.line if gold else 0}"
            raise LongarcError(f"{place}: {error.message}", error.hint) from None

    return named


def _pairs(treebank: str, against: str | None, encoding: str, skip_invalid: bool) -> Pairs:
    """The sentences, each with the gold one where there is a gold treebank."""
    from longarc.trees.structure import require_tree

    sentences = read_sentences(treebank, encoding=encoding, skip_invalid=skip_invalid, check=require_tree)
    if against is None:
        yield from ((sentence, None) for sentence in sentences)
        return
    golds = read_sentences(against, encoding=encoding, skip_invalid=skip_invalid, check=require_tree)
    for number, sentence in enumerate(sentences, 1):
        gold = next(golds, None)
        if gold is None:
            raise LongarcError(f"{against}: has {number - 1} sentences, fewer than {treebank}")
        yield sentence, gold
    if next(golds, None) is not None:
        raise LongarcError(f"{against}: has more sentences than {treebank}")


def _choose(pairs: Pairs, wanted: str, treebank: str) -> tuple[Sentence, Sentence | None]:
    """The sentence with some number or, where that is no number of a sentence, with some sent_id."""
    position = int(wanted) if wanted.isdecimal() else 0
    named = None
    count = 0
    for count, pair in enumerate(pairs, 1):
        if count == position:
            return pair
        if named is None and _identifier(pair[0]) == wanted:
            named = pair
            if not position:
                break
    if named is None:
        raise LongarcError(
            f"{treebank}: there is no sentence {wanted!r}",
            f"The file has {count} sentences; give a number from 1 to {count}, or a sent_id.",
        )
    return named


def _identifier(sentence: Sentence) -> str | None:
    for comment in sentence.comments:
        key, separator, value = comment[1:].partition("=")
        if separator and key.strip() == "sent_id":
            return value.strip()
    return None


def _heading(sentence: Sentence) -> str:
    """A line that names the sentence, where it has a name."""
    from longarc.drawing.text_width import printable

    name = _identifier(sentence)
    return "" if name is None else f"# sent_id = {printable(name)}\n"
