"""Pictures, drawn with matplotlib, which only these functions need (`pip install 'longarc[plot]'`)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from longarc.data.files import open_output
from longarc.errors import LongarcError
from longarc.evaluation.breakdown import TABLES, Breakdown, Row
from longarc.evaluation.treebank_stats import TreebankStats

# Okabe & Ito's colours, which people with colour-blindness can tell apart.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
FORMATS = (".svg", ".png", ".pdf")


def check_picture(target: Path) -> None:
    """Says what is wrong before the work begins: a kind of picture that is not known, or no matplotlib."""
    if target.suffix not in FORMATS:
        raise LongarcError(f"{target}: unknown kind of picture", f"Use one of {', '.join(FORMATS)}.")
    if importlib.util.find_spec("matplotlib") is None:
        raise LongarcError("pictures need matplotlib", "Install it with: pip install 'longarc[plot]'")


def plot_transitions(stats: Mapping[str, TreebankStats], target: Path) -> None:
    """Draws the mean number of transitions of sentences of each length, a line per system, over all treebanks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    words = np.array([n for treebank in stats.values() for n in treebank.words])
    lengths = np.unique(words)
    names = next(iter(stats.values())).systems
    # Systems that take equally many transitions lie on each other: the later ones are drawn broader and below.
    for rank, (name, colour, marker) in enumerate(zip(names, COLOURS, MARKERS, strict=True)):
        taken = np.array([n for treebank in stats.values() for n in treebank.systems[name].transitions])
        means = [taken[words == length].mean() for length in lengths]
        axes.plot(
            lengths,
            means,
            marker=marker,
            markersize=3 + rank,
            linewidth=1 + rank,
            zorder=10 - rank,
            color=colour,
            label=name,
        )
    axes.set_xlabel("words in the sentence")
    axes.set_ylabel("transitions (mean)")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    with open_output(target) as stream:
        figure.savefig(stream, format=target.suffix[1:], dpi=150)


def plot_learning_curve(history: Sequence[Mapping[str, Any]], target: Path) -> None:
    """Draws the training loss, and the development scores where there are any, epoch by epoch."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    epochs = [entry["epoch"] for entry in history]
    axes.plot(epochs, [entry["loss"] for entry in history], color="0.4", linestyle="--", label="loss (left)")
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("training loss per sentence")
    axes.set_ylim(bottom=0)
    lines, labels = axes.get_legend_handles_labels()
    if "dev_las" in history[0]:
        scores = axes.twinx()
        scores.set_ylabel("development score, %")
        for key, name, colour, marker in zip(
            ("uas", "las", "tags"), ("UAS", "LAS", "tags"), COLOURS, MARKERS, strict=False
        ):
            values = [entry[f"dev_{key}"] for entry in history]
            scores.plot(epochs, values, color=colour, marker=marker, markersize=3, linewidth=1, label=name)
        more_lines, more_labels = scores.get_legend_handles_labels()
        lines, labels = lines + more_lines, labels + more_labels
    axes.legend(lines, labels, frameon=False, loc="center right")
    with open_output(target) as stream:
        figure.savefig(stream, format=target.suffix[1:])


def plot_learning_curves(curves: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]], target: Path) -> None:
    """Draws the training loss of several systems, and below it the development LAS where all of them have one.

    A system has a colour, by its place, and a line for each of its trainings, of which there may be none.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    panels = {"loss": "training loss per sentence"}
    if all("dev_las" in entry for histories in curves.values() for history in histories for entry in history):
        panels["dev_las"] = "development LAS, %"
    figure = Figure(figsize=(7, 3.5 * len(panels)), layout="constrained")
    for number, (key, title) in enumerate(panels.items(), 1):
        axes = figure.add_subplot(len(panels), 1, number)
        for (name, histories), colour, marker in zip(curves.items(), COLOURS, MARKERS, strict=False):
            for seed, history in enumerate(histories):
                epochs, values = [entry["epoch"] for entry in history], [entry[key] for entry in history]
                label = None if seed else name
                axes.plot(epochs, values, color=colour, marker=marker, markersize=3, linewidth=1, label=label)
        axes.set_xlabel("epoch")
        axes.set_ylabel(title)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    _save_reproducibly(figure, target)


