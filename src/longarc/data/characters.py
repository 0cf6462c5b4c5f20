"""Text as arrays of characters for the tokenizer: split into paragraphs, each run of white space as one space."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longarc.data.spelling import code_points

SPACE = ord(" ")
NEWLINE = ord("\n")
_SPACES = np.array([code for code in range(0x3001) if chr(code).isspace()] + [0xFEFF], dtype=np.uint32)
"""Unicode's white space, and the byte order mark, which is no part of a word either."""


@dataclass(frozen=True)
class TextCharacters:
    """The characters of a text that the tokenizer reads."""

    codes: NDArray[np.uint32]
    """[characters] code points; every run of white space is one SPACE"""
    places: NDArray[np.int64]
    """[characters] position in the text; for white space, that of its first character"""
    spaces: NDArray[np.int64]
    """[characters] length of the white space; 0 for other characters"""
    paragraphs: NDArray[np.int64]
    """[paragraphs + 1] the first character of each paragraph, and the end"""


def read_characters(text: str) -> TextCharacters:
    """Return the characters of a text without the white space around paragraphs, which blank lines separate."""
    codes = code_points(text)
    is_space = np.isin(codes, _SPACES)
    begins = is_space & ~np.concatenate([[False], is_space[:-1]])
    run = np.cumsum(begins)
    lengths = np.bincount(run[is_space], minlength=run[-1] + 1 if len(run) else 1)
    newlines = np.bincount(run[codes == NEWLINE], minlength=len(lengths))
    ends_paragraph = newlines > 1
    if len(codes) and is_space[0]:
        ends_paragraph[1] = True
    if len(codes) and is_space[-1]:
        ends_paragraph[run[-1]] = True
    positions = np.flatnonzero(~is_space | (begins & ~ends_paragraph[run]))
    paragraph = np.cumsum(begins & ends_paragraph[run])[positions]
    starts = np.flatnonzero(np.diff(paragraph, prepend=-1))
    read_codes = np.where(is_space[positions], np.uint32(SPACE), codes[positions])
    spaces = np.where(is_space[positions], lengths[run[positions]], 0)
    return TextCharacters(read_codes, positions, spaces, np.append(starts, len(positions)))


def categories_of(codes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return [characters] the number of the Unicode category of each code point, from 1."""
    different, inverse = np.unique(codes, return_inverse=True)
    numbers = np.array([_NUMBERS[unicodedata.category(chr(code))] for code in different.tolist()], dtype=np.int64)
    return numbers[inverse] if len(codes) else np.zeros(0, dtype=np.int64)


_CATEGORIES = [
    group + kind
    for group, kinds in (("C", "cfnos"), ("L", "lmotu"), ("M", "cen"), ("N", "dlo"), ("P", "cdefios"), ("S", "ckmo"))
    for kind in kinds
] + ["Zl", "Zp", "Zs"]
_NUMBERS = {name: number for number, name in enumerate(_CATEGORIES, 1)}
CATEGORY_NUMBERS = len(_CATEGORIES) + 1
