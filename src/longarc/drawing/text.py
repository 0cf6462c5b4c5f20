"""Draw trees for terminals: one word per line, with arcs in box-drawing characters on the left."""

from __future__ import annotations

import unicodedata
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import Sentence
from longarc.drawing.layout import trunk_columns
from longarc.drawing.text_width import columns, printable
from longarc.drawing.tree_diff import tree_diff
from longarc.drawing.word_labels import arc_in_words, features_of, tag_of
from longarc.errors import LongarcError
from longarc.trees.structure import Heads, Mask, describe_cycle, find_cycle, projective_arcs

Grid = NDArray[np.str_]

# Keys: whether the trunk continues upwards, and whether it continues downwards.
DEPENDENT = {(False, True): "╭", (True, True): "├", (True, False): "╰"}
HEAD = {(False, True): "┬", (True, True): "┼", (True, False): "┴"}
CROSSING = "╪"
"""The crossing of a trunk with the line of an unrelated word."""
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
    """Draw the tree as lines of text: arcs, form, tag, relation (and features).

    Each head has a trunk, a vertical line. `┬`, `┼` or `┴` joins it to the head's line, and `╭`, `├` or `╰` to those of
    the dependents. The line of a child of the root starts at the left edge. Lines cross in `╪`, but only in
    non-projective trees. With `against`, a gold tree over the same words, gold arcs that differ follow their words.
    """
    heads = sentence.node_heads
    if cycle := find_cycle(heads):
        raise LongarcError(describe_cycle(cycle), "Only trees can be drawn as text.")
    nonprojective = ~projective_arcs(heads)
    grid, highlighted = _grid(heads, nonprojective)
    words = range(1, len(heads))
    table = [([printable(form) for form in sentence.forms], [""] * len(words))]
    if tags:
        table.append(([tag_of(word) for word in sentence.word_rows], [QUIET] * len(words)))
    relations = [printable(relation) for relation in sentence.node_relations[1:]]
    table.append((relations, [HIGHLIGHT if nonprojective[node] else RELATION for node in words]))
    if features:
        table.append((["|".join(features_of(word)) for word in sentence.word_rows], [QUIET] * len(words)))
    if against is not None:
        differs = tree_diff(sentence, against).arcs
        notes = [f"≠ gold: {arc_in_words(against, node)}" if differs[node] else "" for node in words]
        table.append((notes, [WRONG] * len(words)))
    aligned = [_aligned(cells) for cells, _ in table[:-1]] + [table[-1][0]]
    lines = []
    for row in range(len(words)):
        arcs = _coloured_row(grid[row], highlighted[row]) if colour else "".join(grid[row].tolist())
        texts = [cells[row] for cells in aligned]
        # The marks keep the columns in place in viewers that implement bidirectional text.
        mark = LEFT_TO_RIGHT_MARK if any(map(_has_right_to_left, texts)) else ""
        if colour:
            texts = [_styled(text, styles[row]) for text, (_, styles) in zip(texts, table, strict=True)]
        lines.append((mark + arcs + " " + f"{mark}  ".join(texts)).rstrip(" " + mark) + "\n")
    return "".join(lines)


def _grid(heads: Heads, nonprojective: Mask) -> tuple[Grid, Mask]:
    """Return the box characters of each word's line, and which of them belong to a non-projective arc."""
    n = len(heads)
    trunks = trunk_columns(heads)
    positions = np.maximum(2 * trunks - 1, 0)
    width = int(positions.max()) + 3
    grid: Grid = np.full((n, width), " ", dtype="<U1")
    highlighted = np.zeros((n, width), dtype=np.bool_)
    first, last = np.arange(n), np.arange(n)
    np.minimum.at(first, np.maximum(heads[1:], 0), np.arange(1, n))
    np.maximum.at(last, np.maximum(heads[1:], 0), np.arange(1, n))
    for head in np.flatnonzero(trunks > 0).tolist():
        grid[first[head] + 1 : last[head], positions[head]] = "│"
    for word in np.flatnonzero(heads >= 0).tolist():
        head = int(heads[word])
        line = grid[word, positions[head] :]
        line[:] = np.where(line == "│", CROSSING, "─")
        line[-1] = ARROW
        if head:
            line[0] = DEPENDENT[bool(first[head] < word), bool(last[head] > word)]
    for head in np.flatnonzero(trunks > 0).tolist():
        grid[head, positions[head]] = HEAD[bool(first[head] < head), bool(last[head] > head)]
    for word in np.flatnonzero(nonprojective).tolist():
        head = int(heads[word])
        highlighted[min(word, head + 1) : max(word + 1, head), positions[head]] = True
        highlighted[word, positions[head] :] = True
    return grid[1:], highlighted[1:]


def _aligned(cells: list[str]) -> list[str]:
    width = max(map(columns, cells), default=0)
    return [cell + " " * (width - columns(cell)) for cell in cells]


def _has_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


def _coloured_row(cells: Grid, highlighted: Mask) -> str:
    runs = groupby(zip(cells.tolist(), highlighted.tolist(), strict=True), key=lambda cell: bool(cell[1]))
    return "".join(_styled("".join(cell for cell, _ in run), HIGHLIGHT if mark else "") for mark, run in runs)


def _styled(text: str, style: str) -> str:
    return f"{style}{text}{PLAIN}" if style and text.strip() else text
