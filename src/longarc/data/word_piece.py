"""BERT's way from a word to pieces, without the library `tokenizers`: parsing with such a model needs nothing else."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

_CHINESE = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F)),
    *((0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)
"""The first and last code points of the blocks whose characters are words of their own."""
_WHITE_SPACE = "\t\n\r"


class WordPieces:
    """Splits words: normalizer BertNormalizer, pre-tokenizer BertPreTokenizer, model WordPiece."""

    def __init__(self, normalizer: Mapping[str, Any], model: Mapping[str, Any], numbers: Mapping[str, int]) -> None:
        """`numbers`: of the pieces, `unk_token` among them."""
        self._normalizer = normalizer
        self._numbers = numbers
        self._prefix: str = model["continuing_subword_prefix"]
        self._unknown = numbers[model["unk_token"]]
        self._longest: int = model["max_input_chars_per_word"]
        self._longest_piece = max(map(len, numbers))

    def split(self, form: str) -> list[int]:
        """Return the numbers of a word's pieces."""
        return [number for part in _parts(self._normalise(form)) for number in self._split_part(part)]

    def _normalise(self, text: str) -> str:
        options = self._normalizer
        if options["clean_text"]:
            text = "".join(" " if _is_space(c) else c for c in text if not _is_removed(c))
        if options["handle_chinese_chars"]:
            text = "".join(f" {c} " if _is_chinese(c) else c for c in text)
        if options["lowercase"] if options["strip_accents"] is None else options["strip_accents"]:
            text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
        if options["lowercase"]:
            text = "".join(c.lower() for c in text)  # one by one, so that no character depends on others
        return text

    def _split_part(self, part: str) -> list[int]:
        """Return the longest known pieces from left to right, or the unknown piece if that leads nowhere."""
        if len(part) > self._longest:
            return [self._unknown]
        found = []
        start = 0
        while start < len(part):
            prefix = self._prefix if start else ""
            for end in range(min(len(part), start + self._longest_piece), start, -1):
                number = self._numbers.get(prefix + part[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return [self._unknown]
        return found


def _parts(text: str) -> Iterator[str]:
    """Yield the parts between white space, and punctuation marks as parts of their own."""
    part = ""
    for character in text:
        is_mark = _is_punctuation(character)
        if is_mark or character.isspace():
            if part:
                yield part
            if is_mark:
                yield character
            part = ""
        else:
            part += character
    if part:
        yield part


def _is_removed(character: str) -> bool:
    is_control = unicodedata.category(character).startswith("C") and character not in _WHITE_SPACE
    return is_control or character == "\ufffd"


def _is_space(character: str) -> bool:
    return character in _WHITE_SPACE or character.isspace()


def _is_chinese(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _CHINESE)


def _is_punctuation(character: str) -> bool:
    is_ascii_mark = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return is_ascii_mark or unicodedata.category(character).startswith("P")
