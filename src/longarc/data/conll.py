"""Reading CoNLL-U and CoNLL-X files sentence by sentence, and writing them back byte for byte.

CoNLL-U: https://universaldependencies.org/format.html; CoNLL-X: Buchholz & Marsi (2006). Both have ten columns; which
of the two a file is in is told from its first lines.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from longarc.data.files import ByteCounter, Source, open_output, read_chunks, source_name
from longarc.data.sentence import (
    DEPS,
    HEAD,
    ID,
    MISC,
    NO_HEAD,
    UPOS,
    Format,
    Sentence,
    is_comment,
)
from longarc.errors import InputError, LongarcError

MAX_LINE = 1_000_000
"""Characters in a line; a longer one is taken for something that is not a treebank."""
MAX_SENTENCE_LINES = 100_000

UNIVERSAL_TAGS = {
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART"),
    *("PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X", "_"),
}

_IDS = [str(i) for i in range(2048)]
_HEADS = {"_": NO_HEAD, **{text: number for number, text in enumerate(_IDS)}}


class RowError(Exception):
    """A problem with row number `row` of a sentence; the reader knows the file and the line."""

    def __init__(self, row: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.row, self.message, self.hint = row, message, hint


Check = Callable[[Sentence], None]
"""Looks at a sentence that has just been read and raises RowError if it will not do."""


class Treebank(list[Sentence]):
    """All sentences of a file, with what stands after the last one (`tail`)."""

    tail: str = ""
    format: Format = "conllu"


class SentenceReader(Iterator[Sentence]):
    """Iterates over the sentences of a file as they arrive, in constant memory.

    After the last sentence `tail` holds what is left of the file (blank lines, comments that belong to no sentence),
    so that a file can be written back whole. `skipped` counts the sentences that `on_invalid` was told about.
    """

    def __init__(
        self,
        source: Source,
        *,
        encoding: str = "utf-8",
        format: Format | None = None,
        check: Check | None = None,
        on_invalid: Callable[[InputError], None] | None = None,
        counter: ByteCounter | None = None,
    ) -> None:
        self.name = source_name(source)
        self.encoding = encoding
        self.format: Format = format or "conllu"
        self._detect = format is None
        self.tail = ""
        self.skipped = 0
        self._counter = counter
        self._check = check
        self._on_invalid = on_invalid
        require_ascii_compatible(encoding)
        self._sentences = self._read(source)

    def __next__(self) -> Sentence:
        return next(self._sentences)

    def _read(self, source: Source) -> Iterator[Sentence]:
        pending: list[str] = []  # the lines of the sentence that is being read
        number = 0  # of the line that was read last
        first = 1  # of the line that is the first of the pending ones
        has_rows = suspicious = started = False
        terminated = True
        mark = ""
        for chunk in self._whole_lines(source):
            text, odd = self._decode(chunk)
            if not started:
                started = True
                if text.startswith("\ufeff"):
                    mark, text = "\ufeff", text[1:]
                if self._detect:
                    self.format = detect_format(text)
            lines = text.split("\n")
            terminated = not lines[-1]
            if terminated:
                lines.pop()
            odd = odd or max(map(len, lines), default=0) > MAX_LINE
            suspicious |= odd
            last = number + len(lines)
            for number, line in enumerate(lines, number + 1):  # noqa: B020 (the count goes on from chunk to chunk)
                blank = not line.strip(" \r") and len(line) <= MAX_LINE
                if blank and has_rows:
                    ending = "\n" + line + ("\n" if terminated or number < last else "")
                    sentence = self._build(pending, first, ending, suspicious)
                    if sentence is not None:
                        sentence.lead, mark = mark + sentence.lead, ""
                        yield sentence
                    pending, first, has_rows, suspicious = [], number + 1, False, odd
                    continue
                if len(pending) <= MAX_SENTENCE_LINES:
                    pending.append(line)
                has_rows = has_rows or not (blank or line[0] == "#")
        if has_rows or len(pending) > MAX_SENTENCE_LINES:
            sentence = self._build(pending, first, "\n" if terminated else "", suspicious)
            if sentence is not None:
                sentence.lead, mark = mark + sentence.lead, ""
                yield sentence
            pending = []
        elif suspicious:
            self._check_tail(pending, first)
        self.tail = mark + "\n".join(pending) + ("\n" if pending and terminated else "")

    def _check_tail(self, lines: list[str], first: int) -> None:
        """Refuses what would not come out of `tail` as it went in."""
        try:
            _find_odd_line(lines, self.encoding)
        except RowError as error:
            raise InputError(self.name, first + error.row, error.message, error.hint) from None

    def _whole_lines(self, source: Source) -> Iterator[bytes]:
        """Chunks that end with a line; of a line that is far too long only the start."""
        rest = b""
        undecided = self._detect  # the format is told from a whole sentence at least
        for chunk in read_chunks(source, counter=self._counter):
            if undecided and len(rest) + len(chunk) < 200_000:
                rest += chunk
                if not _END_OF_SENTENCE.search(rest):
                    continue
                chunk, rest = rest, b""
            undecided = False
            end = chunk.rfind(b"\n") + 1
            if end:
                yield rest + chunk[:end]
                rest = chunk[end:]
            elif len(rest) <= 4 * MAX_LINE:
                rest += chunk
        if rest:
            yield rest

    def _decode(self, chunk: bytes) -> tuple[str, bool]:
        """The chunk's text, and whether a closer look is needed to find what is wrong in it."""
        try:
            return chunk.decode(self.encoding), b"\0" in chunk
        except UnicodeError:
            pass
        try:
            return chunk.decode(self.encoding, errors="surrogateescape"), True
        except UnicodeError:  # a codec that cannot go on after a wrong byte
            raise InputError(self.name, 0, f"is not valid {self.encoding}", "Say which encoding it is in.") from None

    def _build(self, lines: list[str], first: int, ending: str, suspicious: bool) -> Sentence | None:
        """The sentence that the lines make; None where it is invalid and invalid ones are to be skipped."""
        try:
            if len(lines) > MAX_SENTENCE_LINES:  # those that followed were dropped
                raise RowError(MAX_SENTENCE_LINES, f"no blank line within {MAX_SENTENCE_LINES:,} lines", _NOT_CONLL)
            if suspicious:
                _find_odd_line(lines, self.encoding)
            start = 0
            while not lines[start].strip(" \r") or lines[start][0] == "#":
                start += 1
            try:
                sentence = _parse_rows(lines, start, ending, self.format)
                sentence.line = first + start
                if self._check is not None:
                    self._check(sentence)
            except RowError as error:
                error.row += start
                raise
        except RowError as error:
            problem = InputError(self.name, first + error.row, error.message, error.hint)
            if self._on_invalid is None:
                raise problem from None
            self.skipped += 1
            self._on_invalid(problem)
            return None
        return sentence


