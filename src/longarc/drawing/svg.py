"""Draw trees as SVG: words in a row, arcs above them, and gold arcs that differ below."""

from __future__ import annotations

from typing import Literal
from xml.sax.saxutils import escape

import numpy as np

from longarc.data.sentence import NO_HEAD, Sentence
from longarc.drawing.layout import LABEL_HEIGHT, Lengths, Placement, lay_out
from longarc.drawing.text_width import ems, is_right_to_left, printable
from longarc.drawing.tree_diff import TreeDiff, tree_diff
from longarc.drawing.word_labels import arc_in_words, features_of, tag_of
from longarc.errors import LongarcError
from longarc.trees.structure import Mask, projective_arcs

Theme = Literal["light", "dark", "auto"]
Line = tuple[str, str, float]
"""A line of text under a form: its CSS class, the text, and the font size."""

THEMES: tuple[Theme, ...] = ("light", "dark", "auto")

FONTS = "'Noto Sans', 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
FORM_SIZE, TAG_SIZE, FEATURE_SIZE, LABEL_SIZE, CAPTION_SIZE = 17.0, 11.0, 9.5, 11.5, 11.0
MARGIN = 14.0
FOOT = 5.0
"""The distance between a word and the ends of its arcs."""
ARROW_LENGTH, ARROW_WIDTH = 7.0, 6.0
CORNER = 24.0

# Colours of Okabe & Ito's palette that contrast with the background. Each kind of arc also has its own line style.
COLOURS = {
    "light": {
        **{"paper": "#ffffff", "ink": "#1a1a1a", "quiet": "#6b6b6b", "line": "#4d4d4d"},
        **{"crossing": "#0072B2", "wrong": "#D55E00", "gold": "#009E73"},
    },
    "dark": {
        **{"paper": "#16181d", "ink": "#ececec", "quiet": "#a3a7ae", "line": "#b8bcc4"},
        **{"crossing": "#56B4E9", "wrong": "#E69F00", "gold": "#009E73"},
    },
}


def svg_tree(
    sentence: Sentence,
    *,
    tags: bool = True,
    features: bool = False,
    theme: Theme = "light",
    against: Sentence | None = None,
) -> str:
    """Draw the tree as a self-contained SVG document.

    Non-projective arcs are blue and dashed. Words in right-to-left scripts run from right to left. With `against`, a
    gold tree over the same words, arcs that differ are orange, thick if the head differs, and the gold arcs are drawn
    in green below the words.
    """
    if theme not in THEMES:
        raise LongarcError(f"unknown theme {theme!r}", f"Use one of {', '.join(THEMES)}.")
    diff = None if against is None else tree_diff(sentence, against)
    right_to_left = is_right_to_left(sentence.forms)
    texts = _texts_below(sentence, tags, features)
    sides = [(sentence.node_heads, _label_widths(sentence))]
    if against is not None and diff is not None:
        sides.append((np.where(diff.arcs, against.node_heads, NO_HEAD), _label_widths(against)))
    layout = lay_out(_word_widths(sentence, texts), sides, right_to_left=right_to_left)

    caption = "" if diff is None else _caption(diff)
    width = max(layout.width, CAPTION_SIZE * ems(caption)) + 2 * MARGIN
    left = (width - layout.width) / 2
    foot = MARGIN + layout.sides[0].height
    words, block = _words(sentence, texts, layout.centres + left, foot + FOOT, right_to_left)
    crossing = ~projective_arcs(sentence.node_heads)
    parts = [words, *_arcs(sentence, layout.sides[0].shifted(left), foot, -1, _arc_classes(crossing, diff))]
    bottom = foot + FOOT + block
    if against is not None:
        below = layout.sides[1].shifted(left)
        gold = np.where(~projective_arcs(against.node_heads), "gold crossing", "gold").tolist()
        parts += _arcs(against, below, bottom + FOOT, 1, gold)
        bottom += FOOT + below.height + 2 * CAPTION_SIZE
        parts.append(_text("caption", width / 2, bottom - 2, caption))
    head = _head(sentence, width, bottom + MARGIN, theme)
    return "\n".join([head, *parts, "</svg>"]) + "\n"


