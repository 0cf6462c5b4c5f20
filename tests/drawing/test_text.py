"""Trees as text: arcs can be read back from the box characters."""

from __future__ import annotations

import re

from hypothesis import given

from longarc.data.sentence import Sentence
from longarc.drawing.text import text_tree
from longarc.drawing.text_width import printable
from tests.helpers.drawn_trees import arcs_of, letter, quickly, sentence_with, sentences
from tests.helpers.tree_generators import Heads, as_heads, projective_trees

ARROW, UP, DOWN, HEADS = "►", "├╰│┼┴╪", "├╭│┼┬╪", "┬┼┴"


def arcs_drawn(drawing: str) -> list[int]:
    """The head of each word, by following the lines: from the arrow to the left, then along the trunk to its head."""
    rows = [line.lstrip("\u200e").split(ARROW)[0] for line in drawing.split("\n")[:-1]]
    heads = []
    for row, cells in enumerate(rows):
        place = len(cells) - 1
        while place >= 0 and cells[place] in "─╪┬┼┴":
            place -= 1
        if place < 0:
            heads.append(0)
            continue
        assert cells[place] in "╭├╰", cells
        found = []
        for step, leaving, arriving in ((-1, UP, DOWN), (1, DOWN, UP)):
            here = row
            while rows[here][place] in leaving:
                here += step
                assert rows[here][place] in arriving, "lines have no loose ends"
                if rows[here][place] in HEADS:
                    found.append(here + 1)
                    break
        (head,) = found
        heads.append(head)
    return heads


@quickly
@given(sentences(25), projective_trees(1, 25))
def test_arcs_and_words_can_be_read_back_from_the_text(sentence: Sentence, projective: Heads) -> None:
    drawing = text_tree(sentence)
    assert arcs_drawn(drawing) == arcs_of(sentence)
    assert "╪" not in text_tree(sentence_with(projective)), "lines cross in non-projective trees only"
    lines = drawing.removesuffix("\n").split("\n")
    for line, form, relation in zip(lines, sentence.forms, sentence.node_relations[1:], strict=True):
        shown = line.partition(ARROW)[2].replace("\u200e", "")
        assert shown.startswith(" " + printable(form).replace("\u200e", ""))
        assert shown.endswith(f"NOUN  {relation}".rstrip())


def test_a_non_projective_tree_as_text() -> None:
    assert text_tree(letter(), tags=False).split("\n") == [
        "   ╭───► A          det",
        " ╭─┼───► letter     nsubj:pass",
        " ├─╪───► was        aux:pass",
        "─┼─╪───► found      root",
        " ├─╪───► yesterday  obl:tmod",
        " │ │ ╭─► that       obj",
        " │ │ ├─► nobody     nsubj",
        " │ ╰─┴─► wrote      acl:relcl",
        " ╰─────► .          punct",
        "",
    ]


def test_columns_are_aligned_whatever_the_script() -> None:
    sentence = sentence_with(as_heads([2, 0, 2]), ["猫猫", "cafe\u0301s", "x"], ["a", "root", "b"])
    assert text_tree(sentence) == " ╭─► 猫猫   NOUN  a\n─┼─► cafe\u0301s  NOUN  root\n ╰─► x      NOUN  b\n"
    # Marks keep a viewer that orders words by their script from turning the whole line around.
    turning = sentence_with(as_heads([0]), ["שלום"])
    assert text_tree(turning) == "\u200e──► שלום\u200e  NOUN\u200e  r1\n"


def test_colours_change_nothing_and_the_non_projective_arc_stands_out() -> None:
    coloured = text_tree(letter(), colour=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == text_tree(letter())
    highlighted = ["".join(re.findall("\x1b\\[1;35m(.*?)\x1b", line)) for line in coloured.split("\n")]
    assert highlighted == ["", "", "╪", "╪", "╪", "│", "│", "╰─┴─►acl:relcl", "", ""]
