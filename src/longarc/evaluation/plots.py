"""Pictures, drawn with matplotlib, which only these functions need (`pip install 'longarc[plot]'`)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from longarc.data.files import open_output
from longarc.errors import LongarcError
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