# ---------------------------------------------------------------------------------------------------------------------
# Input of the layout.


def _label_widths(sentence: Sentence) -> Lengths:
    return np.array([LABEL_SIZE * ems(printable(relation)) for relation in sentence.node_relations])


def _texts_below(sentence: Sentence, tags: bool, features: bool) -> list[list[Line]]:
    """Return the lines of text under each form."""
    return [
        [("tag", tag_of(word), TAG_SIZE)] * tags
        + [("feature", feature, FEATURE_SIZE) for feature in features_of(word)] * features
        for word in sentence.word_rows
    ]


def _word_widths(sentence: Sentence, texts: list[list[Line]]) -> Lengths:
    widths = [0.0]
    for form, lines in zip(sentence.forms, texts, strict=True):
        widths.append(max([FORM_SIZE * ems(printable(form)), *(size * ems(text) for _, text, size in lines)]))
    return np.array(widths)


def _arc_classes(crossing: Mask, diff: TreeDiff | None) -> list[str]:
    """Return the CSS classes of each arc."""
    classes = []
    for node, crosses in enumerate(crossing.tolist()):
        names = ["crossing"] if crosses else []
        if diff is not None and diff.arcs[node]:
            names.append("wrong-head" if diff.heads[node] else "wrong-relation")
        classes.append(" ".join(names))
    return classes


def _caption(diff: TreeDiff) -> str:
    if not diff.arcs.any():
        return f"no difference: {diff.summary()}"
    return f"above: {diff.summary()}; below: the gold arcs that differ"


# ---------------------------------------------------------------------------------------------------------------------
# Output.


def _head(sentence: Sentence, width: float, height: float, theme: Theme) -> str:
    title = f"Dependency tree: {' '.join(sentence.forms)}"
    arcs = [f"{form}: {arc_in_words(sentence, node)}" for node, form in enumerate(sentence.forms, 1)]
    w, h = _number(np.ceil(width)), _number(np.ceil(height))
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="longarc-{theme}" '
            f'width="{w}" height="{h}" viewBox="0 0 {w} {h}">',
            f"<title>{_escaped(title)}</title>",
            f"<desc>{_escaped('; '.join(arcs))}</desc>",
            f"<style>\n{style_rules(theme)}</style>",
            f'<rect class="paper" width="{w}" height="{h}"/>',
        ]
    )


def style_rules(theme: Theme) -> str:
    """Return the style sheet that is embedded in every drawing."""
    # Rules are scoped by theme because drawings with different themes may be on the same page.
    here = f".longarc-{theme}"
    rules = (
        f"{here} text {{ font-family: {FONTS}; text-anchor: middle }}\n"
        f"{here} .form {{ font-size: {FORM_SIZE:g}px }}\n"
        f"{here} .tag {{ font-size: {TAG_SIZE:g}px; letter-spacing: 0.02em }}\n"
        f"{here} .feature {{ font-size: {FEATURE_SIZE:g}px }}\n"
        f"{here} .caption {{ font-size: {CAPTION_SIZE:g}px; font-style: italic }}\n"
        f"{here} .label text {{ font-size: {LABEL_SIZE:g}px }}\n"
        f"{here} .arc path {{ fill: none; stroke-width: 1.2 }}\n"
        f"{here} .arc.crossing path {{ stroke-dasharray: 6 3; stroke-width: 1.5 }}\n"
        f"{here} .arc.wrong-head path {{ stroke-width: 2.2 }}\n"
        f"{here} .label.wrong-head text, {here} .label.wrong-relation text {{ font-weight: bold }}\n"
    )
    if theme == "auto":
        dark = _colours(here, "dark")
        return rules + _colours(here, "light") + f"@media (prefers-color-scheme: dark) {{\n{dark}}}\n"
    return rules + _colours(here, theme)


