"""Plots for papers and reports. Only these functions need matplotlib (`pip install 'longarc[plot]'`)."""

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

# Okabe & Ito's palette, which is safe for colour-blind readers.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINE_STYLES = ("-", "--", ":", "-.")
FORMATS = (".svg", ".png", ".pdf")
MOST_BARS = 25
"""Maximum number of bars in a plot."""
DEV_SCORES = {"uas": "UAS", "las": "LAS", "upos": "UPOS"}
"""The scores in a learning curve."""


def check_picture(target: Path) -> None:
    """Raise, before any work is done, if the image format is unknown or matplotlib is missing."""
    if target.suffix not in FORMATS:
        raise LongarcError(f"{target}: unknown image format", f"Use one of {', '.join(FORMATS)}.")
    if importlib.util.find_spec("matplotlib") is None:
        raise LongarcError("plots need matplotlib", "Install it with: pip install 'longarc[plot]'")


def line_style(number: int) -> dict[str, Any]:
    """Return the look of the n-th line of a plot. A colour that repeats has another line style and marker."""
    style = LINE_STYLES[number // len(COLOURS) % len(LINE_STYLES)]
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "linestyle": style}


def plot_transitions(stats: Mapping[str, TreebankStats], target: Path) -> None:
    """Plot the mean number of transitions by sentence length over all treebanks, one line per transition system."""
    figure, axes = _new_figure()
    words = np.array([n for treebank in stats.values() for n in treebank.words])
    lengths = np.unique(words)
    names = list(next(iter(stats.values())).systems)
    # The lines of systems with equally many transitions coincide: later ones are wider and lie below.
    for rank, name in enumerate(names):
        transitions = np.array([n for treebank in stats.values() for n in treebank.systems[name].transitions])
        means = [transitions[words == length].mean() for length in lengths]
        size = {"markersize": 3 + rank, "linewidth": 1 + rank, "zorder": 10 + len(names) - rank}
        axes.plot(lengths, means, label=name, **size, **line_style(rank))
    axes.set_xlabel("words in the sentence")
    axes.set_ylabel("transitions (mean)")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    _save(figure, target, dpi=150)


def plot_learning_curve(history: Sequence[Mapping[str, Any]], target: Path) -> None:
    """Plot the training loss, and the development scores if there are any, by epoch."""
    figure, axes = _new_figure(frame=True)
    epochs = [entry["epoch"] for entry in history]
    axes.plot(epochs, [entry["loss"] for entry in history], color="0.4", linestyle="--", label="loss (left)")
    _set_integer_ticks(axes.xaxis)
    axes.set_xlabel("epoch")
    axes.set_ylabel("training loss per sentence")
    axes.set_ylim(bottom=0)
    lines, labels = axes.get_legend_handles_labels()
    scored = [entry for entry in history if "dev_las" in entry]
    if scored:
        scores = axes.twinx()
        scores.set_ylabel("development score, %")
        scored_epochs = [entry["epoch"] for entry in scored]
        for number, (key, name) in enumerate(DEV_SCORES.items()):
            if f"dev_{key}" in scored[0]:
                values = [entry[f"dev_{key}"] for entry in scored]
                scores.plot(scored_epochs, values, markersize=3, linewidth=1, label=name, **line_style(number))
        score_lines, score_labels = scores.get_legend_handles_labels()
        lines, labels = lines + score_lines, labels + score_labels
    axes.legend(lines, labels, frameon=False, loc="center right")
    _save(figure, target)


def plot_learning_curves(curves: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]], target: Path) -> None:
    """Plot the training loss of several systems and, if all of them have it, the development LAS below.

    A system has one line for each of its training runs, all with the same look. It may have none.
    """
    from matplotlib.figure import Figure

    panels = {"loss": "training loss per sentence"}
    if all("dev_las" in history[-1] for histories in curves.values() for history in histories):
        panels["dev_las"] = "development LAS, %"
    figure = Figure(figsize=(7, 3.5 * len(panels)), layout="constrained")
    for number, (key, title) in enumerate(panels.items(), 1):
        axes = figure.add_subplot(len(panels), 1, number)
        for system, (name, histories) in enumerate(curves.items()):
            for seed, history in enumerate(histories):
                known = [entry for entry in history if key in entry]
                epochs, values = [entry["epoch"] for entry in known], [entry[key] for entry in known]
                label = None if seed else name
                axes.plot(epochs, values, markersize=3, linewidth=1, label=label, **line_style(system))
        axes.set_xlabel("epoch")
        axes.set_ylabel(title)
        _set_integer_ticks(axes.xaxis)
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    _save_reproducibly(figure, target)


