"""SVG trees."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longarc.data.sentence import FEATS, UPOS, XPOS, Sentence
from longarc.drawing.svg import COLOURS, THEMES, Theme, svg_tree
from longarc.drawing.text import text_tree
from longarc.drawing.text_width import printable
from longarc.trees.structure import projective_arcs
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
    sentences,
    shown,
)
from tests.helpers.tree_generators import Heads, as_heads, trees


@quickly
@given(sentences(12), st.sampled_from(THEMES))
def test_an_svg_has_a_path_and_a_label_for_each_arc(sentence: Sentence, theme: Theme) -> None:
    picture = parsed(svg_tree(sentence, theme=theme))
    arcs, labels = groups(picture, "arc"), groups(picture, "label")
    assert [int(arcs[node].attrib["data-head"]) for node in sorted(arcs)] == arcs_of(sentence)
    assert [len(group.findall(f"{SVG}path")) for group in arcs.values()] == [1] * len(sentence)
    assert [labels[node].findtext(f"{SVG}text") or "" for node in sorted(labels)] == sentence.node_relations[1:]
    assert shown(picture, "form") == [printable(form) for form in sentence.forms]
    assert sorted(groups(picture, "arc", "crossing")) == np.flatnonzero(~projective_arcs(sentence.node_heads)).tolist()
    assert len(boxes(picture)) == len(sentence) and overlapping(boxes(picture)) == []
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    edges = np.array(boxes(picture))
    assert edges.min() >= 0 and edges[:, 2].max() <= width and edges[:, 3].max() <= height


@quickly
@given(trees(2, 8), st.booleans())
def test_paths_lead_from_the_head_to_the_dependent(heads: Heads, right_to_left: bool) -> None:
    picture = parsed(svg_tree(sentence_with(heads, ["ש" * 20 if right_to_left else "w" * 20] * (len(heads) - 1))))
    places = [float(text.attrib["x"]) for text in picture.iter(f"{SVG}text") if text.get("class") == "form"]
    assert places == sorted(places, reverse=right_to_left)
    for node, group in groups(picture, "arc").items():
        start = float(re.findall(r"[0-9.]+", group[0].attrib["d"])[0])
        arrow = float(group[1].attrib["points"].split(",")[0])
        nearest = [1 + int(np.argmin(np.abs(np.array(places) - x))) for x in (start, arrow)]
        assert nearest == [int(heads[node]) or node, node]


HOSTILE = ["</text><script>alert(1)</script>", "]]>", "&amp;", "<!--", '" onload="x', "\x00\x1b\ud800", "a\u202eb"]


def test_hostile_words_stay_words() -> None:
    sentence = sentence_with(as_heads([0, *[1] * (len(HOSTILE) - 1)]), HOSTILE, HOSTILE)
    sentence.set_column(FEATS, [HOSTILE[0]] * (len(HOSTILE) + 1))
    picture = parsed(svg_tree(sentence, features=True, against=sentence))
    assert shown(picture, "form") == [printable(form) for form in HOSTILE]
    tags = {element.tag.removeprefix(SVG) for element in picture.iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "text", "g", "path", "polygon"}
    assert not any("onload" in element.attrib for element in picture.iter())


def test_an_svg_says_what_it_shows_and_needs_nothing_from_elsewhere() -> None:
    svg = svg_tree(letter(), theme="auto")
    picture = parsed(svg)
    assert picture.attrib["role"] == "img" and picture[0].tag == f"{SVG}title"
    assert "A letter was found" in (picture[0].text or "")
    assert "found: root; yesterday: obl:tmod of found (4);" in (picture.findtext(f"{SVG}desc") or "")
    assert set(re.findall(r"https?://[^\"' ]+", svg)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|href|@import", svg)


def test_each_theme_has_its_colours() -> None:
    light, dark, auto = (svg_tree(letter(), theme=theme) for theme in THEMES)
    white, black = COLOURS["light"]["paper"], COLOURS["dark"]["paper"]
    assert white in light and black not in light and black in dark and white not in dark
    before, _, after = auto.partition("@media (prefers-color-scheme: dark)")
    assert white in before and black in after.partition("</style>")[0]
    dashes, colour = re.findall(r"\.arc\.crossing path \{(.*?)\}", light)
    assert "stroke-dasharray" in dashes and COLOURS["light"]["crossing"] in colour


def test_tags_and_features_are_shown_where_they_are_wanted() -> None:
    sentence = TWO.copy()
    sentence.word_rows[0][FEATS], sentence.word_rows[1][UPOS], sentence.word_rows[1][XPOS] = (
        "Case=Nom|Gender=Fem",
        "_",
        "VBZ",
    )
    assert shown(parsed(svg_tree(sentence))) == ["word1", "NOUN", "word2", "VBZ", "r1", "r2"]
    assert shown(parsed(svg_tree(sentence, tags=False))) == ["word1", "word2", "r1", "r2"]
    assert shown(parsed(svg_tree(sentence, features=True)))[1:4] == ["NOUN", "Case=Nom", "Gender=Fem"]
    assert re.search("NOUN  r1  Case=Nom.Gender=Fem\n.*VBZ   r2\n", text_tree(sentence, features=True))
