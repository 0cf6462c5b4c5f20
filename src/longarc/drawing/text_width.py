"""Estimate the width of text in a terminal or a proportional font, and find the writing direction of a sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_REPLACEMENT = "\ufffd"

# Characters that XML forbids, that move a terminal's cursor, or that reverse the text after them.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]"
    + "".join(f"|[{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}]" for plane in range(0x10000, 0x110000, 0x10000))
)

_EMS = {
    **dict.fromkeys("ijlI|!'.,;:`·", 0.32),
    **dict.fromkeys('frt()[]{}/\\-" ', 0.42),
    **dict.fromkeys("mwMW@%&—…", 0.98),
    **dict.fromkeys("<>=+~#_", 0.80),
}
_EMS_OF_CATEGORY = {"Lu": 0.74, "Ll": 0.62, "Nd": 0.64}
_EMS_OTHERWISE = 0.68


def printable(text: str) -> str:
    """Replace every character that no drawing can show."""
    return _UNPRINTABLE.sub(_REPLACEMENT, text)


# Not rich.cells.cell_len: it differs between versions of rich, and ignores the character after a zero-width joiner and
# spacing vowel signs, so that words in Indic scripts are misaligned.
def columns(text: str) -> int:
    """Return the number of terminal columns: two for wide characters, none for combining marks."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    if _is_zero_width(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _is_zero_width(character: str) -> bool:
    # Terminals show soft hyphens. Conjoining Hangul vowels and final consonants merge with the syllable before them.
    return (unicodedata.category(character) in ("Mn", "Me", "Cf") and character != "\u00ad") or (
        "\u1160" <= character <= "\u11ff"
    )


def ems(text: str) -> float:
    """Return the width of a text in ems: a generous estimate for common sans-serif fonts."""
    return sum(_ems(character) for character in text)


def _ems(character: str) -> float:
    if character in _EMS:
        return _EMS[character]
    if _is_zero_width(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    return _EMS_OF_CATEGORY.get(unicodedata.category(character), _EMS_OTHERWISE)


def is_right_to_left(forms: Iterable[str]) -> bool:
    """Return whether most letters belong to a script that is written from right to left."""
    directions = [unicodedata.bidirectional(character) for form in forms for character in form]
    return directions.count("R") + directions.count("AL") > directions.count("L")
