"""Drawings say what the tree says: arcs are read back from the box characters, the SVG and the LaTeX."""

from __future__ import annotations

import gzip
import os
import pty
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from unicodedata import category
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longarc.data.sentence import FEATS, UPOS, XPOS, Sentence
from longarc.drawing.layout import Layout, Placement, arc_levels, lay_out
from longarc.drawing.svg import COLOURS, THEMES, Theme, svg_tree
from longarc.drawing.text import text_tree
from longarc.drawing.text_width import columns, ems, is_right_to_left, printable
from longarc.drawing.tikz import escape_tex, tikz_tree
from longarc.errors import LongarcError
from longarc.trees.structure import crossing_arcs, projective_arcs
from tests.generators import ODD_FIELDS, longarc, texts
from tests.tree_generators import Heads, as_heads, projective_trees, random_tree, trees

quickly = settings(max_examples=40, deadline=None)

LABELS = ("det", "nsubj", "acl:relcl", "i", "compound:svc:extra", "<&>", "")


def sentence_with(heads: Heads, forms: list[str] | None = None, relations: list[str] | None = None) -> Sentence:
    words = range(1, len(heads))
    # A file can have forms that `from_forms` would refuse.
    named = forms or [f"word{node}" for node in words]
    sentence = Sentence([[str(number), form, *"________"] for number, form in enumerate(named, 1)])
    sentence.set_tree(heads, ["", *(relations or [f"r{node}" for node in words])])
    sentence.set_column(UPOS, ["NOUN"] * len(heads))
    return sentence


def letter(clause: int = 2) -> Sentence:
    """A non-projective tree: the relative clause belongs to `letter`, beyond the verb."""
    forms = ["A", "letter", "was", "found", "yesterday", "that", "nobody", "wrote", "."]
    relations = ["det", "nsubj:pass", "aux:pass", "root", "obl:tmod", "obj", "nsubj", "acl:relcl", "punct"]
    return sentence_with(as_heads([2, 4, 4, 0, 4, 8, 8, clause, 4]), forms, relations)


TWO = sentence_with(as_heads([0, 1]))


@st.composite
def sentences(draw: st.DrawFn, max_words: int) -> Sentence:
    """Trees with forms and labels of many widths, odd ones among them."""
    heads = draw(trees(1, max_words))
    n = len(heads) - 1
    form = st.one_of(st.sampled_from(["a", "extraordinarily", "猫", "שלום", *ODD_FIELDS]), texts(max_size=5))
    forms = draw(st.lists(form, min_size=n, max_size=n))
    return sentence_with(heads, forms, draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)))


def arcs_of(sentence: Sentence) -> list[int]:
    return [int(head) for head in sentence.heads[1:]]


# ---------------------------------------------------------------------------------------------------------------------
# The layout.


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
    labels = np.array([11 * ems(relation) for relation in sentence.relations])
    return lay_out(widths, [(sentence.heads, labels)], right_to_left=right_to_left)


def overlapping(boxes: list[list[float]]) -> list[tuple[list[float], list[float]]]:
    """Pairs of boxes (left, top, right, bottom) that share more than an edge, to within rounding."""
    return [
        (a, b)
        for a, b in combinations(boxes, 2)
        if min(a[2], b[2]) - max(a[0], b[0]) > 0.11 and min(a[3], b[3]) - max(a[1], b[1]) > 0.11
    ]


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
    crossing = crossing_arcs(sentence.heads)
    for one, other in combinations(np.flatnonzero(sentence.heads > 0).tolist(), 2):
        assert meet(side, one, other) == crossing[one, other], (one, other)


def test_a_tall_tree_is_pressed_together_and_a_long_sentence_grows_in_width_only() -> None:
    for heads in (as_heads([0, *[1] * 79]), *(random_tree(50, np.random.default_rng(seed)) for seed in range(3))):
        (side,) = layout_of(sentence_with(heads)).sides
        assert side.height < 600, "80 levels of 23 would be 1840"
        assert overlapping(side.boxes[1:].tolist()) == []
    short, long = (layout_of(sentence_with(as_heads(list(range(words))))) for words in (10, 100))
    assert long.width > 9 * short.width and long.sides[0].height == short.sides[0].height


