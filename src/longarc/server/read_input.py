"""Read sentences from the formats that clients send: raw text, CoNLL-U, a sentence per line, a word per line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from longarc.data.conll import Treebank, parse_conll
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser
from longarc.server.limits import Limits
from longarc.server.problem import Problem, to_problem

NAME = "input"

_FORBIDDEN = re.compile("[\0\ud800-\udfff]")


def read_conllu(text: str, **options: Any) -> Treebank:
    """Read CoNLL-U or CoNLL-X; the options are those of SentenceReader. Raise Problem 422 with the line of an error."""
    _check_characters(text)
    # Sentences are concatenated in the output, so the last one needs its blank line too.
    ending = "" if text.endswith("\n\n") or not text else "\n" if text.endswith("\n") else "\n\n"
    try:
        return parse_conll(text + ending, name=NAME, **options)
    except LongarcError as error:
        raise to_problem(error, NAME) from None


def read_text(parser: Parser, text: str, first_number: int = 1) -> list[Sentence]:
    """Split raw text into sentences and words with the model's tokenizer."""
    _check_characters(text)
    return list(parser.tokenizer.split_stream([text], first_number=first_number))


def read_horizontal(text: str) -> list[Sentence]:
    """Read one sentence per line, its words separated by spaces."""
    _check_characters(text)
    return [Sentence.from_forms(forms) for line in text.split("\n") if (forms := line.split())]


def read_vertical(text: str) -> list[Sentence]:
    """Read one word per line, with a blank line after each sentence."""
    _check_characters(text)
    sentences: list[Sentence] = []
    forms: list[str] = []
    for line in [*text.split("\n"), ""]:
        if form := line.partition("\t")[0].strip():
            forms.append(form)
        elif forms:
            sentences.append(Sentence.from_forms(forms))
            forms = []
    return sentences


def read_tokens(forms: Iterable[list[str]]) -> list[Sentence]:
    """Make sentences from lists of words."""
    sentences = []
    for number, words in enumerate(forms, 1):
        try:
            sentences.append(Sentence.from_forms(words))
        except LongarcError as error:
            raise Problem(422, f"sentence {number}: {error.message}", error.hint) from None
    return sentences


def check_lengths(sentences: Iterable[Sentence], limits: Limits) -> None:
    """Raise Problem 413 if a sentence is too long."""
    for number, sentence in enumerate(sentences, 1):
        if len(sentence) > limits.sentence_words:
            raise Problem(
                413,
                f"sentence {number} has {len(sentence):,} words, the maximum is {limits.sentence_words:,}",
                "Check that the input marks the ends of sentences.",
                sentence.line or None,
            )


def _check_characters(text: str) -> None:
    """Reject lone surrogates, which UTF-8 cannot encode, and NULs."""
    if character := _FORBIDDEN.search(text):
        line = text.count("\n", 0, character.start()) + 1
        raise Problem(422, f"the character {character[0]!a} is not allowed", line=line)
