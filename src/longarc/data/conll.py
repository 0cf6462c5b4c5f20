"""Read CoNLL-U and CoNLL-X files sentence by sentence, and write them back byte for byte.

CoNLL-U: https://universaldependencies.org/format.html; CoNLL-X: Buchholz & Marsi (2006). Both have ten columns. The
format of a file is detected from its first lines.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from longarc.data.document import Document
from longarc.data.files import (
    ENCODING_HINT,
    NUL_MESSAGE,
    OUTPUT_ENCODING_HINT,
    Source,
    open_output,
    read_chunks,
    source_name,
)
from longarc.data.formats import format_of_path
from longarc.data.raw_text import set_starts
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
"""Characters in a line; a file with a longer one is not a treebank."""
MAX_SENTENCE_LINES = 100_000
DETECTION_CHARACTERS = 200_000
"""Characters from the start of a file by which its format is detected."""

UNIVERSAL_TAGS = {
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART"),
    *("PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X", "_"),
}

_IDS = [str(i) for i in range(2048)]
_HEADS = {"_": NO_HEAD, **{text: number for number, text in enumerate(_IDS)}}
_NOT_CONLL = "Is this a CoNLL-U or CoNLL-X file: ten columns separated by tabs, a blank line after each sentence?"
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


class RowError(Exception):
    """A mistake in one row of a sentence. Readers turn it into an InputError with the file and the line."""

    def __init__(self, row: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.row, self.message, self.hint = row, message, hint


Check = Callable[[Sentence], None]
"""Raises RowError if a sentence that has just been read cannot be used."""


class SentenceReader(Iterator[Sentence]):
    """Iterate over the sentences of a CoNLL-U or CoNLL-X file in constant memory.

    `source` is a path, `-` for standard input, or an open binary stream, also compressed with gzip or xz. `format` is
    detected if it is None. A sentence that is malformed or that `check` rejects raises InputError; if `on_invalid` is
    given, it is called with the error and the sentence is skipped.

    After the last sentence, `tail` is the rest of the file (blank lines and comments), and `skipped` the number of
    skipped sentences.

    >>> for sentence in longarc.read("examples/nonprojective.conllu"):
    ...     print(len(sentence), sentence.root.text)
    9 bought
    7 tried
    """

    def __init__(
        self,
        source: Source,
        *,
        encoding: str = "utf-8",
        format: Format | None = None,
        check: Check | None = None,
        on_invalid: Callable[[InputError], None] | None = None,
    ) -> None:
        self.name = source_name(source)
        self.encoding = encoding
        self.format: Format = format or "conllu"
        self.tail = ""
        self.skipped = 0
        self._detect = format is None
        self._beginning = io.StringIO()  # at least the first sentence, for detecting the format
        self._mark = ""  # a byte order mark that no sentence has yet
        self._blank = io.StringIO()  # blank lines before the current sentence, and comments before them
        self._check = check
        self._on_invalid = on_invalid
        require_ascii_compatible(encoding)
        self._sentences = self._read(source)

    def __next__(self) -> Sentence:
        return next(self._sentences)

    def _read(self, source: Source) -> Iterator[Sentence]:
        pending: list[str] = []  # the lines of the current sentence
        number = 0  # of the last line that was read
        first = 1  # of the first pending line
        has_rows = suspicious = False
        terminated = True
        for chunk in self._whole_lines(source):
            text, odd = self._decode(chunk)
            if not number and text.startswith("\ufeff"):
                self._mark, text = "\ufeff", text[1:]
            if self._detect and self._beginning.tell() < DETECTION_CHARACTERS:
                self._beginning.write(text[:DETECTION_CHARACTERS])
            lines = text.split("\n")
            terminated = not lines[-1]
            if terminated:
                lines.pop()
            odd = odd or max(map(len, lines), default=0) > MAX_LINE
            suspicious |= odd
            last = number + len(lines)
            for number, line in enumerate(lines, number + 1):  # noqa: B020 (the count continues from chunk to chunk)
                blank = not line.strip(" \r") and len(line) <= MAX_LINE
                if blank and has_rows:
                    ending = "\n" + line + ("\n" if terminated or number < last else "")
                    if (sentence := self._build(pending, first, ending, suspicious)) is not None:
                        yield sentence
                    pending, first, has_rows, suspicious = [], number + 1, False, odd
                    continue
                if blank and not (pending and suspicious):  # any number of blank lines is white space
                    self._blank.write("\n".join([*pending, line]) + ("\n" if terminated or number < last else ""))
                    pending, first = [], number + 1
                    continue
                if len(pending) <= MAX_SENTENCE_LINES:
                    pending.append(line)
                has_rows = has_rows or not (blank or line[0] == "#")
        if has_rows or len(pending) > MAX_SENTENCE_LINES:
            if (sentence := self._build(pending, first, "\n" if terminated else "", suspicious)) is not None:
                yield sentence
            pending = []
        elif suspicious:
            self._check_tail(pending, first)
        self.tail = self._lead() + "\n".join(pending) + ("\n" if pending and terminated else "")

    def _lead(self) -> str:
        """Return the byte order mark, if no sentence has it yet, and the lines in `_blank`."""
        lead = self._mark + self._blank.getvalue()
        self._mark, self._blank = "", io.StringIO()
        return lead

    def _check_tail(self, lines: list[str], first: int) -> None:
        """Raise InputError if the tail could not be written back as it was."""
        try:
            _check_lines(lines, self.encoding)
        except RowError as error:
            raise InputError(self.name, first + error.row, error.message, error.hint) from None

    def _whole_lines(self, source: Source) -> Iterator[bytes]:
        """Yield chunks that end with a line end; of a line that is far too long, only the start."""
        rest: list[bytes] = []
        size = 0
        for chunk in read_chunks(source):
            end = chunk.rfind(b"\n") + 1
            if end:
                yield b"".join([*rest, chunk[:end]])
                rest, size = [chunk[end:]], len(chunk) - end
            elif size <= 4 * MAX_LINE:
                rest.append(chunk)
                size += len(chunk)
        if size:
            yield b"".join(rest)

    def _decode(self, chunk: bytes) -> tuple[str, bool]:
        """Return the text of a chunk, and whether its lines have to be checked for invalid bytes and NULs."""
        try:
            return chunk.decode(self.encoding), b"\0" in chunk
        except UnicodeError:
            pass
        try:
            return chunk.decode(self.encoding, errors="surrogateescape"), True
        except UnicodeError:  # a codec that cannot continue after an invalid byte
            raise InputError(self.name, 0, f"is not valid {self.encoding}", ENCODING_HINT) from None

    def _build(self, lines: list[str], first: int, ending: str, suspicious: bool) -> Sentence | None:
        """Return the sentence on these lines, or None if it is invalid and skipped."""
        if self._detect:
            self.format, self._detect = detect_format(self._beginning.getvalue(), self.name), False
        try:
            if len(lines) > MAX_SENTENCE_LINES:  # the lines after these were dropped
                raise RowError(MAX_SENTENCE_LINES, f"no blank line within {MAX_SENTENCE_LINES:,} lines", _NOT_CONLL)
            if suspicious:
                _check_lines(lines, self.encoding)
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
            self._blank = io.StringIO()
            self._on_invalid(problem)
            return None
        sentence.lead = self._lead() + sentence.lead
        return sentence


read = SentenceReader


def read_all(source: Source, **options: Any) -> Document:
    """Return all sentences of a file; the options are those of SentenceReader."""
    document = _read_document(source, **options)
    set_starts(document)
    return document


def _read_document(source: Source, **options: Any) -> Document:
    reader = SentenceReader(source, **options)
    sentences = list(reader)
    return Document(sentences, tail=reader.tail, format=reader.format)


def parse_conll(text: str, *, name: str = "<text>", **options: Any) -> Document:
    """Return all sentences of a text; errors call it `name`, and the options are those of SentenceReader."""
    source = io.BytesIO(encode(text, "utf-8"))
    source.name = name
    return _read_document(source, **options)


def write(target: str | Path, sentences: Iterable[Sentence], *, encoding: str = "utf-8") -> None:
    """Write sentences to a file, or to standard output for `-`; see longarc.write."""
    with open_output(target) as stream:
        for sentence in sentences:
            stream.write(encode(sentence.to_conll(), encoding))
        stream.write(encode(getattr(sentences, "tail", ""), encoding))


def encode(text: str, encoding: str) -> bytes:
    """Return the bytes of a text; raise LongarcError if the encoding lacks a character."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
        hint = "Check that the input is valid UTF-8." if is_utf8 else OUTPUT_ENCODING_HINT
        raise LongarcError(f"{character!r} cannot be written in {encoding}", hint) from None