def plot_arc_lengths(tables: Mapping[str, Sequence[Row]], target: Path) -> None:
    """Draws the LAS (F1) of each arc length from the longest to the left to the longest to the right, by system.

    Lengths that no gold arc has are left out. A system without rows has no line, and keeps its colour.
    """
    from matplotlib.figure import Figure

    ordered = from_left_to_right([row for rows in tables.values() for row in rows if row.gold])
    names = list(dict.fromkeys(row.name for row in ordered))
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(len(names))
    for (system, rows), colour, marker in zip(tables.items(), COLOURS, MARKERS, strict=False):
        if not rows:
            continue
        found = {row.name: row.as_dict()["las_f1"] for row in rows}
        values = [found.get(name, np.nan) for name in names]
        axes.plot(places, values, color=colour, marker=marker, markersize=4, linewidth=1, label=system)
    axes.set_xticks(places, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_xlabel(TABLES["arc_length"])
    axes.set_ylabel("LAS, F1 %")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    _save_reproducibly(figure, target)


def _save_reproducibly(figure: Any, target: Path) -> None:
    """Writes an SVG whose text is text, and that is the same for the same figures."""
    from matplotlib import rc_context

    with open_output(target) as stream, rc_context({"svg.fonttype": "none", "svg.hashsalt": target.name}):
        figure.savefig(stream, format="svg", metadata={"Date": None})


MOST_BARS = 25
"""Kinds of words or of mistakes that a picture has room for."""


def plot_breakdown(breakdown: Breakdown, folder: Path) -> list[Path]:
    """Draws every table of a breakdown and the most frequent mistakes to files in a folder; gives their names."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LongarcError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    drawn = []
    for name, rows in breakdown.tables.items():
        drawn.append(folder / f"{name}.svg")
        ordered = from_left_to_right(rows) if name == "arc_length" else rows[:MOST_BARS]
        _plot_rows(ordered, TABLES[name], drawn[-1])
    mistakes = {
        "relation_confusions": {f"{one['gold']} → {one['system']}": one for one in breakdown.relation_confusions},
        "head_confusions": {
            f"{one['tag']}: {one['gold_head']} → {one['system_head']}": one for one in breakdown.head_confusions
        },
    }
    titles = ("gold relation → system relation", "tag of the dependent: of the gold head → of the system head")
    for (name, confusions), title in zip(mistakes.items(), titles, strict=True):
        drawn.append(folder / f"{name}.svg")
        _plot_confusions({label: int(one["count"]) for label, one in confusions.items()}, title, drawn[-1])
    return drawn


def from_left_to_right(rows: Sequence[Row]) -> list[Row]:
    """Rows by arc length: the longest arc to the left first, the root in the middle, the longest to the right last."""

    def place(row: Row) -> int:
        side, _, lengths = row.name.partition(" ")
        first = int("".join(takewhile(str.isdigit, lengths)) or 0)
        return first if side == "right" else -first

    return sorted(rows, key=place)


def _plot_rows(rows: Sequence[Row], title: str, target: Path) -> None:
    """Precision and recall of labelled arcs, two bars for each row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(5.0, 1.5 + 0.45 * len(rows)), 4.5), layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(len(rows))
    shares = [row.as_dict() for row in rows]
    for offset, key, colour, hatch in ((-0.2, "las_recall", COLOURS[1], ""), (0.2, "las_precision", COLOURS[4], "//")):
        heights = [share[key] for share in shares]
        label = "recall (of gold arcs)" if offset < 0 else "precision (of the system's arcs)"
        axes.bar(places + offset, heights, width=0.4, color=colour, hatch=hatch, edgecolor="white", label=label)
    labels = [f"{row.name} ({row.gold:,})" for row in rows]
    axes.set_xticks(places, labels, rotation=45, ha="right", rotation_mode="anchor", parse_math=False)
    axes.margins(x=0.02)
    axes.set_xlabel(f"{title}; in brackets the gold words", parse_math=False)
    axes.set_ylabel("head and relation right, %")
    axes.set_ylim(0, 100)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    with open_output(target) as stream:
        figure.savefig(stream, format=target.suffix[1:])


def _plot_confusions(counts: Mapping[str, int], title: str, target: Path) -> None:
    """A bar for each kind of mistake, the most frequent on top."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7, 1.2 + 0.25 * len(counts)), layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(len(counts))
    axes.barh(places, list(counts.values()), color=COLOURS[0])
    axes.set_yticks(places, list(counts), parse_math=False)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("words")
    axes.set_title(title, fontsize="medium", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    with open_output(target) as stream:
        figure.savefig(stream, format=target.suffix[1:])
