"""Compute where to draw arcs: their heights, the points where they meet the words, and the boxes of their labels.

The layout is independent of the output format: x grows along the sentence, heights grow away from the words. Arrays are
indexed by the dependent of an arc. Arcs that are not drawn have NO_HEAD as their head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.system import Ints
from longarc.trees.structure import Heads

Lengths = NDArray[np.float64]

LABEL_HEIGHT = 15.0
LABEL_PADDING = 4.0
"""Space in a label's box on either side of the text."""

FIRST_LEVEL = 30.0
LEVEL = 23.0
"""The distance between levels of arcs if the tree has few of them."""
TIGHTEST_LEVEL = 6.0
TALLEST = 340.0
"""The height from which on levels move closer together."""

SHOULDER = 11.0
"""The minimum distance of a label from the ends of its arc."""
WORD_GAP = 18.0
WIDEST_PORT_GAP, NARROWEST_PORT_GAP, PORTS_WIDTH = 7.5, 2.5, 60.0

CANDIDATES = 41
"""The number of positions along an arc that are tried for its label."""


@dataclass(frozen=True)
class Arcs:
    """The arcs on one side of the words."""

    heads: Heads
    label_widths: Lengths
    starts: Lengths
    """Where each arc meets its head, relative to the head's centre."""
    ends: Lengths
    """Where each arc meets its dependent, relative to the dependent's centre."""
    widths: Lengths
    """[n + 1] the space that the ends of arcs occupy on each word."""


@dataclass(frozen=True)
class Placement:
    """The positions of the arcs on one side of the words."""

    heads: Heads
    starts: Lengths
    """The x of each arc at its head. For a child of the root, same as `ends`."""
    ends: Lengths
    """The x of each arc at its dependent."""
    heights: Lengths
    boxes: Lengths
    """[n + 1, 4] the box of each label: left, bottom, right, top."""

    @property
    def height(self) -> float:
        """The greatest height of any label; 0 if there are no arcs."""
        return float(self.boxes[self.heads >= 0, 3].max(initial=0.0))

    def shifted(self, distance: float) -> Placement:
        """Move the arcs along the x axis."""
        boxes = self.boxes + np.array([distance, 0.0, distance, 0.0])
        return replace(self, starts=self.starts + distance, ends=self.ends + distance, boxes=boxes)

    def mirrored(self, width: float) -> Placement:
        """Mirror the arcs in a picture of some width."""
        boxes = self.boxes[:, [2, 1, 0, 3]] * np.array([-1.0, 1.0, -1.0, 1.0]) + np.array([width, 0.0, width, 0.0])
        return replace(self, starts=width - self.starts, ends=width - self.ends, boxes=boxes)


@dataclass(frozen=True)
class Layout:
    """A picture: the centre of each word [n + 1] (undefined for node 0), and the arcs on each side."""

    width: float
    centres: Lengths
    sides: tuple[Placement, ...]


# ---------------------------------------------------------------------------------------------------------------------
# Levels.


def _spans(heads: Heads) -> tuple[Ints, Ints]:
    nodes = np.arange(len(heads))
    return np.minimum(heads, nodes), np.maximum(heads, nodes)


def arc_levels(heads: Heads) -> Ints:
    """Return [n + 1]: the level of each arc, from 1; 0 for arcs from the root and arcs that are not drawn.

    An arc lies above the arcs that it spans, and crossing arcs lie on different levels, so arcs on the same level share
    a word at most. Arcs are placed from the shortest to the longest, on the lowest possible level.
    """
    low, high = _spans(heads)
    levels = np.zeros(len(heads), dtype=np.int64)
    placed = np.zeros(len(heads), dtype=np.bool_)
    length = high - low
    for arc in sorted(np.flatnonzero(heads > 0).tolist(), key=lambda arc: (length[arc], low[arc])):
        overlapping = placed & (low < high[arc]) & (high > low[arc])
        spanned = overlapping & (low >= low[arc]) & (high <= high[arc])
        taken = set(levels[overlapping & ~spanned].tolist())
        level = int(levels[spanned].max(initial=0)) + 1
        while level in taken:
            level += 1
        levels[arc] = level
        placed[arc] = True
    return levels


