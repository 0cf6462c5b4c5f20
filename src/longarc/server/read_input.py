"""What clients send, as sentences: raw text, CoNLL-U, words separated by spaces, a word per line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from longarc.data.conll import Treebank, read_all
from longarc.data.sentence import Format, Sentence
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser
from longarc.server.limits import Limits
from longarc.server.problem import Problem, problem_of

NAME = "input"

_FORBIDDEN = re.compile("[\0\ud800-\udfff]")


def read_conllu(text: str, format: Format | None = None) -> Treebank:
    """The sentences of CoNLL-U, or CoNLL-X where `format` leaves the choice; Problem 422 with the line if not."""
    _check_characters(text)
    # The last sentence needs its blank line where it is to be followed by others.
    ending = "" if text.endswith("\n\n") or not text else "\n" if text.endswith("\n") else "\n\n"
    source = io.BytesIO((text + ending).encode())
    source.name = NAME
    try:
        return read_all(source, format=format)
    except LongarcError as error:
        raise problem_of(error, NAME) from None


def read_text(parser: Parser, text: str, first_number: int = 1) -> list[Sentence]:
    """The sentences and words of raw text, as the model has learnt to find them, or by rules."""
    _check_characters(text)
    return list(parser.tokenizer.split_stream([text], first_number=first_number))


def read_horizontal(text: str) -> list[Sentence]:
    """A sentence per line, its words separated by spaces."""
    _check_characters(text)
    return [Sentence.from_forms(forms) for line in text.split("\n") if (forms := line.split())]


def read_vertical(text: str) -> list[Sentence]:
    """A word per line, a blank line after each sentence."""
    _check_characters(text)
    found: list[Sentence] = []
    forms: list[str] = []
    for line in [*text.split("\n"), ""]:
        if form := line.partition("\t")[0].strip():
            forms.append(form)
        elif forms:
            found.append(Sentence.from_forms(forms))
            forms = []
    return found


def read_tokens(sentences: Iterable[Iterable[str]]) -> list[Sentence]:
    """Sentences that come as lists of words."""
    found = []
    for number, words in enumerate(sentences, 1):
        try:
            found.append(Sentence.from_forms(list(words)))
        except LongarcError as error:
            raise Problem(422, f"sentence {number}: {error.message}", error.hint) from None
    return found


def check_lengths(sentences: Iterable[Sentence], limits: Limits) -> None:
    """Problem 413 where a sentence is longer than the server takes."""
    for number, sentence in enumerate(sentences, 1):
        if len(sentence) > limits.sentence_words:
            raise Problem(
                413,
                f"sentence {number} has {len(sentence):,} words, the longest allowed is {limits.sentence_words:,}",
                "Are the ends of sentences missing?",
                sentence.line or None,
            )


def _check_characters(text: str) -> None:
    """Half characters cannot be written as UTF-8, and NUL is in no text."""
    if found := _FORBIDDEN.search(text):
        raise Problem(422, f"{_shown(found[0])} is not text", line=text.count("\n", 0, found.start()) + 1)


def _shown(text: str) -> str:
    return ascii(text[:40])
