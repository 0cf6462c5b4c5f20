"""Guess the spaces of a treebank that does not record them: punctuation adjoins the word before or after it, and elided
words (Italian *l'*, French *d'*) adjoin the next one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from longarc.data.raw_text import surface_rows
from longarc.data.sentence import FORM, MISC, UPOS, Sentence

_CLOSING = frozenset(".,;:!?…%‰·،؛؟۔。、！？：；)]}⟩›")
_OPENING = frozenset("([{⟨‹¿¡")
_DOUBLE_QUOTES = frozenset('"“”„«»″') | {"''", "``"}
_SINGLE_QUOTES = frozenset("'‘’‚`")
_ELIDED = frozenset({"ADP", "ADV", "DET", "PRON", "SCONJ", "_"})
"""Parts of speech of elided words; multiword tokens have none. Others end in an apostrophe for other reasons."""
_LEAST_SHARE = 0.01
"""Of tokens without a space after them; treebanks that record spaces have at least 7 %, others up to 0.1 %."""


def records_spaces(sentences: Iterable[Sentence]) -> bool:
    """Return whether a treebank records its text: some tokens must follow others without a space."""
    joined = [
        len(row) > MISC and "SpaceAfter=No" in row[MISC] for sentence in sentences for row in surface_rows(sentence)
    ]
    return sum(joined) > _LEAST_SHARE * len(joined)


def with_spaces(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences of a treebank as they are if it records spaces, or else with the usual ones."""
    return sentences if records_spaces(sentences) else [with_usual_spacing(sentence) for sentence in sentences]


def with_usual_spacing(sentence: Sentence) -> Sentence:
    """Return a copy of a sentence whose punctuation marks and elided words adjoin the words that they usually adjoin.

    Quotation marks open and close in turn.
    """
    result = sentence.copy()
    rows = surface_rows(result)
    adjoins_next = False
    is_open = {_DOUBLE_QUOTES: False, _SINGLE_QUOTES: False}
    for index, row in enumerate(rows):
        form = row[FORM]
        adjoins_previous = _CLOSING.issuperset(form)
        was_next, adjoins_next = adjoins_next, _OPENING.issuperset(form)
        for quotes in is_open:
            if form in quotes:
                is_open[quotes] = not is_open[quotes]
                adjoins_next, adjoins_previous = is_open[quotes], not is_open[quotes]
        if index and (was_next or adjoins_previous or _is_elided(rows[index - 1], form)):
            _join(rows[index - 1])
    return result


def _is_elided(row: list[str], following: str) -> bool:
    """Return whether a word lost its last vowel because the following one begins with a vowel."""
    starts_with_vowel = unicodedata.normalize("NFD", following)[0].lower() in "aeiouyh"
    return starts_with_vowel and len(row[FORM]) > 1 and row[FORM].endswith(("'", "’")) and row[UPOS] in _ELIDED


def _join(row: list[str]) -> None:
    """Record that no space follows a token."""
    row[MISC] = "SpaceAfter=No" if row[MISC] == "_" else f"{row[MISC]}|SpaceAfter=No"
