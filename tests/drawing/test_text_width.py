"""Widths and directions of text."""

from __future__ import annotations

from unicodedata import category
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from longarc.drawing.text_width import columns, ems, is_right_to_left, printable


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
