"""Trees for terminals: a word per line, lines of box characters from each head to its dependents at the left."""

from __future__ import annotations

import unicodedata
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import Sentence
from longarc.drawing.layout import trunk_columns
from longarc.drawing.text_width import columns, printable
from longarc.drawing.tree_diff import compare
from longarc.drawing.word_labels import arc_in_words, features_of, tag_of
from longarc.errors import LongarcError
from longarc.trees.structure import Heads, Mask, find_cycle, projective_arcs

Grid = NDArray[np.str_]

# By whether a line goes up and down from here.
DEPENDENT = {(False, True): "╭", (True, True): "├", (True, False): "╰"}
HEAD = {(False, True): "┬", (True, True): "┼", (True, False): "┴"}
CROSSING = "╪"
"""A trunk and the line of a word that have nothing to do with each other."""
ARROW = "►"

LEFT_TO_RIGHT_MARK = "\u200e"
PLAIN = "\x1b[0m"
HIGHLIGHT, QUIET, RELATION, WRONG = "\x1b[1;35m", "\x1b[2m", "\x1b[36m", "\x1b[1;31m"


def text_tree(
    sentence: Sentence,
    *,
    tags: bool = True,
    features: bool = False,
    colour: bool = False,
    against: Sentence | None = None,
) -> str:
    """The tree as lines of text, each with its line end: arcs, form, tag, relation (and features).

    Each head has a trunk, the vertical line that `┬`, `┼` or `┴` joins to the head's own line and `╭`, `├` or `╰` to
    those of its dependents; the line of a child of the root starts at the very left. Lines that pass each other, which
    only happens in non-projective trees, meet in `╪`. With `against`, a gold tree over the same words, the words whose
    arc differs have the gold one written after them.
    """
    heads = sentence.heads
    if cycle := find_cycle(heads):
        raise LongarcError(f"the heads form a cycle through word {cycle[0]}, which cannot be drawn as a tree")
    bent = ~projective_arcs(heads)
    grid, highlighted = _grid(heads, bent)
    words = range(1, len(heads))
    table = [([printable(form) for form in sentence.forms], [""] * len(words))]
    if tags:
        table.append(([tag_of(word) for word in sentence.words], [QUIET] * len(words)))
    relations = [printable(relation) for relation in sentence.relations[1:]]
    table.append((relations, [HIGHLIGHT if bent[node] else RELATION for node in words]))
    if features:
        table.append((["|".join(features_of(word)) for word in sentence.words], [QUIET] * len(words)))
    if against is not None:
        differs = compare(sentence, against).arcs
        notes = [f"≠ gold: {arc_in_words(against, node)}" if differs[node] else "" for node in words]
        table.append((notes, [WRONG] * len(words)))
    aligned = [_aligned(cells) for cells, _ in table[:-1]] + [table[-1][0]]
    lines = []
    for row in range(len(words)):
        arcs = _coloured_row(grid[row], highlighted[row]) if colour else "".join(grid[row].tolist())
        texts = [cells[row] for cells in aligned]
        # In a viewer that orders words by their script the columns stay in place.
        mark = LEFT_TO_RIGHT_MARK if any(map(_turns_line, texts)) else ""
        if colour:
            texts = [_styled(text, styles[row]) for text, (_, styles) in zip(texts, table, strict=True)]
        lines.append((mark + arcs + " " + f"{mark}  ".join(texts)).rstrip(" " + mark) + "\n")
    return "".join(lines)


def _grid(heads: Heads, bent: Mask) -> tuple[Grid, Mask]:
    """The box characters of each word's line, and which of them belong to a non-projective arc."""
    n = len(heads)
    trunks = trunk_columns(heads)
    places = np.maximum(2 * trunks - 1, 0)
    width = int(places.max()) + 3
    grid: Grid = np.full((n, width), " ", dtype="<U1")
    highlighted = np.zeros((n, width), dtype=np.bool_)
    first, last = np.arange(n), np.arange(n)
    np.minimum.at(first, np.maximum(heads[1:], 0), np.arange(1, n))
    np.maximum.at(last, np.maximum(heads[1:], 0), np.arange(1, n))
    for head in np.flatnonzero(trunks > 0).tolist():
        grid[first[head] + 1 : last[head], places[head]] = "│"
    for word in np.flatnonzero(heads >= 0).tolist():
        head = int(heads[word])
        line = grid[word, places[head] :]
        line[:] = np.where(line == "│", CROSSING, "─")
        line[-1] = ARROW
        if head:
            line[0] = DEPENDENT[bool(first[head] < word), bool(last[head] > word)]
    for head in np.flatnonzero(trunks > 0).tolist():
        grid[head, places[head]] = HEAD[bool(first[head] < head), bool(last[head] > head)]
    for word in np.flatnonzero(bent).tolist():
        head = int(heads[word])
        highlighted[min(word, head + 1) : max(word + 1, head), places[head]] = True
        highlighted[word, places[head] :] = True
    return grid[1:], highlighted[1:]


def _aligned(cells: list[str]) -> list[str]:
    width = max(map(columns, cells), default=0)
    return [cell + " " * (width - columns(cell)) for cell in cells]


def _turns_line(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


def _coloured_row(cells: Grid, highlighted: Mask) -> str:
    runs = groupby(zip(cells.tolist(), highlighted.tolist(), strict=True), key=lambda cell: bool(cell[1]))
    return "".join(_styled("".join(cell for cell, _ in run), HIGHLIGHT if mark else "") for mark, run in runs)


def _styled(text: str, style: str) -> str:
    return f"{style}{text}{PLAIN}" if style and text.strip() else text
