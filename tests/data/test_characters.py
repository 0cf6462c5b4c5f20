"""Characters of raw text."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from longarc.data.characters import CATEGORY_NUMBERS, categories_of, read_characters


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
