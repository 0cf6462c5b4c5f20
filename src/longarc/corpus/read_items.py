"""Read input files and divide them into work items of bounded size.

A text that is much longer than a shard is split into sentences here, one piece after the other, as `longarc parse`
does. It is cut where the parser starts a new window of sentences (WINDOW_WORDS), so its batches are those of
`longarc parse` and so is its output, also with an 8-bit model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from longarc.corpus.arrow_batches import text_error
from longarc.corpus.corpus_options import CorpusOptions
from longarc.corpus.input_files import InputFile, detect_corpus_input
from longarc.corpus.work_items import Failure, Part, PartKind, WorkItem
from longarc.data.conll import DETECTION_CHARACTERS, detect_format, require_ascii_compatible
from longarc.data.files import ByteCounter, open_and_peek, open_input, read_lines
from longarc.data.formats import is_sentence_object
from longarc.data.jsonl import MAX_LINE_BYTES
from longarc.data.raw_text import read_text
from longarc.data.shards import shards
from longarc.errors import InputError, LongarcError
from longarc.runtime.parser import WINDOW_WORDS

if TYPE_CHECKING:
    from longarc.runtime.tokenizer import Tokenizer

WHOLE_SHARDS, WHOLE_BYTES = 4, 1_000_000
"""A text of at most this many shards and bytes is parsed whole: splitting it here costs more than uneven shards."""
WINDOW_BYTES = 300_000
"""The text of WINDOW_WORDS words, approximately."""
ROW_BYTES = 200
"""What a document adds to the size of an item besides its text, so that an item has a bounded number of documents."""
PARQUET_ROWS = 64
"""Rows of Parquet that are read at once."""

_CONLL_WORD = re.compile(rb"^\d+\t", re.MULTILINE)
_JSON_WORD = re.compile(rb'"id": *\d')
_CONLL_DOCUMENT = re.compile(rb"^# newdoc\b(?: id = ([^\r\n]*))?", re.MULTILINE)
_JSON_DOCUMENT = re.compile(rb'"# newdoc\b(?: id = ([^"]*))?')


class ItemReader:
    """Reads the files of one chunk; iterate over it for its items.

    `tokenizer` is only called for texts that are not parsed whole. Items whose number is in `done` are left out.
    """

    def __init__(
        self,
        chunk: int,
        files: Sequence[InputFile],
        options: CorpusOptions,
        tokenizer: Callable[[], Tokenizer],
        done: frozenset[int] = frozenset(),
    ) -> None:
        self.count = 0
        """The number of items so far, including those that are left out"""
        self._chunk = chunk
        self._files = files
        self._options = options
        self._tokenizer = tokenizer
        self._done = done
        self._counter = ByteCounter()
        self._counted = 0
        self._item = WorkItem("")
        self._size = 0

    def __iter__(self) -> Iterator[WorkItem]:
        for file in self._files:
            before = self._counter.count
            try:
                for part in self._parts(file):
                    yield from self._add(part)
            except InputError as error:
                self._fail(file.name, file, error.line, reason_of(error))
            except LongarcError as error:
                self._fail(file.name, file, 0, error.message.removeprefix(f"{file.path}: "))
            self._counter.count = before + file.size
        if self._item.parts or self._item.failures:
            yield from self._end()

    def _add(self, part: Part) -> Iterator[WorkItem]:
        size = len(part.content) + ROW_BYTES
        if self._item.parts and (part.is_cut or self._size + size > self._options.shard_bytes):
            yield from self._end()
        self._item.parts.append(part)
        self._size += size
        if part.is_cut:
            yield from self._end()

    def _end(self) -> Iterator[WorkItem]:
        """Finish the current item and start the next one."""
        item = replace(
            self._item, name=item_name(self._chunk, self.count), input_bytes=self._counter.count - self._counted
        )
        self._counted = self._counter.count
        self._item, self._size = WorkItem(""), 0
        self.count += 1
        if self.count - 1 not in self._done:
            yield item

    def _fail(self, id: str, file: InputFile, line: int, reason: str) -> None:
        self._item.failures.append(Failure(id, file.name, line, reason))

    def _parts(self, file: InputFile) -> Iterator[Part]:
        match self._options.input or detect_corpus_input(file.path):
            case "text":
                yield from self._text_file(file)
            case "lines":
                yield from self._texts(file, self._lines(file.path))
            case "parquet":
                yield from self._texts(file, self._parquet_rows(file))
            case "conll":
                yield from self._treebank(file, "conll")
            case "jsonl":
                with open_and_peek(file.path) as (start, _):
                    has_sentences = self._options.column is None and is_sentence_object(start)
                if has_sentences:
                    yield from self._treebank(file, "jsonl")
                else:
                    yield from self._texts(file, self._json_rows(file.path))

    # -----------------------------------------------------------------------------------------------------------------
    # Text: a document per file, line or row

    def _text_file(self, file: InputFile) -> Iterator[Part]:
        text = _read_short_text(file.path, self._options)
        if text is not None:
            yield Part(file.name, "text", text.encode(), file.name)
            return
        _check_text(file.path, self._options)
        with open_input(file.path, self._counter) as stream:
            yield from self._long_text(file.name, read_text(stream, encoding=self._options.encoding), file)

    def _texts(self, file: InputFile, rows: Iterator[_Row]) -> Iterator[Part]:
        for row in rows:
            id = row.id or f"{file.name}:{row.number}"
            reason = row.error or text_error(row.text)
            try:
                content = row.text.encode()
            except UnicodeEncodeError:
                reason = reason or "the text contains half of a surrogate pair"
            if reason:
                self._fail(id, file, row.number, reason)
            elif len(content) <= whole_text_bytes(self._options.shard_bytes):
                yield Part(id, "text", content, file.name)
            else:
                yield from self._long_text(id, iter([row.text]), file)

    def _long_text(self, id: str, pieces: Iterator[str], file: InputFile) -> Iterator[Part]:
        """Split a document into sentences and yield it as parts of whole windows in CoNLL-U."""
        collected = _WindowCollector(self._options.shard_bytes)
        part = Part(id, "split", b"", file.name, is_cut=True)
        number = 0
        split = self._tokenizer().split_stream(
            pieces, ranges=self._options.with_ranges, lead=f"# newdoc id = {one_line(id)}\n"
        )
        while True:
            try:
                sentence = next(split)
            except StopIteration as end:
                tail: str = end.value
                break
            if collected.is_full:
                yield replace(part, content=collected.take())
                part = replace(part, sentences_before=number, continues=True)
            collected.add(sentence.to_conll().encode(), len(sentence))
            number += 1
        yield replace(part, content=collected.take() + tail.encode())

    def _lines(self, path: str) -> Iterator[_Row]:
        require_ascii_compatible(self._options.encoding)
        with open_input(path, self._counter) as stream:
            for number, line in enumerate(read_lines(stream, MAX_LINE_BYTES), 1):
                try:
                    text = line.decode(self._options.encoding).removesuffix("\r")
                except UnicodeDecodeError as error:
                    yield _Row(number, error=f"byte 0x{line[error.start]:02x} is not valid {self._options.encoding}")
                    continue
                text = text.removeprefix("\ufeff") if number == 1 else text
                if text.strip():
                    yield _Row(number, text)

    def _json_rows(self, path: str) -> Iterator[_Row]:
        for line in self._lines(path):
            if line.error:
                yield line
                continue
            try:
                data = json.loads(line.text)
            except (ValueError, RecursionError) as error:
                yield _Row(line.number, error=f"not valid JSON: {error}")
                continue
            if isinstance(data, dict):
                yield self._row(line.number, data)
            else:
                yield _Row(line.number, error="expected a JSON object")

    def _parquet_rows(self, file: InputFile) -> Iterator[_Row]:
        import pyarrow as pa
        import pyarrow.parquet

        try:
            with pyarrow.parquet.ParquetFile(file.path) as table:
                present = set(table.schema_arrow.names)
                columns = [name for name in (self._column, self._id_column) if name in present]
                row_bytes = file.size / max(1, table.metadata.num_rows)
                before, number = self._counter.count, 0
                for batch in table.iter_batches(PARQUET_ROWS, columns=columns):
                    for data in batch.to_pylist():
                        number += 1
                        yield self._row(number, data)
                    self._counter.count = before + int(number * row_bytes)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(file.path, 0, f"cannot be read as Parquet: {error}") from None

    @property
    def _column(self) -> str:
        return self._options.column or "text"

    @property
    def _id_column(self) -> str:
        return self._options.id_column or "id"

    def _row(self, number: int, data: dict[str, Any]) -> _Row:
        id, text = data.get(self._id_column), data.get(self._column)
        name = str(id) if isinstance(id, (str, int)) else ""
        if not name and self._options.id_column is not None:
            return _Row(number, error=f"there is no id in the column {self._id_column!r}")
        if not isinstance(text, str):
            content = "nothing" if text is None else type(text).__name__
            return _Row(number, id=name, error=f"the column {self._column!r} contains {content}, expected text")
        return _Row(number, text, name)

    # -----------------------------------------------------------------------------------------------------------------
    # Treebanks: CoNLL-U, CoNLL-X and JSON lines with sentences

    def _treebank(self, file: InputFile, kind: PartKind) -> Iterator[Part]:
        with open_input(file.path) as stream:
            content = stream.read(self._options.shard_bytes + 1)
        if len(content) <= self._options.shard_bytes:
            yield Part(file.name, kind, content, file.name)
            return
        if kind == "conll":
            start = content.decode(self._options.encoding, errors="replace")[:DETECTION_CHARACTERS]
            kind = detect_format(start.removeprefix("\ufeff"), file.path)
        with open_input(file.path, self._counter) as stream:
            sentences = shards(stream, 1, format="jsonl" if kind == "jsonl" else "conll")
            yield from self._long_treebank(file.name, kind, sentences)

    def _long_treebank(self, name: str, kind: PartKind, sentences: Iterator[bytes]) -> Iterator[Part]:
        """Yield the sentences of a file as parts of whole windows."""
        word, document = (_JSON_WORD, _JSON_DOCUMENT) if kind == "jsonl" else (_CONLL_WORD, _CONLL_DOCUMENT)
        windows = _WindowCollector(self._options.shard_bytes)
        part = Part(name, kind, b"", name, is_cut=True)
        id, number, lines = name, 0, 0
        for sentence in sentences:
            if windows.is_full:
                yield replace(part, content=windows.take())
                part = replace(part, id=id, first_line=lines, sentences_before=number, continues=True)
            if start := document.search(sentence):
                id, number = start[1].decode(self._options.encoding, errors="replace") if start[1] else name, 0
            words = len(word.findall(sentence))
            windows.add(sentence, words)
            lines += sentence.count(b"\n")
            number += words > 0
        yield replace(part, content=windows.take())


@dataclass(frozen=True)
class _Row:
    """A document in a file of many."""

    number: int
    text: str = ""
    id: str = ""
    error: str = ""


class _WindowCollector:
    """Collects sentences until they fill whole windows of the parser."""

    def __init__(self, shard_bytes: int) -> None:
        self._windows = max(1, shard_bytes // WINDOW_BYTES)
        self._sentences: list[bytes] = []
        self._words = self._full = 0

    @property
    def is_full(self) -> bool:
        return self._full == self._windows

    def add(self, sentence: bytes, words: int) -> None:
        self._sentences.append(sentence)
        self._words += words
        if self._words >= WINDOW_WORDS:
            self._words = 0
            self._full += 1

    def take(self) -> bytes:
        """Return what was collected and start again."""
        content = b"".join(self._sentences)
        self._sentences, self._full = [], 0
        return content


def item_name(chunk: int, number: int) -> str:
    """Return the name of an item; names in alphabetical order are the order of the input."""
    return f"{chunk:06}-{number:06}"


def one_line(id: str) -> str:
    """Return an id as it is written in a comment."""
    return " ".join(id.splitlines()) if id else id


def whole_text_bytes(shard_bytes: int) -> int:
    """Return the size up to which a text is parsed whole."""
    return max(shard_bytes, min(WHOLE_SHARDS * shard_bytes, WHOLE_BYTES))


def _read_short_text(path: str, options: CorpusOptions) -> str | None:
    """Return the text of a file, or None if it is too long to be parsed whole."""
    pieces: list[str] = []
    size, limit = 0, whole_text_bytes(options.shard_bytes)
    with open_input(path) as stream, closing(read_text(stream, encoding=options.encoding)) as text:
        for piece in text:
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                return None
    return "".join(pieces)


def _check_text(path: str, options: CorpusOptions) -> None:
    """Raise InputError if a text cannot be read to its end, before any part of it is parsed."""
    with open_input(path) as stream:
        for _ in read_text(stream, encoding=options.encoding):
            pass


def reason_of(error: InputError) -> str:
    """Return the message of an error without the file and the line."""
    prefix = f"{error.path}:{error.line}: " if error.line else f"{error.path}: "
    return error.message.removeprefix(prefix)
