"""A text as the characters that a tokeniser reads: paragraph by paragraph, each run of white space as one space."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longarc.data.spelling import code_points

SPACE = ord(" ")
NEWLINE = ord("\n")
_SPACES = np.array([code for code in range(0x3001) if chr(code).isspace()] + [0xFEFF], dtype=np.uint32)
"""All white space that Unicode has, and the byte order mark, which is as little a part of a word."""


@dataclass(frozen=True)
class TextCharacters:
    """The characters of a text that count."""

    codes: NDArray[np.uint32]
    """[characters] code points; every run of white space is one SPACE"""
    places: NDArray[np.int64]
    """[characters] where they stand in the text; of white space, its first"""
    spaces: NDArray[np.int64]
    """[characters] how long the white space is; 0 for other characters"""
    paragraphs: NDArray[np.int64]
    """[paragraphs + 1] the first character of each paragraph, and the end"""


def read_characters(text: str) -> TextCharacters:
    """White space at the ends of paragraphs is left out; a blank line ends a paragraph."""
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
    kept = np.flatnonzero(~is_space | (begins & ~ends_paragraph[run]))
    paragraph = np.cumsum(begins & ends_paragraph[run])[kept]
    starts = np.flatnonzero(np.diff(paragraph, prepend=-1))
    kept_codes = np.where(is_space[kept], np.uint32(SPACE), codes[kept])
    spaces = np.where(is_space[kept], lengths[run[kept]], 0)
    return TextCharacters(kept_codes, kept, spaces, np.append(starts, len(kept)))


def categories_of(codes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """[characters] the number of each one's Unicode category, from 1 on."""
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
