"""Draw trees for LaTeX, with the package tikz-dependency (https://ctan.org/pkg/tikz-dependency)."""

from __future__ import annotations

import re

import numpy as np

from longarc.data.sentence import NO_HEAD, Sentence
from longarc.drawing.layout import arc_levels
from longarc.drawing.text_width import ems, is_right_to_left, printable
from longarc.drawing.tree_diff import tree_diff
from longarc.drawing.word_labels import features_of, tag_of
from longarc.trees.structure import Heads, projective_arcs

PREAMBLE = r"% In the preamble: \usepackage{tikz-dependency}. Scripts beyond Latin want LuaLaTeX or XeLaTeX and a font."

FIRST_LEVEL, LEVEL = 4.5, 3.5
"""The height of the lowest arcs, and the distance between levels, in ex."""

LABEL_SCALE = 0.7
"""The font size of labels relative to that of forms."""

# Okabe & Ito's palette, as in the SVG.
COLOURS = {"longarc crossing": "0072B2", "longarc wrong": "D55E00", "longarc gold": "009E73"}
CROSSING = ("longarc crossing", "densely dashed")
WRONG_HEAD = ("longarc wrong", "very thick")
WRONG_RELATION = ("longarc wrong", "thick")

_SPECIAL = {
    **{character: f"\\{character}" for character in "%$#_"},
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    # `\&` separates columns, and a bar or a bracket at the start of a cell begins its options.
    "&": r"\symbol{38}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    # Babel makes the quotation mark an active character in some languages.
    '"': r"\symbol{34}",
}
_TO_ESCAPE = re.compile("[" + re.escape("".join(_SPECIAL)) + "]|-(?=-)")


def escape_tex(text: str) -> str:
    """Escape a text so that LaTeX prints it verbatim. Two hyphens do not become a dash."""
    return _TO_ESCAPE.sub(lambda match: _SPECIAL.get(match[0], "-{}"), printable(text))


def tikz_tree(
    sentence: Sentence,
    *,
    tags: bool = True,
    features: bool = False,
    against: Sentence | None = None,
) -> str:
    """Draw the tree as a `dependency` environment, non-projective arcs dashed. See `svg_tree` for the arguments."""
    heads = sentence.node_heads
    styles: list[list[str]] = [[] for _ in heads]
    for node in np.flatnonzero(~projective_arcs(heads)).tolist():
        styles[node] += CROSSING
    below: list[str] = []
    if against is not None:
        diff = tree_diff(sentence, against)
        for node in np.flatnonzero(diff.arcs).tolist():
            wrong = WRONG_HEAD if diff.heads[node] else WRONG_RELATION
            styles[node] = [*wrong, *styles[node][1:]]
        gold = np.where(diff.arcs, against.node_heads, NO_HEAD)
        dashed = ~projective_arcs(against.node_heads)
        gold_styles = [["longarc gold", *(CROSSING[1:] if mark else ())] for mark in dashed.tolist()]
        below = _edges(gold, against.node_relations, gold_styles, sentence, "edge below")
    above = _edges(heads, sentence.node_relations, styles, sentence)
    rows = _rows(sentence, tags, features)
    sizes = [r"\footnotesize"] * tags + [r"\tiny"] * (len(rows) - 1 - tags)
    fonts = "".join(f", row {row}/.style={{nodes={{font={size}}}}}" for row, size in enumerate(sizes, 2))
    used = [name for name in COLOURS if any(name in line for line in [*above, *below])]
    return "\n".join(
        [
            PREAMBLE,
            *(rf"\definecolor{{{name}}}{{HTML}}{{{COLOURS[name]}}}" for name in used),
            r"\begin{dependency}",
            rf"  \begin{{deptext}}[column sep=1em{fonts}]",
            f"    {_first_row(sentence, rows[0])} \\\\",
            *("    " + r" \& ".join(row) + r" \\" for row in rows[1:]),
            r"  \end{deptext}",
            *above,
            *below,
            r"\end{dependency}",
            "",
        ]
    )


def _rows(sentence: Sentence, tags: bool, features: bool) -> list[list[str]]:
    """Return the cells of each row, from left to right: forms, tags, features."""
    lines = [[form] for form in sentence.forms]
    for word, line in zip(sentence.word_rows, lines, strict=True):
        line += [tag_of(word)] * tags + features_of(word) * features
    if is_right_to_left(sentence.forms):
        lines.reverse()
    tallest = max(map(len, lines), default=1)
    return [[escape_tex(line[row]) if row < len(line) else "" for line in lines] for row in range(tallest)]


def _first_row(sentence: Sentence, cells: list[str]) -> str:
    """Join the forms, with a wider gap where the label between two neighbours needs the space."""
    forms, heads, relations = sentence.forms, sentence.node_heads, sentence.node_relations
    gaps = []
    for left in range(1, len(forms)):
        arc = left if heads[left] == left + 1 else left + 1
        has_label = heads[arc] in (left, left + 1)
        room = 0.8 * (ems(forms[left - 1]) + ems(forms[left])) / 2 + 1.3
        missing = LABEL_SCALE * ems(relations[arc]) + 1.2 - room if has_label else 0.0
        gaps.append(rf" \&[{missing:.1f}em] " if missing >= 0.1 else r" \& ")
    if is_right_to_left(forms):
        gaps.reverse()
    return "".join(cell + gap for cell, gap in zip(cells, [*gaps, ""], strict=True))


def _edges(heads: Heads, relations: list[str], styles: list[list[str]], sentence: Sentence, *options: str) -> list[str]:
    """Return a line for each arc, in the order of the dependents."""
    words = len(sentence)
    # Columns are counted from the left, also in scripts that are written from right to left.
    column = range(words + 1, 0, -1) if is_right_to_left(sentence.forms) else range(words + 1)
    levels = arc_levels(heads)
    levels[heads == 0] = levels.max(initial=0) + 1
    lines = []
    for node in np.flatnonzero(heads >= 0).tolist():
        height = FIRST_LEVEL + (int(levels[node]) - 1) * LEVEL
        settings = [*options, f"edge height={height:g}ex"]
        if heads[node] == 0 and "edge below" in options:
            # Below the words, the package expects a quarter of the height for roots.
            settings = [*options, f"edge unit distance={height / 4:g}ex"]
        if styles[node]:
            settings.append(f"edge style={{{', '.join(styles[node])}}}")
        start = r"\deproot" if heads[node] == 0 else r"\depedge"
        ends = f"{{{column[node]}}}" if heads[node] == 0 else f"{{{column[int(heads[node])]}}}{{{column[node]}}}"
        lines.append(f"  {start}[{', '.join(settings)}]{ends}{{{escape_tex(relations[node])}}}")
    return lines