def trunk_columns(heads: Heads) -> Ints:
    """Return [n + 1]: the column of each head's trunk, the line that joins its dependents; -1 without dependents.

    Columns are counted from the root. The trunk of a word lies beyond that of its head, and trunks that would touch lie
    in different columns. In a projective tree the column is the depth, and no lines cross.
    """
    n = len(heads)
    nodes = np.arange(n)
    dependents: list[list[int]] = [[] for _ in range(n)]
    for node in nodes[1:].tolist():
        dependents[max(int(heads[node]), 0)].append(node)
    columns = np.full(n, -1)
    columns[0] = 0
    first, last = nodes.copy(), nodes.copy()
    queue = dependents[0].copy()
    for head in queue:
        queue += dependents[head]
        if not dependents[head]:
            continue
        first[head] = min(head, dependents[head][0])
        last[head] = max(head, dependents[head][-1])
        beside = (columns > 0) & (first <= last[head]) & (last >= first[head])
        taken = set(columns[beside].tolist())
        column = int(columns[max(int(heads[head]), 0)]) + 1
        while column in taken:
            column += 1
        columns[head] = column
    return columns


# ---------------------------------------------------------------------------------------------------------------------
# Positions along the sentence.


def arcs_with_ports(heads: Heads, label_widths: Lengths) -> Arcs:
    """Give every end of an arc its own point on the word, so that arcs of the same word do not touch.

    The order from left to right is: left arcs, shortest first; the arrow from the root; right arcs, longest first.
    """
    n = len(heads)
    ports: list[list[tuple[int, int, int]]] = [[] for _ in range(n)]
    for dependent in np.flatnonzero(heads >= 0).tolist():
        head = int(heads[dependent])
        if head == 0:
            ports[dependent].append((0, 0, dependent))
            continue
        for here, there in ((head, dependent), (dependent, head)):
            side = 1 if there > here else -1
            ports[here].append((side, here - there, dependent))
    starts, ends, widths = np.zeros(n), np.zeros(n), np.zeros(n)
    for word, word_ports in enumerate(ports):
        gap = min(WIDEST_PORT_GAP, max(NARROWEST_PORT_GAP, PORTS_WIDTH / max(len(word_ports), 1)))
        widths[word] = len(word_ports) * gap
        for rank, (_, _, arc) in enumerate(sorted(word_ports)):
            (ends if arc == word else starts)[arc] = (rank - (len(word_ports) - 1) / 2) * gap
    return Arcs(heads, label_widths, starts, ends, widths)


def word_centres(word_widths: Lengths, sides: Sequence[Arcs]) -> Lengths:
    """Return [n + 1]: the centre of each word, as close together as words, ends of arcs and labels allow.

    Every arc is at least as long as its label, and the labels of two children of the root do not overlap.
    """
    n = len(word_widths)
    widths = np.maximum(word_widths, np.max([side.widths for side in sides], axis=0, initial=0.0))
    distances_to: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for side in sides:
        low, high = _spans(side.heads)
        forward = low == side.heads
        at_low, at_high = np.where(forward, side.starts, side.ends), np.where(forward, side.ends, side.starts)
        needed = side.label_widths + 2 * SHOULDER + at_low - at_high
        for arc in np.flatnonzero(side.heads > 0).tolist():
            distances_to[high[arc]].append((int(low[arc]), float(needed[arc])))
        roots = np.flatnonzero(side.heads == 0).tolist()
        for before, after in pairwise(roots):
            halves = (side.label_widths[before] + side.label_widths[after]) / 2
            distances_to[after].append((before, float(halves + side.ends[before] - side.ends[after] + LABEL_PADDING)))
    centres = np.zeros(n)
    for word in range(1, n):
        near = centres[word - 1] + (widths[word - 1] + widths[word]) / 2 + WORD_GAP if word > 1 else widths[1] / 2
        centres[word] = max([near, *(centres[partner] + distance for partner, distance in distances_to[word])])
    return centres


# ---------------------------------------------------------------------------------------------------------------------
# Heights and labels.


def level_distances(levels: int) -> list[float]:
    """Return the distances between levels to try in turn. With the last one there is always room for all labels."""
    distance = min(LEVEL, max(TIGHTEST_LEVEL, (TALLEST - FIRST_LEVEL) / max(levels, 1)))
    distances = [distance]
    while distances[-1] < LABEL_HEIGHT + 1:
        distances.append(min(distances[-1] * 1.3, LABEL_HEIGHT + 1))
    return distances


