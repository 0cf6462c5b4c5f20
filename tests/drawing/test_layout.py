"""Arc levels and label positions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longarc.data.sentence import Sentence
from longarc.drawing.layout import Layout, Placement, arc_levels, lay_out
from longarc.drawing.text_width import ems
from longarc.trees.structure import crossing_arcs
from tests.helpers.drawn_trees import overlapping, quickly, sentence_with, sentences
from tests.helpers.tree_generators import Heads, as_heads, random_tree, trees


@quickly
@given(trees(1, 25))
def test_arcs_lie_above_those_they_span_and_crossing_arcs_on_other_levels(heads: Heads) -> None:
    levels = arc_levels(heads)
    spans = [(min(int(head), node), max(int(head), node)) for node, head in enumerate(heads)]
    assert ((levels > 0) == (heads > 0)).all()
    for one, other in combinations(np.flatnonzero(heads > 0).tolist(), 2):
        (a, b), (c, d) = spans[one], spans[other]
        if a <= c and d <= b:
            assert levels[one] > levels[other]
        elif c <= a and b <= d:
            assert levels[one] < levels[other]
        elif max(a, c) < min(b, d):
            assert levels[one] != levels[other]


def test_levels_are_as_low_as_they_can_be() -> None:
    assert arc_levels(as_heads([0, 1, 2, 3, 4])).max() == 1
    assert arc_levels(as_heads([0, 1, 1, 1, 1])).tolist() == [0, 0, 1, 2, 3, 4]
    # 1 → 4 crosses 3 → 6, which lies on the level below.
    assert arc_levels(as_heads([0, 1, 1, 1, 3, 3])).tolist() == [0, 0, 1, 2, 3, 1, 2]


def layout_of(sentence: Sentence, right_to_left: bool = False) -> Layout:
    widths = np.array([0.0, *(17 * ems(form) for form in sentence.forms)])
    labels = np.array([11 * ems(relation) for relation in sentence.node_relations])
    return lay_out(widths, [(sentence.node_heads, labels)], right_to_left=right_to_left)


@quickly
@given(sentences(25), st.booleans())
def test_labels_do_not_overlap_and_lie_on_their_arcs(sentence: Sentence, right_to_left: bool) -> None:
    layout = layout_of(sentence, right_to_left)
    (side,) = layout.sides
    assert overlapping(side.boxes[1:].tolist()) == []
    assert side.boxes[1:, 0].min() >= -1e-6 and side.boxes[1:, 2].max() <= layout.width + 1e-6
    for arc in range(1, len(side.heads)):
        left, low, right, high = side.boxes[arc]
        assert low < side.heights[arc] < high
        if side.heads[arc] > 0:
            assert min(side.starts[arc], side.ends[arc]) < left <= right < max(side.starts[arc], side.ends[arc])
        else:
            assert left < side.ends[arc] < right


def meet(side: Placement, one: int, other: int) -> bool:
    """Whether two arcs, drawn with corners instead of curves, cross or touch."""
    lower, higher = sorted((one, other), key=lambda arc: float(side.heights[arc]))
    left, right = sorted((side.starts[lower], side.ends[lower]))
    return any(left <= x <= right for x in (side.starts[higher], side.ends[higher]))


@quickly
@given(sentences(20), st.booleans())
def test_lines_meet_only_where_the_arcs_cross(sentence: Sentence, right_to_left: bool) -> None:
    (side,) = layout_of(sentence, right_to_left).sides
    crossing = crossing_arcs(sentence.node_heads)
    for one, other in combinations(np.flatnonzero(sentence.node_heads > 0).tolist(), 2):
        assert meet(side, one, other) == crossing[one, other], (one, other)


def test_a_tall_tree_is_pressed_together_and_a_long_sentence_grows_in_width_only() -> None:
    for heads in (as_heads([0, *[1] * 79]), *(random_tree(50, np.random.default_rng(seed)) for seed in range(3))):
        (side,) = layout_of(sentence_with(heads)).sides
        assert side.height < 600, "80 levels of 23 would be 1840"
        assert overlapping(side.boxes[1:].tolist()) == []
    short, long = (layout_of(sentence_with(as_heads(list(range(words))))) for words in (10, 100))
    assert long.width > 9 * short.width and long.sides[0].height == short.sides[0].height