def plot_arc_lengths(tables: Mapping[str, Sequence[Row]], target: Path) -> None:
    """Plot LAS (F1) by arc length, from the longest left arc to the longest right arc, one line per system.

    Lengths without gold arcs are omitted. A system without rows has no line, but keeps its colour.
    """
    ordered = from_left_to_right([row for rows in tables.values() for row in rows if row.gold])
    names = list(dict.fromkeys(row.name for row in ordered))
    figure, axes = _new_figure()
    positions = np.arange(len(names))
    for number, (system, rows) in enumerate(tables.items()):
        if rows:
            scores = {row.name: row.as_dict()["las_f1"] for row in rows}
            values = [scores.get(name, np.nan) for name in names]
            axes.plot(positions, values, markersize=4, linewidth=1, label=system, **line_style(number))
    axes.set_xticks(positions, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_xlabel(TABLES["arc_length"])
    axes.set_ylabel("LAS, F1 %")
    axes.legend(frameon=False)
    _save_reproducibly(figure, target)


def plot_breakdown(breakdown: Breakdown, folder: Path) -> list[Path]:
    """Plot every table of a breakdown and the most frequent confusions, and return the paths of the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LongarcError(f"{folder}: cannot create this folder: {error.strerror}") from None
    paths = []
    for name, rows in breakdown.tables.items():
        paths.append(folder / f"{name}.svg")
        ordered = from_left_to_right(rows) if name == "arc_length" else rows[:MOST_BARS]
        _plot_rows(ordered, TABLES[name], paths[-1])
    relations = {f"{pair['gold']} → {pair['system']}": pair["count"] for pair in breakdown.relation_confusions}
    heads = {
        f"{heads['tag']}: {heads['gold_head']} → {heads['system_head']}": heads["count"]
        for heads in breakdown.head_confusions
    }
    for name, counts, title in (
        ("relation_confusions", relations, "gold relation → system relation"),
        ("head_confusions", heads, "tag of the dependent: of the gold head → of the system head"),
    ):
        paths.append(folder / f"{name}.svg")
        _plot_confusions(counts, title, paths[-1])
    return paths


def from_left_to_right(rows: Sequence[Row]) -> list[Row]:
    """Sort rows by arc length: the longest left arc first, the root in the middle, the longest right arc last."""

    def signed_length(row: Row) -> int:
        side, _, lengths = row.name.partition(" ")
        first = int("".join(takewhile(str.isdigit, lengths)) or 0)
        return first if side == "right" else -first

    return sorted(rows, key=signed_length)


def _plot_rows(rows: Sequence[Row], title: str, target: Path) -> None:
    """Plot precision and recall of labelled arcs, as two bars for each row."""
    figure, axes = _new_figure(max(5.0, 1.5 + 0.45 * len(rows)))
    positions = np.arange(len(rows))
    scores = [row.as_dict() for row in rows]
    for offset, key, colour, hatch, label in (
        (-0.2, "las_recall", COLOURS[1], "", "recall (of gold arcs)"),
        (0.2, "las_precision", COLOURS[4], "//", "precision (of the system's arcs)"),
    ):
        heights = [score[key] for score in scores]
        axes.bar(positions + offset, heights, width=0.4, color=colour, hatch=hatch, edgecolor="white", label=label)
    labels = [f"{row.name} ({row.gold:,})" for row in rows]
    axes.set_xticks(positions, labels, rotation=45, ha="right", rotation_mode="anchor", parse_math=False)
    axes.margins(x=0.02)
    axes.set_xlabel(f"{title}; in brackets the gold words", parse_math=False)
    axes.set_ylabel("head and relation right, %")
    axes.set_ylim(0, 100)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    _save(figure, target)


def _plot_confusions(counts: Mapping[str, int], title: str, target: Path) -> None:
    """Plot a bar for each confusion, from top to bottom."""
    figure, axes = _new_figure(height=1.2 + 0.25 * len(counts))
    positions = np.arange(len(counts))
    axes.barh(positions, list(counts.values()), color=COLOURS[0])
    axes.set_yticks(positions, list(counts), parse_math=False)
    axes.invert_yaxis()
    _set_integer_ticks(axes.xaxis)
    axes.set_xlabel("words")
    axes.set_title(title, fontsize="medium", parse_math=False)
    _save(figure, target)


def _new_figure(width: float = 7.0, height: float = 4.5, *, frame: bool = False) -> tuple[Any, Any]:
    """Return a figure with one pair of axes, and these; `frame` also draws the top and right edges."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(frame)
    return figure, axes


def _set_integer_ticks(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def _save(figure: Any, target: Path, **options: Any) -> None:
    with open_output(target) as stream:
        figure.savefig(stream, format=target.suffix[1:], **options)


def _save_reproducibly(figure: Any, target: Path) -> None:
    """Write an SVG file that keeps text as text and is identical for identical data."""
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": target.name}):
        _save(figure, target, metadata={"Date": None})