def place_arcs(arcs: Arcs, centres: Lengths) -> Placement:
    """Compute the heights of all arcs, and boxes for all labels that do not overlap."""
    levels = arc_levels(arcs.heads)
    # Arrows from the root start above all other arcs.
    levels[arcs.heads == 0] = levels.max(initial=0) + 1
    starts = centres[np.maximum(arcs.heads, 0)] + arcs.starts
    ends = centres + arcs.ends
    starts = np.where(arcs.heads > 0, starts, ends)
    for distance in level_distances(int(levels.max(initial=0))):
        heights = FIRST_LEVEL + (levels.astype(np.float64) - 1) * distance
        boxes = _label_boxes(arcs, starts, ends, heights)
        if boxes is not None:
            return Placement(arcs.heads, starts, ends, heights, boxes)
    raise AssertionError("levels are further apart than labels are high")


def _label_boxes(arcs: Arcs, starts: Lengths, ends: Lengths, heights: Lengths) -> Lengths | None:
    """Return [n + 1, 4]: a box for each label, close to the middle of its arc; None if there is no room for one.

    A label never covers another label, and moves along its arc to avoid covering other arcs.
    """
    drawn = arcs.heads >= 0
    half = arcs.label_widths / 2
    boxes = np.zeros((len(drawn), 4))
    boxes[:, 1], boxes[:, 3] = heights - LABEL_HEIGHT / 2, heights + LABEL_HEIGHT / 2
    left, right = np.minimum(starts, ends), np.maximum(starts, ends)
    placed = arcs.heads == 0
    boxes[placed, 0], boxes[placed, 2] = (ends - half)[placed], (ends + half)[placed]
    for arc in sorted(np.flatnonzero(arcs.heads > 0).tolist(), key=lambda arc: (right[arc] - left[arc], arc)):
        slack = max((right[arc] - left[arc]) / 2 - SHOULDER - half[arc], 0.0)
        offsets = np.linspace(-slack, slack, CANDIDATES) if slack else np.zeros(1)
        middles = (left[arc] + right[arc]) / 2 + offsets
        box_left, box_right = (middles - half[arc])[:, None], (middles + half[arc])[:, None]
        bottom, top = boxes[arc, 1], boxes[arc, 3]
        near = placed & (boxes[:, 1] < top) & (boxes[:, 3] > bottom)
        free = ~((boxes[:, 0] < box_right) & (boxes[:, 2] > box_left) & near).any(axis=1)
        if not free.any():
            return None
        others = drawn.copy()
        others[arc] = False
        risen = others & (heights > bottom)
        crossed = ((starts > box_left) & (starts < box_right) & risen & (arcs.heads > 0)).sum(axis=1)
        crossed += ((ends > box_left) & (ends < box_right) & risen).sum(axis=1)
        crossed += ((left < box_right) & (right > box_left) & risen & (heights < top)).sum(axis=1)
        best = int(np.lexsort((np.abs(offsets), crossed, ~free))[0])
        boxes[arc, 0], boxes[arc, 2] = box_left[best, 0], box_right[best, 0]
        placed[arc] = True
    return boxes


def lay_out(word_widths: Lengths, sides: Sequence[tuple[Heads, Lengths]], *, right_to_left: bool = False) -> Layout:
    """Lay out words of the given widths [n + 1], with the arcs and label widths [n + 1] of each side.

    Takes time quadratic in the number of words.
    """
    arcs = [arcs_with_ports(heads, widths + 2 * LABEL_PADDING) for heads, widths in sides]
    centres = word_centres(word_widths, arcs)
    placements = [place_arcs(side, centres) for side in arcs]
    # Labels of root arrows may extend beyond the first and the last word.
    half = word_widths[1:] / 2
    lefts = [centres[1:] - half, *(side.boxes[side.heads >= 0, 0] for side in placements)]
    rights = [centres[1:] + half, *(side.boxes[side.heads >= 0, 2] for side in placements)]
    shift = -min(float(edge.min(initial=0.0)) for edge in lefts)
    width = max(float(edge.max(initial=0.0)) for edge in rights) + shift
    centres = centres + shift
    placements = [side.shifted(shift) for side in placements]
    if right_to_left:
        centres, placements = width - centres, [side.mirrored(width) for side in placements]
    return Layout(width, centres, tuple(placements))