_END_OF_SENTENCE = re.compile(rb"\S[^\n]*\n[ \r]*\n")
_NOT_CONLL = "Is this a CoNLL-U or CoNLL-X file: ten columns separated by tabs, a blank line after each sentence?"


_PROBE = bytes(range(1, 128)) + b"\\u"


def require_ascii_compatible(encoding: str) -> None:
    """Refuses encodings in which tabs, line ends and digits are not the bytes that they are in ASCII."""
    try:
        codecs.lookup(encoding)
        compatible = _PROBE.decode(encoding) == _PROBE.decode("ascii") and "#".encode(encoding) == b"#"
    except UnicodeError:
        compatible = False
    except LookupError:
        raise LongarcError(f"unknown encoding {encoding!r}", "Try utf-8, latin-1, cp1252 or koi8-r.") from None
    if not compatible:
        raise LongarcError(
            f"files in {encoding} cannot be read as they are",
            f"Convert the file first: iconv -f {encoding} -t utf-8 FILE",
        )


def _find_odd_line(lines: list[str], encoding: str) -> None:
    """Raises the error of the first line that is too long, binary or wrongly encoded, if there is one."""
    for row, line in enumerate(lines):
        if len(line) > MAX_LINE:
            raise RowError(row, f"a line of more than {MAX_LINE:,} characters", _NOT_CONLL)
        if "\0" in line:
            raise RowError(row, "a NUL byte: this looks like binary data", _NOT_CONLL)
        for character in line:
            if "\udc80" <= character <= "\udcff":
                hint = "If the file is in another encoding, say so, such as --encoding latin-1."
                raise RowError(row, f"byte 0x{ord(character) - 0xDC00:02x} is not valid {encoding}", hint)


def _parse_rows(lines: list[str], start: int, ending: str, format: Format) -> Sentence:
    rows = [line.split("\t") for line in lines[start:]]
    newline = "\n"
    # In a file with CRLF every line but perhaps the very last ends in CR; where lines differ, CR stays in the column.
    if rows[-1][-1].endswith("\r"):
        rows[-1][-1] = rows[-1][-1][:-1]
        ending = "\r" + ending
        newline = "\r\n"
    if len(rows) > 1:
        newline = "\n"
        if all(row[-1].endswith("\r") for row in rows[:-1]):
            newline = "\r\n"
            for row in rows[:-1]:
                row[-1] = row[-1][:-1]
    words = check_ids(rows)
    check_heads(rows, words)
    lead = "".join([line + "\n" for line in lines[:start]])
    return Sentence(rows, words, lead=lead, newline=newline, trail=ending, format=format)