def test_wide_characters_count_double_and_most_letters_decide_the_direction() -> None:
    shown = ("", "abc", "猫", "ｆ", "e\u0301", "한", "\u1112\u1161\u11ab", "x\u200dy")
    assert [columns(text) for text in shown] == [0, 3, 2, 2, 1, 2, 2, 2]
    assert ems("猫") > 1.5 * ems("a") > 1.5 * ems("i") and ems("e\u0301") == ems("e")
    assert is_right_to_left(["שלום", "עולם", "ok", "123", "."]) and is_right_to_left(["كتاب"])
    assert not is_right_to_left(["hello", "שלום", "world"]) and not is_right_to_left(["123", "."])


@given(st.text(st.characters()))
def test_what_is_printable_is_allowed_in_xml_and_harmless_in_a_terminal(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not {category(character) for character in shown} & {"Cc", "Cs", "Zl", "Zp"}
    ElementTree.fromstring(f"<a>{shown.replace('&', '').replace('<', '')}</a>")


# ---------------------------------------------------------------------------------------------------------------------
# Text.

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
    for line, form, relation in zip(lines, sentence.forms, sentence.relations[1:], strict=True):
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


# ---------------------------------------------------------------------------------------------------------------------
# SVG.

SVG = "{http://www.w3.org/2000/svg}"
Element = ElementTree.Element


def parsed(svg: str) -> Element:
    return ElementTree.fromstring(svg.encode())


def groups(picture: Element, *kinds: str, without: str = "") -> dict[int, Element]:
    """The groups of some classes, by dependent."""
    found = [(set(group.attrib["class"].split()), group) for group in picture.iter(f"{SVG}g")]
    return {int(g.attrib["data-dependent"]): g for names, g in found if {*kinds} <= names and without not in names}


def shown(picture: Element, kind: str | None = None) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text") if kind in (None, text.get("class"))]


def boxes(picture: Element) -> list[list[float]]:
    found = [
        [float(box.attrib[key]) for key in ("x", "y", "width", "height")] for box in picture.findall(f"*/{SVG}rect")
    ]
    return [[x, y, x + width, y + height] for x, y, width, height in found]


@quickly
@given(sentences(12), st.sampled_from(THEMES))
def test_an_svg_has_a_path_and_a_label_for_each_arc(sentence: Sentence, theme: Theme) -> None:
    picture = parsed(svg_tree(sentence, theme=theme))
    arcs, labels = groups(picture, "arc"), groups(picture, "label")
    assert [int(arcs[node].attrib["data-head"]) for node in sorted(arcs)] == arcs_of(sentence)
    assert [len(group.findall(f"{SVG}path")) for group in arcs.values()] == [1] * len(sentence)
    assert [labels[node].findtext(f"{SVG}text") or "" for node in sorted(labels)] == sentence.relations[1:]
    assert shown(picture, "form") == [printable(form) for form in sentence.forms]
    assert sorted(groups(picture, "arc", "crossing")) == np.flatnonzero(~projective_arcs(sentence.heads)).tolist()
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
    sentence.words[0][FEATS], sentence.words[1][UPOS], sentence.words[1][XPOS] = "Case=Nom|Gender=Fem", "_", "VBZ"
    assert shown(parsed(svg_tree(sentence))) == ["word1", "NOUN", "word2", "VBZ", "r1", "r2"]
    assert shown(parsed(svg_tree(sentence, tags=False))) == ["word1", "word2", "r1", "r2"]
    assert shown(parsed(svg_tree(sentence, features=True)))[1:4] == ["NOUN", "Case=Nom", "Gender=Fem"]
    assert re.search("NOUN  r1  Case=Nom.Gender=Fem\n.*VBZ   r2\n", text_tree(sentence, features=True))


# ---------------------------------------------------------------------------------------------------------------------
# A tree against a gold tree.


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
    rows = list(zip(arcs_of(sentence), sentence.relations[1:], arcs_of(gold), gold.relations[1:], strict=True))
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
    with pytest.raises(LongarcError, match="word 2 is 'word2', in the gold one 'x'"):
        svg_tree(TWO, against=sentence_with(TWO.heads, ["word1", "x"]))
    with pytest.raises(LongarcError, match="2 in the system's, 9 in the gold one"):
        tikz_tree(TWO, against=letter())
    with pytest.raises(LongarcError, match="cycle"):
        text_tree(sentence_with(as_heads([2, 1])))


# ---------------------------------------------------------------------------------------------------------------------
# LaTeX.

TEX = {
    **{f"\\{character}": character for character in "%$#_"},
    **{r"\textbackslash{}": "\\", r"\textbraceleft{}": "{", r"\textbraceright{}": "}", r"\textasciicircum{}": "^"},
    **{r"\textasciitilde{}": "~", r"\textless{}": "<", r"\textgreater{}": ">", r"\symbol{38}": "&"},
    **{r"\textbar{}": "|", "{[}": "[", "{]}": "]", r"\symbol{34}": '"', "{}": ""},
}


def printed_by_tex(text: str) -> str:
    """What LaTeX would print; an error for anything that it would not print as it is."""
    tokens = re.findall("|".join(map(re.escape, TEX)) + '|[^\\\\{}%$#_&^~\\[\\]|"<>]', text)
    assert "".join(tokens) == text and "--" not in text, "every character is harmless or escaped"
    return "".join(TEX.get(token, token) for token in tokens)


@given(texts() | st.text('\\{}[]|&%$#_^~<>"-a'))
def test_latex_prints_what_is_written(text: str) -> None:
    assert printed_by_tex(escape_tex(text)) == printable(text)


@quickly
@given(sentences(12))
def test_latex_has_all_words_and_arcs(sentence: Sentence) -> None:
    tex = tikz_tree(sentence)
    lines = tex.split("\n")
    assert tex.count("{") == tex.count("}")
    assert lines[0].startswith("%") and r"\usepackage{tikz-dependency}" in lines[0]
    row = lines[1 + next(number for number, line in enumerate(lines) if r"\begin{deptext}" in line)]
    cells = re.split(r" \\&(?:\[[0-9.]+em\])? ", row.removeprefix("    ").removesuffix(" \\\\"))
    n, mirrored = len(sentence), is_right_to_left(sentence.forms)
    assert [printed_by_tex(cell) for cell in cells][:: -1 if mirrored else 1] == [*map(printable, sentence.forms)]
    assert tex.count("dashed") == np.count_nonzero(~projective_arcs(sentence.heads))
    found = {}
    for match in re.finditer(r"^  \\dep(?:root|edge)\[.*?\](?:\{(\d+)\})?\{(\d+)\}\{(.*)\}$", tex, re.MULTILINE):
        head, node = (n + 1 - int(end) if mirrored and end else int(end or 0) for end in match.groups()[:2])
        found[node] = head, printed_by_tex(match[3])
    assert found == dict(enumerate(zip(arcs_of(sentence), sentence.relations[1:], strict=True), 1))


# ---------------------------------------------------------------------------------------------------------------------
# The command.

ONE, OTHER = letter().to_conll().encode(), TWO.to_conll().encode()
CYCLE = sentence_with(as_heads([2, 1])).to_conll().encode()
NAMED = b"# sent_id = s-1\n" + ONE + b"# sent_id = 7\n" + OTHER


def test_trees_are_printed_unless_told_otherwise() -> None:
    printed = longarc("draw", "-", stdin=NAMED).stdout.decode()
    assert printed == f"# sent_id = s-1\n{text_tree(letter())}\n# sent_id = 7\n{text_tree(TWO)}"
    assert longarc("draw", "-", "-o", "-", "--no-tags", stdin=ONE).stdout.decode() == text_tree(letter(), tags=False)
    done = longarc("draw", "-", "--skip-invalid", stdin=CYCLE + ONE)
    assert done.stdout.decode() == text_tree(letter()) and "skipped" in done.stderr


@pytest.mark.parametrize(("choice", "found"), [("1", letter()), ("s-1", letter()), ("2", TWO), ("7", TWO)])
def test_one_sentence_by_number_or_name(choice: str, found: Sentence) -> None:
    printed = longarc("draw", "-", "--sentence", choice, stdin=NAMED).stdout.decode()
    assert printed.partition("\n")[2] == text_tree(found)


def test_the_suffix_says_what_is_drawn(tmp_path: Path) -> None:
    svg, tex = svg_tree(letter(), theme="dark"), tikz_tree(letter())
    for name, text in {"a.svg": svg, "a.tex": tex, "a.tikz": tex, "a.txt": text_tree(letter())}.items():
        done = longarc("draw", "-", "-n", "1", "-o", tmp_path / name, "--theme", "dark", stdin=ONE + OTHER)
        assert (done.status, done.stdout, done.stderr) == (0, b"", "")
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_several_sentences_become_several_pictures_with_the_gold_trees(tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_bytes(ONE + OTHER * 49)
    given_text = letter(clause=5).to_conll().encode() + OTHER * 49
    assert longarc("draw", "-", "-o", tmp_path / "x.svg.gz", "--against", gold, stdin=given_text).status == 0
    names = {path.name for path in tmp_path.iterdir()} - {gold.name}
    assert names == {f"x-{number}.svg.gz" for number in range(1, 51)}
    first = gzip.decompress((tmp_path / "x-1.svg.gz").read_bytes()).decode()
    assert first == svg_tree(letter(clause=5), against=letter())


def test_colours_are_for_terminals(tmp_path: Path) -> None:
    (tmp_path / "one.conllu").write_bytes(ONE)
    master, slave = pty.openpty()
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()", "draw", "one.conllu"]
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
    subprocess.run(command, stdout=slave, check=True, env=environment, cwd=tmp_path)
    printed = os.read(master, 65536).decode().replace("\r\n", "\n")
    os.close(slave)
    os.close(master)
    assert printed == text_tree(letter(), colour=True)


MISTAKES = {
    "no such file": (["missing.conllu"], b"", "missing.conllu"),
    "a cycle": (["-"], CYCLE, "<stdin>:1: the heads form a cycle"),
    "no sentence": (["-"], b"", "no sentence to draw"),
    "no sentence for a picture": (["-", "-o", "x.svg"], b"", "no sentence to draw"),
    "no such number": (["-", "-n", "3"], ONE, "number from 1 to 1"),
    "no such name": (["-", "-n", "s-9"], NAMED, "no sentence 's-9'"),
    "unknown suffix": (["-", "-o", "x.bmp"], ONE, ".svg, .tex, .tikz, .txt"),
    "too many pictures": (["-", "-o", "x.svg"], OTHER * 51, "--sentence"),
    "no such folder": (["-", "-o", "nowhere/x.svg"], ONE, "nowhere/x.svg"),
    "unknown theme": (["-", "--theme", "sepia"], ONE, "sepia"),
    "both from standard input": (["-", "--against", "-"], ONE, "--against"),
    "other words": (["-", "--against", "gold", "-o", "x.svg"], OTHER * 2, "gold:1: the trees have different"),
    "fewer gold sentences": (["-", "--against", "gold"], ONE + OTHER * 2, "gold: has 2 sentences, fewer than -"),
    "more gold sentences": (["-", "--against", "gold"], ONE, "gold: has more sentences than -"),
    "no gold file": (["-", "--against", "missing.conllu"], ONE, "missing.conllu"),
}


@pytest.mark.parametrize(("arguments", "given_text", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_ends_with_a_message_and_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], given_text: bytes, complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("gold").write_bytes(ONE + OTHER)
    done = longarc("draw", *arguments, stdin=given_text)
    assert done.status == 2, done.stderr
    assert complaint in done.stderr
    assert [*Path().iterdir()] == [Path("gold")], "nothing half-written is left"
