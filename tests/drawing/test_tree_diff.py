"""A tree drawn against a gold tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longarc.data.sentence import Sentence
from longarc.drawing.svg import svg_tree
from longarc.drawing.text import text_tree
from longarc.drawing.tikz import tikz_tree
from longarc.errors import LongarcError
from tests.helpers.drawn_trees import (
    SVG,
    TWO,
    arcs_of,
    boxes,
    groups,
    letter,
    overlapping,
    parsed,
    quickly,
    sentence_with,
)
from tests.helpers.tree_generators import as_heads, trees


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Sentence, Sentence]:
    heads = draw(trees(2, 10))
    n = len(heads) - 1
    other = draw(st.one_of(st.just(heads), trees(n, n)))
    labels = st.lists(st.sampled_from(["a", "longer:label"]), min_size=n, max_size=n)
    return sentence_with(heads, None, draw(labels)), sentence_with(other, None, draw(labels))


@quickly
@given(pairs())
def test_differences_are_marked_above_and_corrected_below(pair: tuple[Sentence, Sentence]) -> None:
    sentence, gold = pair
    rows = list(
        zip(arcs_of(sentence), sentence.node_relations[1:], arcs_of(gold), gold.node_relations[1:], strict=True)
    )
    wrong_head = {node for node, (head, _, right, _) in enumerate(rows, 1) if head != right}
    wrong = {node for node, (head, relation, *right) in enumerate(rows, 1) if [head, relation] != right}
    picture = parsed(svg_tree(sentence, against=gold))
    assert len(groups(picture, "arc", without="gold")) == len(sentence)
    assert set(groups(picture, "arc", "wrong-head")) == set(groups(picture, "label", "wrong-head")) == wrong_head
    assert set(groups(picture, "arc", "wrong-relation")) == wrong - wrong_head
    below = {node: int(group.attrib["data-head"]) for node, group in groups(picture, "arc", "gold").items()}
    assert below == {node: rows[node - 1][2] for node in wrong}
    assert overlapping(boxes(picture)) == []
    baseline = next(float(text.attrib["y"]) for text in picture.iter(f"{SVG}text") if text.get("class") == "form")
    assert [box[1] > baseline for box in boxes(picture)] == [False] * len(sentence) + [True] * len(wrong)
    notes = [line.partition("≠ gold: ")[2] for line in text_tree(sentence, against=gold).split("\n")[:-1]]
    assert {node for node, note in enumerate(notes, 1) if note} == wrong
    assert tikz_tree(sentence, against=gold).count("edge below") == len(wrong)


def test_differences_are_put_in_words() -> None:
    lines = text_tree(letter(clause=5), against=letter()).split("\n")
    assert lines[7].endswith("acl:relcl   ≠ gold: acl:relcl of letter (2)")
    assert "above: 8 of 9 heads right" in svg_tree(letter(clause=5), against=letter())
    assert "no difference" in svg_tree(letter(), against=letter())


def test_other_words_cannot_be_compared_and_cycles_not_be_drawn_as_text() -> None:
    with pytest.raises(LongarcError, match="word 2 is 'word2', but 'x' in the gold tree"):
        svg_tree(TWO, against=sentence_with(TWO.node_heads, ["word1", "x"]))
    with pytest.raises(LongarcError, match="2 words, but 9 in the gold tree"):
        tikz_tree(TWO, against=letter())
    with pytest.raises(LongarcError, match="cycle"):
        text_tree(sentence_with(as_heads([2, 1])))