def missing_sentence_end(text: str) -> str:
    """Return the line ends to append to CoNLL text before another sentence can follow."""
    if not text.endswith("\n"):
        return "\n\n" if text else ""
    return "" if text[:-1].rstrip(" \r").endswith("\n") else "\n"


_PROBE = bytes(range(1, 128)) + b"\\u"


def require_ascii_compatible(encoding: str) -> None:
    """Raise LongarcError if tabs, line ends and digits are not the same bytes in this encoding as in ASCII."""
    try:
        codecs.lookup(encoding)
        compatible = _PROBE.decode(encoding) == _PROBE.decode("ascii") and "#".encode(encoding) == b"#"
    except UnicodeError:
        compatible = False
    except LookupError:
        raise LongarcError(f"unknown encoding {encoding!r}", "Try utf-8, latin-1, cp1252 or koi8-r.") from None
    if not compatible:
        raise LongarcError(
            f"files in {encoding} are not supported",
            f"Convert the file first: iconv -f {encoding} -t utf-8 FILE",
        )


def _check_lines(lines: list[str], encoding: str) -> None:
    """Raise RowError if a line is too long, binary or wrongly encoded."""
    for row, line in enumerate(lines):
        if len(line) > MAX_LINE:
            raise RowError(row, f"a line of more than {MAX_LINE:,} characters", _NOT_CONLL)
        if "\0" in line:
            raise RowError(row, NUL_MESSAGE, _NOT_CONLL)
        if escaped := _ESCAPED_BYTE.search(line):
            raise RowError(row, f"byte 0x{ord(escaped[0]) - 0xDC00:02x} is not valid {encoding}", ENCODING_HINT)


def _parse_rows(lines: list[str], start: int, ending: str, format: Format) -> Sentence:
    rows = [line.split("\t") for line in lines[start:]]
    newline = "\n"
    # With CRLF, every line but perhaps the last of the file ends in CR. If line ends are mixed, CR stays in the column.
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
    """Return the rows that are words; raise RowError if a row lacks ten columns or the ids are out of order."""
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
    message = f"{len(row)} columns, expected 10 separated by tabs"
    if len(row) == 1:
        message = f"no tab in {row[0][:40]!r}, expected 10 columns separated by tabs"
    return RowError(number, message, _NOT_CONLL)


def check_heads(rows: list[list[str]], words: list[list[str]]) -> None:
    """Raise RowError if a head is neither `_` nor a number from 0 to the number of words."""
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
            "0 is the root; _ stands for an unknown head.",
        )


def detect_format(text: str, name: str = "") -> Format:
    """Return the format of a file from its first lines; if they could be either, by its name, else by its tags."""
    tags: set[str] = set()
    for line in text[:DETECTION_CHARACTERS].split("\n")[:2000]:
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
    match format_of_path(name):
        case "conllu" | "conllx" as format:
            return format
    return "conllu" if tags <= UNIVERSAL_TAGS else "conllx"
