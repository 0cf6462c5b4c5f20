"""Text as arrays of characters for the tokenizer: split into paragraphs, each run of white space as one character."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from longarc.data.spelling import code_points
from longarc.errors import LongarcError

SPACE = ord(" ")
NEWLINE = ord("\n")
_SPACES = np.array([code for code in range(0x3001) if chr(code).isspace()] + [0xFEFF], dtype=np.uint32)
"""Unicode's white space, and the byte order mark, which is no part of a word either."""

LineBreaks = Literal["auto", "paragraphs", "spaces"]
"""What a single line break is: auto: possibly the end of a sentence; paragraphs: the end of a paragraph; spaces: only
white space. A blank line always ends a paragraph."""


@dataclass(frozen=True)
class TextCharacters:
    """The characters of a text that the tokenizer reads."""

    codes: NDArray[np.uint32]
    """[characters] code points; every run of white space is one SPACE, or one NEWLINE"""
    places: NDArray[np.int64]
    """[characters] position in the text; for white space, that of its first character"""
    spaces: NDArray[np.int64]
    """[characters] length of the white space; 0 for other characters"""
    paragraphs: NDArray[np.int64]
    """[paragraphs + 1] the first character of each paragraph, and the end"""


def line_breaks_of_paragraph(line_breaks: LineBreaks) -> int:
    """Return how many line breaks between two words end a paragraph."""
    if line_breaks not in get_args(LineBreaks):
        raise LongarcError(f"line_breaks is {line_breaks!r}", f"Choose one of {', '.join(get_args(LineBreaks))}.")
    return 1 if line_breaks == "paragraphs" else 2


def read_characters(text: str, line_breaks: LineBreaks = "spaces") -> TextCharacters:
    """Return the characters of a text without the white space around paragraphs.

    With `auto`, white space that contains a line break is NEWLINE.
    """
    codes = code_points(text)
    is_space = np.isin(codes, _SPACES)
    begins = is_space & ~np.concatenate([[False], is_space[:-1]])
    run = np.cumsum(begins)
    lengths = np.bincount(run[is_space], minlength=run[-1] + 1 if len(run) else 1)
    newlines = np.bincount(run[codes == NEWLINE], minlength=len(lengths))
    ends_paragraph = newlines >= line_breaks_of_paragraph(line_breaks)
    if len(codes) and is_space[0]:
        ends_paragraph[1] = True
    if len(codes) and is_space[-1]:
        ends_paragraph[run[-1]] = True
    positions = np.flatnonzero(~is_space | (begins & ~ends_paragraph[run]))
    paragraph = np.cumsum(begins & ends_paragraph[run])[positions]
    starts = np.flatnonzero(np.diff(paragraph, prepend=-1))
    is_break = (newlines[run] > 0) & (line_breaks == "auto")
    white = np.where(is_break, np.uint32(NEWLINE), np.uint32(SPACE))
    read_codes = np.where(is_space, white, codes)[positions]
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
