"""LaTeX trees."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longarc.data.sentence import Sentence
from longarc.drawing.text_width import is_right_to_left, printable
from longarc.drawing.tikz import escape_tex, tikz_tree
from longarc.trees.structure import projective_arcs
from tests.helpers.drawn_trees import arcs_of, quickly, sentences
from tests.helpers.generators import texts

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
    assert tex.count("dashed") == np.count_nonzero(~projective_arcs(sentence.node_heads))
    found = {}
    for match in re.finditer(r"^  \\dep(?:root|edge)\[.*?\](?:\{(\d+)\})?\{(\d+)\}\{(.*)\}$", tex, re.MULTILINE):
        head, node = (n + 1 - int(end) if mirrored and end else int(end or 0) for end in match.groups()[:2])
        found[node] = head, printed_by_tex(match[3])
    assert found == dict(enumerate(zip(arcs_of(sentence), sentence.node_relations[1:], strict=True), 1))
