"""Read sentences from the formats that clients send: raw text, CoNLL-U, a sentence per line, a word per line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from longarc.data.characters import LineBreaks
from longarc.data.conll import Check, parse_conll
from longarc.data.document import Document
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser
from longarc.server.limits import Limits
from longarc.server.problem import Problem, to_problem
from longarc.server.work import Cancellation

NAME = "input"
MAX_REQUEST_WORDS = 200_000
"""Words in a request: each takes a few hundred bytes, whereas text can have a word in every two bytes."""

_FORBIDDEN = re.compile("[\0\ud800-\udfff]")


def read_conllu(text: str, cancellation: Cancellation, check: Check | None = None, **options: Any) -> Document:
    """Read CoNLL-U or CoNLL-X; the options are those of SentenceReader. Raise Problem 422 with the line of an error."""

    words = 0

    def check_sentence(sentence: Sentence) -> None:
        nonlocal words
        cancellation.check()
        words += len(sentence)
        _check_words(words)
        if check is not None:
            check(sentence)

    _check_characters(text)
    # Sentences are concatenated in the output, so the last one needs its blank line too.
    ending = "" if text.endswith("\n\n") or not text else "\n" if text.endswith("\n") else "\n\n"
    try:
        return parse_conll(text + ending, name=NAME, check=check_sentence, **options)
    except LongarcError as error:
        raise to_problem(error, NAME) from None


def read_text(
    parser: Parser,
    text: str,
    cancellation: Cancellation,
    first_number: int = 1,
    line_breaks: LineBreaks = "auto",
) -> Document:
    """Split raw text into sentences and words with the model's tokenizer."""
    _check_characters(text)
    document = Document()

    def collect() -> Iterator[Sentence]:
        document.tail = yield from parser.tokenizer.split_stream(
            [text], first_number=first_number, line_breaks=line_breaks
        )

    document.sentences.extend(_limit_words(cancellation.watch(collect())))
    return document


def read_lines(parser: Parser, text: str, cancellation: Cancellation) -> Document:
    """Split raw text with one sentence per line into words."""
    document = Document()
    words = 0
    for line in cancellation.watch(_nonblank_lines(text)):
        parts = read_text(parser, line, cancellation, first_number=len(document) + 1)
        words += sum(map(len, parts))
        _check_words(words)
        document.tail += parts.tail
        if parts:
            document.sentences.append(parts[0] if len(parts) == 1 else _join(parts, line))
    return document


def _nonblank_lines(text: str) -> Iterator[str]:
    """Yield each line with the blank lines before it, and after it if it is the last one."""
    current = ""
    blanks: list[str] = []
    for line in io.StringIO(text, newline="\n"):
        if line.isspace():
            blanks.append(line)
            continue
        if current:
            yield current
        current, blanks = "".join([*blanks, line]), []
    if current or blanks:
        yield current + "".join(blanks)


def _join(parts: Sequence[Sentence], text: str) -> Sentence:
    """Join unparsed sentences into one, with the `sent_id` of the first."""
    rows: list[list[str]] = []
    words: list[list[str]] = []
    for part in parts:
        start = len(words)
        for row in part.rows:
            numbers = [str(int(number) + start) for number in row[0].split("-")]
            renumbered = ["-".join(numbers), *row[1:]]
            rows.append(renumbered)
            if len(numbers) == 1:
                words.append(renumbered)
    comments = "".join(f"{comment}\n" for comment in parts[0].comments if not comment.startswith("# text ="))
    return Sentence(rows, words, lead=f"{comments}# text = {' '.join(text.split())}\n")


def read_horizontal(text: str, cancellation: Cancellation) -> list[Sentence]:
    """Read one sentence per line, its words separated by spaces."""
    _check_characters(text)
    lines = cancellation.watch(text.split("\n"))
    return list(_limit_words(_make_sentence(forms) for line in lines if (forms := line.split())))


def read_vertical(text: str, cancellation: Cancellation) -> list[Sentence]:
    """Read one word per line, with a blank line after each sentence."""
    _check_characters(text)

    def collect() -> Iterator[Sentence]:
        forms: list[str] = []
        for line in cancellation.watch([*text.split("\n"), ""]):
            if form := line.partition("\t")[0].strip():
                forms.append(form)
            elif forms:
                yield _make_sentence(forms)
                forms = []

    return list(_limit_words(collect()))


def read_tokens(forms: Iterable[list[str]], cancellation: Cancellation) -> list[Sentence]:
    """Make sentences from lists of words."""

    def collect() -> Iterator[Sentence]:
        for number, words in enumerate(cancellation.watch(forms), 1):
            try:
                yield _make_sentence(words)
            except LongarcError as error:
                raise Problem(422, f"sentence {number}: {error.message}", error.hint) from None

    return list(_limit_words(collect()))


def _make_sentence(forms: list[str]) -> Sentence:
    _check_words(len(forms))
    return Sentence.from_forms(forms)


def _limit_words(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences; raise Problem 413 if they have too many words altogether."""
    words = 0
    for sentence in sentences:
        words += len(sentence)
        _check_words(words)
        yield sentence


def _check_words(count: int) -> None:
    if count > MAX_REQUEST_WORDS:
        hint = "Send smaller requests, or parse the file on the command line."
        raise Problem(413, f"the request has more than {MAX_REQUEST_WORDS:,} words", hint)


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