def _colours(here: str, theme: str) -> str:
    colour = COLOURS[theme]
    rules = [
        f"{here} .paper, {here} .label rect {{ fill: {colour['paper']} }}",
        f"{here} text {{ fill: {colour['ink']} }}",
        f"{here} .tag, {here} .feature, {here} .caption {{ fill: {colour['quiet']} }}",
    ]
    for kind, name in (
        ("", "line"),
        (".crossing", "crossing"),
        (".wrong-head", "wrong"),
        (".wrong-relation", "wrong"),
        (".gold", "gold"),
    ):
        rules.append(f"{here} .arc{kind} path {{ stroke: {colour[name]} }}")
        rules.append(f"{here} .arc{kind} polygon {{ fill: {colour[name]} }}")
    return "\n".join(rules) + "\n"


def _words(
    sentence: Sentence,
    texts: list[list[Line]],
    centres: Lengths,
    top: float,
    right_to_left: bool,
) -> tuple[str, float]:
    """Draw the forms and the lines under them, and return their total height."""
    lines = []
    lowest = 0.0
    direction = ' direction="rtl"' if right_to_left else ""
    for node, form in enumerate(sentence.forms, 1):
        x, y = float(centres[node]), FORM_SIZE
        lines.append(_text("form", x, top + y, form, direction))
        y += 0.3 * FORM_SIZE
        for kind, text, size in texts[node - 1]:
            y += 1.25 * size
            lines.append(_text(kind, x, top + y, text))
        lowest = max(lowest, y)
    return "\n".join(lines), lowest + 0.3 * TAG_SIZE


def _arcs(sentence: Sentence, placement: Placement, foot: float, up: int, classes: list[str]) -> list[str]:
    """Draw the arcs, then their labels on top; `up` is -1 for arcs above the words and 1 for arcs below."""
    drawn = np.flatnonzero(placement.heads >= 0).tolist()
    relations = sentence.node_relations
    lines = []
    for arc in drawn:
        x = float(placement.ends[arc])
        base, half = foot + up * ARROW_LENGTH, ARROW_WIDTH / 2
        points = f"{_number(x)},{_number(foot)} {_number(x - half)},{_number(base)} {_number(x + half)},{_number(base)}"
        lines.append(
            f'<g class="{f"arc {classes[arc]}".strip()}" data-head="{placement.heads[arc]}" data-dependent="{arc}">'
            f'<path d="{_path(placement, arc, foot, up)}"/><polygon points="{points}"/></g>'
        )
    for arc in drawn:
        left, low, right, high = placement.boxes[arc].tolist()
        top = min(foot + up * low, foot + up * high)
        baseline = top + 0.5 * LABEL_HEIGHT + 0.35 * LABEL_SIZE
        lines.append(
            f'<g class="{f"label {classes[arc]}".strip()}" data-dependent="{arc}">'
            f'<rect x="{_number(left)}" y="{_number(top)}" width="{_number(right - left)}" '
            f'height="{_number(high - low)}"/>'
            f"{_text('', (left + right) / 2, baseline, relations[arc])}</g>"
        )
    return lines


def _path(placement: Placement, arc: int, foot: float, up: int) -> str:
    """Return the path of an arc from its head to its arrow, with rounded corners."""
    start, end, height = (float(values[arc]) for values in (placement.starts, placement.ends, placement.heights))
    base, top = foot + up * (ARROW_LENGTH - 1), foot + up * height
    if placement.heads[arc] == 0:
        return f"M{_number(end)} {_number(top - up * LABEL_HEIGHT / 2)}V{_number(base)}"
    along = 1 if end > start else -1
    across = along * min(CORNER, abs(end - start) / 2)
    rise = up * min(CORNER, height - ARROW_LENGTH)
    # Control points at 0.45 of the distance from the corner approximate a quarter of an ellipse.
    return (
        f"M{_number(start)} {_number(foot)}V{_number(top - rise)}"
        f"C{_number(start)} {_number(top - 0.45 * rise)} {_number(start + 0.45 * across)} {_number(top)} "
        f"{_number(start + across)} {_number(top)}"
        f"H{_number(end - across)}"
        f"C{_number(end - 0.45 * across)} {_number(top)} {_number(end)} {_number(top - 0.45 * rise)} "
        f"{_number(end)} {_number(top - rise)}V{_number(base)}"
    )


def _text(kind: str, x: float, y: float, text: str, attributes: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{_number(x)}" y="{_number(y)}"{attributes}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    return escape(printable(text))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
