"""`longarc draw`: draw trees in the terminal, as SVG, or for LaTeX."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longarc.cli.options import Encoding, Memory, SkipInvalid, TreebankFile, check_tree_and_memory, read_sentences
from longarc.data.formats import COMPRESSION_SUFFIXES, format_suffix
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence

    Pairs = Iterator[tuple[Sentence, Sentence | None]]
    Drawing = Callable[[Sentence, Sentence | None], str]

MAX_PICTURES = 50
"""The maximum number of files that one command writes."""

BYTES_PER_PAIR = 16
"""Approximate memory of a drawing, per pair of words."""

DrawingFormat = Literal["svg", "tikz", "text"]
Theme = Literal["light", "dark", "auto"]

SUFFIXES: dict[str, DrawingFormat] = {".svg": "svg", ".tex": "tikz", ".tikz": "tikz", ".txt": "text"}


def draw(
    treebank: TreebankFile,
    sentence: Annotated[
        str | None,
        typer.Option("--sentence", "-n", metavar="N", help="Draw only this sentence: its number from 1, or sent_id."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="GOLD", help="A treebank of the same sentences: show where its trees differ."),
    ] = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help=".svg, .tex, .tikz or .txt; - is text on the terminal."),
    ] = "-",
    tags: Annotated[bool, typer.Option(help="Show part-of-speech tags.")] = True,
    features: Annotated[bool, typer.Option("--features", help="Show morphological features.")] = False,
    theme: Annotated[Theme, typer.Option(help="Colours of an SVG; auto follows the reader's system.")] = "light",
    memory: Memory = 1024,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Draw trees. Several sentences become one text, or several pictures: OUT-1.svg, OUT-2.svg and so on."""
    from longarc.data.files import open_output

    format = _drawing_format(output)
    if treebank == against == "-":
        raise LongarcError("FILE and --against are both standard input", "Read one of them from a file.")
    pairs = _pairs(treebank, against, encoding, skip_invalid, memory)
    if sentence is not None:
        pairs = iter([_find(pairs, sentence, treebank)])
    drawing = _drawing(format, tags, features, theme, colour=output == "-" and _use_colour())
    if against is not None:
        drawing = _with_lines_in_errors(drawing, treebank, against)
    if format == "text":
        with open_output(output) as stream:
            count = 0
            for count, (tree, gold) in enumerate(pairs, 1):
                stream.write((("\n" if count > 1 else "") + _heading(tree) + drawing(tree, gold)).encode())
            if not count:
                raise LongarcError(f"{treebank}: contains no sentences")
        return
    trees = list(islice(pairs, MAX_PICTURES + 1))
    if len(trees) > MAX_PICTURES:
        raise LongarcError(
            f"{treebank}: contains more than {MAX_PICTURES} sentences, too many for one picture each",
            "Select one with --sentence, or draw all of them into one text with -o OUT.txt.",
        )
    if not trees:
        raise LongarcError(f"{treebank}: contains no sentences")
    # Draw everything before writing anything, so that an error leaves no files behind.
    pictures = [drawing(tree, gold) for tree, gold in trees]
    for number, picture in enumerate(pictures, 1):
        with open_output(output if len(pictures) == 1 else _numbered(output, number)) as stream:
            stream.write(picture.encode())


def _drawing_format(output: str) -> DrawingFormat:
    """Return the format that the name of the output selects."""
    if output == "-":
        return "text"
    if (suffix := format_suffix(output)) not in SUFFIXES:
        raise LongarcError(
            f"{output}: the suffix does not select a format",
            f"End the name in {', '.join(SUFFIXES)}, or omit it for text on the terminal.",
        )
    return SUFFIXES[suffix]


def _numbered(output: str, number: int) -> Path:
    """Return trees-3.svg for trees.svg, and trees-3.svg.gz for trees.svg.gz."""
    path = Path(output)
    compression = path.suffix if path.suffix.lower() in COMPRESSION_SUFFIXES else ""
    plain = path.with_suffix("") if compression else path
    return plain.with_name(f"{plain.stem}-{number}{plain.suffix}{compression}")


def _use_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _drawing(format: DrawingFormat, tags: bool, features: bool, theme: Theme, *, colour: bool) -> Drawing:
    """Return the function that draws a sentence, compared to a gold one if there is one."""
    from longarc.drawing.svg import svg_tree
    from longarc.drawing.text import text_tree
    from longarc.drawing.tikz import tikz_tree

    if format == "svg":
        return lambda tree, gold: svg_tree(tree, tags=tags, features=features, theme=theme, against=gold)
    if format == "tikz":
        return lambda tree, gold: tikz_tree(tree, tags=tags, features=features, against=gold)
    return lambda tree, gold: text_tree(tree, tags=tags, features=features, colour=colour, against=gold)


def _with_lines_in_errors(drawing: Drawing, treebank: str, against: str) -> Drawing:
    """Return the same function, with the lines of the sentence in both files in its errors."""
    from longarc.data.files import source_name

    def draw_pair(tree: Sentence, gold: Sentence | None) -> str:
        try:
            return drawing(tree, gold)
        except LongarcError as error:
            lines = f"{source_name(treebank)}:{tree.line} and {source_name(against)}:{gold.line if gold else 0}"
            raise LongarcError(f"{lines}: {error.message}", error.hint) from None

    return draw_pair


def _pairs(treebank: str, against: str | None, encoding: str, skip_invalid: bool, memory: int) -> Pairs:
    """Yield the sentences, each with its gold sentence if there is a gold treebank."""
    check = check_tree_and_memory(memory, BYTES_PER_PAIR)
    sentences = read_sentences(treebank, encoding=encoding, skip_invalid=skip_invalid, check=check)
    if against is None:
        yield from ((sentence, None) for sentence in sentences)
        return
    gold_sentences = read_sentences(against, encoding=encoding, skip_invalid=skip_invalid, check=check)
    for number, sentence in enumerate(sentences, 1):
        gold = next(gold_sentences, None)
        if gold is None:
            raise LongarcError(f"{against}: contains {number - 1} sentences, fewer than {treebank}")
        yield sentence, gold
    if next(gold_sentences, None) is not None:
        raise LongarcError(f"{against}: contains more sentences than {treebank}")


def _find(pairs: Pairs, key: str, treebank: str) -> tuple[Sentence, Sentence | None]:
    """Look up a sentence by its number, else by its sent_id."""
    position = int(key) if key.isdecimal() else 0
    match = None
    count = 0
    for count, pair in enumerate(pairs, 1):
        if count == position:
            return pair
        if match is None and _sent_id(pair[0]) == key:
            match = pair
            if not position:
                break
    if match is None:
        raise LongarcError(
            f"{treebank}: there is no sentence {key!r}",
            f"The file contains {count} sentences; use a number from 1 to {count}, or a sent_id.",
        )
    return match


def _sent_id(sentence: Sentence) -> str | None:
    for comment in sentence.comments:
        key, separator, value = comment[1:].partition("=")
        if separator and key.strip() == "sent_id":
            return value.strip()
    return None


def _heading(sentence: Sentence) -> str:
    """Return a line with the sentence's sent_id, if it has one."""
    from longarc.drawing.text_width import printable

    name = _sent_id(sentence)
    return "" if name is None else f"# sent_id = {printable(name)}\n"
