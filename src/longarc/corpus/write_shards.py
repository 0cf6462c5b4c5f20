"""Parse a work item and write its shard.

Writing is atomic and the name of a shard follows from the input, so an item that is parsed twice, because a machine was
lost, leaves one shard. A report beside the shards says that an item is finished.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow.parquet

from longarc.corpus.arrow_batches import parse_in_shared_batches
from longarc.corpus.corpus_options import CorpusOptions
from longarc.corpus.read_items import one_line, reason_of
from longarc.corpus.sentence_columns import SentenceColumns
from longarc.corpus.work_items import Failure, Part, WorkItem
from longarc.data.conll import missing_sentence_end, read
from longarc.data.files import open_output
from longarc.data.jsonl import read_jsonl, to_json
from longarc.data.sentence import Format, Sentence
from longarc.data.sentence_memory import require_memory
from longarc.errors import InputError
from longarc.runtime.parser import Parser
from longarc.runtime.pipeline import BYTES_PER_PAIR, SENTENCE_SHARE, SentenceWriter

SUFFIXES = {"parquet": ".parquet", "conllu": ".conllu", "jsonl": ".jsonl"}
MAX_ATTEMPTS = 5
"""How often a worker may die while it parses an item, before the documents of the item count as failed."""

_DOCUMENT_COMMENT = re.compile(r"# newdoc\b(?: id = (.*))?")


@dataclass
class ShardReport:
    """What was written for an item."""

    name: str
    shard: str | None = None
    """The name of the file; None if there was nothing to write"""
    documents: int = 0
    """Documents that start in the shard"""
    sentences: int = 0
    words: int = 0
    bytes: int = 0
    sha256: str = ""
    continues: str | None = None
    """The id of the document that starts in an earlier shard and continues in this one"""
    input_bytes: int = 0
    failures: list[Failure] = field(default_factory=list)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ShardReport:
        data = json.loads(text)
        return cls(**{**data, "failures": [Failure(**failure) for failure in data["failures"]]})


def write_item(parser: Parser, item: WorkItem, options: CorpusOptions, folder: Path, reports: Path) -> ShardReport:
    """Parse an item, write its shard to `folder` and its report to `reports`; return the report.

    If a worker has died several times with this item, its documents are reported as failed instead of being parsed.
    """
    attempts = reports / f"{item.name}.attempts"
    count = int(attempts.read_text("ascii") or 0) if attempts.exists() else 0
    if count >= MAX_ATTEMPTS:
        reason = f"the worker process ended {count} times while it parsed this shard; is there too little memory?"
        failures = [Failure(part.id, part.path, 0, reason) for part in item.parts]
        report = ShardReport(item.name, input_bytes=item.input_bytes, failures=[*item.failures, *failures])
    else:
        attempts.write_text(str(count + 1), "ascii")
        report = _parse_and_write(parser, item, options, folder)
    with open_output(reports / f"{item.name}.json") as stream:
        stream.write(report.to_json().encode())
    attempts.unlink(missing_ok=True)
    return report


def _parse_and_write(parser: Parser, item: WorkItem, options: CorpusOptions, folder: Path) -> ShardReport:
    path = folder / f"{item.name}{SUFFIXES[options.format]}"
    try:
        return _write(parser, item, options, path)
    except Exception:  # a single document must not stop the run, whatever is wrong with it
        good, failures = [], list(item.failures)
        for part in item.parts:
            try:
                for _ in _ItemParser(parser, [part], options).parse():
                    pass
                good.append(part)
            except Exception as error:
                failures.append(Failure(part.id, part.path, 0, str(error) or type(error).__name__))
        if len(good) == len(item.parts):  # the documents are not the reason; perhaps the disk is full
            raise
        return _write(parser, WorkItem(item.name, good, failures, item.input_bytes), options, path)


def _write(parser: Parser, item: WorkItem, options: CorpusOptions, path: Path) -> ShardReport:
    parsing = _ItemParser(parser, item.parts, options)
    report = ShardReport(item.name, input_bytes=item.input_bytes)
    with open_output(path) as stream:
        digest = _DigestStream(stream)
        for parsed in WRITERS[options.format](parsing, digest):
            report.sentences += 1
            report.words += len(parsed)
    report.failures = [*item.failures, *parsing.failures]
    report.documents = parsing.documents
    if item.parts and item.parts[0].continues:
        report.continues = item.parts[0].id
    if report.sentences:
        report.shard, report.bytes, report.sha256 = path.name, digest.size, digest.sha256.hexdigest()
    else:
        path.unlink(missing_ok=True)
    return report


@dataclass(frozen=True)
class _CorpusSentence:
    """A parsed sentence and its place in the corpus."""

    part: int
    document: str
    number: int
    parsed: Sentence


class _ItemParser:
    """Parses the parts of an item and tells which document each sentence belongs to."""

    def __init__(self, parser: Parser, parts: list[Part], options: CorpusOptions) -> None:
        self.parts = parts
        self.tails = ["" for _ in parts]
        """What follows the last sentence of each part"""
        self.failures: list[Failure] = []
        self.documents = sum(not part.continues for part in parts)
        self._parser = parser
        self._options = options
        self._check = require_memory(SENTENCE_SHARE * parser.memory, BYTES_PER_PAIR)

    def parse(self) -> Iterator[_CorpusSentence]:
        """Yield the sentences in order. Several documents share batches, unless they are to be parsed separately."""
        numbers = list(range(len(self.parts)))
        for group in [[number] for number in numbers] if self._options.separate else [numbers]:
            parsing = parse_in_shared_batches(
                self._parser,
                ((number, self._read(number)) for number in group),
                keep_tags=self._options.keep_tags,
                probabilities=self._options.probabilities,
            )
            yield from self._locate(parsing)

    def _locate(self, sentences: Iterator[tuple[int, Sentence]]) -> Iterator[_CorpusSentence]:
        """Add the document and the number of each sentence in it. In a treebank, comments start new documents."""
        previous, document, number = -1, "", 0
        for index, parsed in sentences:
            part = self.parts[index]
            is_first, previous = index != previous, index
            if is_first:
                document, number = part.id, part.sentences_before
            start = None if part.kind in ("text", "split") else _document_start(parsed)
            if start is not None:
                document, number = start or part.path, 0
                self.documents += not is_first or part.continues
            number += 1
            yield _CorpusSentence(index, document, number, parsed)

    def _read(self, index: int) -> Iterator[Sentence]:
        part = self.parts[index]
        if part.kind == "text":
            self.tails[index] = yield from self._parser.tokenizer.split_stream(
                [part.content.decode()], ranges=self._options.with_ranges, lead=f"# newdoc id = {one_line(part.id)}\n"
            )
            return
        stream = io.BytesIO(part.content)
        stream.name = part.path
        encoding = "utf-8" if part.kind == "split" else self._options.encoding

        def on_invalid(error: InputError) -> None:
            self.failures.append(Failure(part.id, part.path, error.line + part.first_line, reason_of(error)))

        if part.kind == "jsonl":
            yield from read_jsonl(stream, encoding=encoding, check=self._check, on_invalid=on_invalid)
            return
        format = FORMATS_OF_PARTS[part.kind]
        reader = read(stream, encoding=encoding, format=format, check=self._check, on_invalid=on_invalid)
        yield from reader
        self.tails[index] = reader.tail if reader.format == "conllu" else ""


FORMATS_OF_PARTS: dict[str, Format | None] = {"split": "conllu", "conllu": "conllu", "conllx": "conllx", "conll": None}


def _document_start(sentence: Sentence) -> str | None:
    """Return the id of the document that starts with a sentence: empty if it has none, None if no document starts."""
    for comment in sentence.comments:
        if start := _DOCUMENT_COMMENT.match(comment):
            return start[1] or ""
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Formats


class _DigestStream(io.RawIOBase):
    """Writes to another stream and computes size and checksum of what is written."""

    def __init__(self, stream: BinaryIO) -> None:
        self.sha256 = hashlib.sha256()
        self.size = 0
        self.end = b""
        """The last bytes"""
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        content = bytes(data)
        self._stream.write(content)
        self.sha256.update(content)
        self.size += len(content)
        self.end = (self.end + content[-END_BYTES:])[-END_BYTES:]
        return len(content)


END_BYTES = 4096


def _write_conllu(parsing: _ItemParser, stream: _DigestStream) -> Iterator[Sentence]:
    """Write what `longarc parse` writes for each document, after a comment with its id if it is text."""
    writer = SentenceWriter(cast(BinaryIO, stream))
    current = None
    for sentence in parsing.parse():
        if current not in (None, sentence.part):
            writer.end_file(parsing.tails[cast(int, current)])
        current = sentence.part
        writer.write(sentence.parsed)
        yield sentence.parsed
    if current is not None:
        writer.end_file(parsing.tails[current])
        stream.write(_missing_end(stream.end.decode(errors="replace"), parsing.tails[current]).encode())


def _missing_end(text: str, tail: str) -> str:
    """Return the line ends to append to a shard, so that the next shard can follow; `tail` is the end of `text`."""
    if tail:
        return "" if text.endswith("\n") else "\n"
    return missing_sentence_end(text)


def _write_jsonl(parsing: _ItemParser, stream: _DigestStream) -> Iterator[Sentence]:
    """Write the lines of `longarc parse`, with the id of the document and the number of the sentence in it."""
    for sentence in parsing.parse():
        line = to_json(sentence.parsed, sentence.parsed.probabilities)
        place = json.dumps({"document": sentence.document, "sentence": sentence.number}, ensure_ascii=False)
        stream.write(f"{line[:-1]}, {place[1:]}\n".encode())
        yield sentence.parsed


def _write_parquet(parsing: _ItemParser, stream: _DigestStream) -> Iterator[Sentence]:
    columns = SentenceColumns()
    for sentence in parsing.parse():
        columns.add(sentence.document, sentence.number, sentence.parsed)
        yield sentence.parsed
    pyarrow.parquet.write_table(columns.table(), stream, compression="zstd")


WRITERS: dict[str, Callable[[_ItemParser, _DigestStream], Iterator[Sentence]]] = {
    "conllu": _write_conllu,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}
