"""Guess the spaces of a treebank that does not record them: punctuation adjoins the word before or after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from longarc.data.raw_text import surface_rows
from longarc.data.sentence import FORM, MISC, Sentence

_CLOSING = frozenset(".,;:!?…%‰·،؛؟۔。、！？：；)]}⟩›")
_OPENING = frozenset("([{⟨‹¿¡")
_DOUBLE_QUOTES = frozenset('"“”„«»″') | {"''", "``"}
_SINGLE_QUOTES = frozenset("'‘’‚`")


def records_spaces(sentences: Iterable[Sentence]) -> bool:
    """Return whether a treebank records its text: some word must follow another without a space."""
    return any("SpaceAfter=No" in row[MISC] for sentence in sentences for row in sentence.rows if len(row) > MISC)


def with_spaces(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences of a treebank as they are if it records spaces, or else with the usual ones."""
    return sentences if records_spaces(sentences) else [with_usual_spacing(sentence) for sentence in sentences]


def with_usual_spacing(sentence: Sentence) -> Sentence:
    """Return a copy of a sentence whose punctuation marks adjoin the words that they usually adjoin.

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
        if index and (was_next or adjoins_previous):
            _join(rows[index - 1])
    return result


def _join(row: list[str]) -> None:
    """Record that no space follows a token."""
    row[MISC] = "SpaceAfter=No" if row[MISC] == "_" else f"{row[MISC]}|SpaceAfter=No"
