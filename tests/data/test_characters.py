"""Characters of raw text."""

from __future__ import annotations

from typing import get_args

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from longarc.data.characters import CATEGORY_NUMBERS, LineBreaks, categories_of, read_characters


@given(st.text(max_size=60))
@example("0\n\n0")
def test_characters_are_those_of_the_text_with_single_spaces(text: str) -> None:
    found = read_characters(text)
    spaced = text.replace("\ufeff", " ")
    paragraphs = ["".join(map(chr, codes)) for codes in np.split(found.codes, found.paragraphs[1:-1])]
    assert " ".join(paragraphs).split() == spaced.split()
    assert all(plain == plain.strip() and "  " not in plain for plain in paragraphs)
    assert all(
        text[place] == chr(code) or chr(code) == " " for place, code in zip(found.places, found.codes, strict=True)
    )
    categories = categories_of(found.codes)
    assert ((categories > 0) & (categories < CATEGORY_NUMBERS)).all()
    assert found.paragraphs[-1] == len(found.codes)


def test_a_blank_line_ends_a_paragraph() -> None:
    found = read_characters(" a\nb \n \n c\r\n\r\nd\n")
    assert ["".join(map(chr, part)) for part in np.split(found.codes, found.paragraphs[1:-1])] == ["a b", "c", "d"]


def paragraphs(text: str, line_breaks: LineBreaks) -> list[str]:
    found = read_characters(text, line_breaks)
    return ["".join(map(chr, part)) for part in np.split(found.codes, found.paragraphs[1:-1])]


def test_a_single_line_break_is_kept_ends_a_paragraph_or_is_a_space() -> None:
    text = "a b \n c\r\nd\n\ne\n"
    assert paragraphs(text, "auto") == ["a b\nc\nd", "e"]
    assert paragraphs(text, "paragraphs") == ["a b", "c", "d", "e"]
    assert paragraphs(text, "spaces") == ["a b c d", "e"]


@given(st.text("ab \n\r\t", max_size=30), st.sampled_from(get_args(LineBreaks)))
def test_line_breaks_change_only_white_space(text: str, line_breaks: LineBreaks) -> None:
    found = read_characters(text, line_breaks)
    assert [chr(code) for code in found.codes[found.spaces == 0]] == list("".join(text.split()))