def check_ids(rows: list[list[str]]) -> list[list[str]]:
    """The rows that are words, after a check that there are ten columns each and that the ids are in order."""
    expected = len(rows) + 1
    if expected <= len(_IDS) and [row[0] for row in rows] == _IDS[1:expected]:
        for number, row in enumerate(rows):
            if len(row) != 10:
                raise _wrong_columns(number, row)
        return rows
    words: list[list[str]] = []
    range_end = empty_nodes = 0
    for number, row in enumerate(rows):
        if is_comment(row):
            continue
        if len(row) != 10:
            raise _wrong_columns(number, row)
        identifier = row[ID]
        if identifier == str(len(words) + 1):
            words.append(row)
            empty_nodes = 0
            continue
        start, dash, end = identifier.partition("-")
        if dash and start.isdecimal() and end.isdecimal() and len(identifier) < 20:
            if int(start) != len(words) + 1 or int(end) < int(start) or int(start) <= range_end:
                raise RowError(number, f"multiword token {identifier} where word {len(words) + 1} is next")
            range_end = int(end)
            continue
        if identifier == f"{len(words)}.{empty_nodes + 1}":
            empty_nodes += 1
            continue
        hint = "Words are numbered 1, 2, 3 … from the start of each sentence."
        if identifier == "1":
            hint = "Is the blank line between two sentences missing?"
        raise RowError(number, f"ID is {identifier[:40]!r}, expected {len(words) + 1}", hint)
    if not words:
        raise RowError(0, "a sentence without words", "Each sentence needs at least one word.")
    if range_end > len(words):
        raise RowError(len(rows) - 1, f"a multiword token ends at {range_end}, the sentence at {len(words)}")
    return words


def _wrong_columns(number: int, row: list[str]) -> RowError:
    found = f"{len(row)} columns, expected 10 separated by tabs"
    if len(row) == 1:
        found = f"no tab in {row[0][:40]!r}, expected 10 columns separated by tabs"
    return RowError(number, found, _NOT_CONLL)


def check_heads(rows: list[list[str]], words: list[list[str]]) -> None:
    last = len(words)
    try:
        if max([_HEADS[word[HEAD]] for word in words]) <= last:
            return
    except KeyError:
        pass
    for word in words:
        head = word[HEAD]
        if head == "_" or (head.isascii() and head.isdecimal() and len(head) < 10 and int(head) <= last):
            continue
        row = next(number for number, row in enumerate(rows) if row is word)
        raise RowError(
            row,
            f"HEAD is {head[:40]!r}, expected a number from 0 to {last}",
            "0 is the root; _ stands for a head that is not known.",
        )


def detect_format(text: str) -> Format:
    """Tells CoNLL-U from CoNLL-X by the first lines of a file; what could be either is CoNLL-U."""
    tags: set[str] = set()
    for line in text[:200_000].split("\n")[:2000]:
        if line.startswith("#"):
            return "conllu"
        row = line.rstrip("\r").split("\t")
        if len(row) != 10:
            continue
        if "-" in row[ID] or "." in row[ID] or ":" in row[DEPS]:
            return "conllu"
        if row[DEPS].isdecimal():
            return "conllx"
        if "=" in row[MISC]:
            return "conllu"
        tags.add(row[UPOS])
    return "conllu" if tags <= UNIVERSAL_TAGS else "conllx"


_ROW = re.compile(rb"\d+(?:[-.]\d+)?\t")


def looks_like_conll(start: bytes) -> bool:
    """Whether a file that begins so has rows of a treebank in it, and not text; or nothing at all. A line that begins
    with `#` says nothing: texts have such lines too."""
    lines = [line for line in start.removeprefix(codecs.BOM_UTF8).splitlines() if line.strip()]
    telling = next((line for line in lines if not line.startswith(b"#")), None)
    return not lines if telling is None else _ROW.match(telling) is not None


def read(
    source: Source,
    *,
    encoding: str = "utf-8",
    format: Format | None = None,
    check: Check | None = None,
    on_invalid: Callable[[InputError], None] | None = None,
    counter: ByteCounter | None = None,
) -> SentenceReader:
    """Streams the sentences of a CoNLL-U or CoNLL-X file: a path, `-`, or an open binary stream; also `.gz`, `.xz`.

    A sentence that is not well formed, or that `check` refuses, raises InputError; with `on_invalid` it is skipped
    instead and the error handed to that function. `format` saves the guess from the first lines; `counter` tells how
    far the reader has come.
    """
    return SentenceReader(source, encoding=encoding, format=format, check=check, on_invalid=on_invalid, counter=counter)


def read_all(source: Source, **options: Any) -> Treebank:
    """All sentences of a file at once; the options are those of `read`."""
    reader = read(source, **options)
    treebank = Treebank(reader)
    treebank.tail, treebank.format = reader.tail, reader.format
    return treebank


def write(target: str | Path, sentences: Iterable[Sentence], *, encoding: str = "utf-8") -> None:
    """Writes sentences to a file, or to standard output for `-`; what `read` gave comes out byte for byte."""
    with open_output(target) as stream:
        for sentence in sentences:
            stream.write(encode(sentence.to_conll(), encoding))
        stream.write(encode(getattr(sentences, "tail", ""), encoding))


_WRITE_UTF8 = "Write the output with --output-encoding utf-8."


def encode(text: str, encoding: str) -> bytes:
    """The bytes of a text for an output, with a clear error where the encoding lacks a character."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        hint = "Is what was given in UTF-8?" if codecs.lookup(encoding).name == "utf-8" else _WRITE_UTF8
        raise LongarcError(f"{character!r} cannot be written in {encoding}", hint) from None
