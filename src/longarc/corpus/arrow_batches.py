"""Parse documents in Arrow batches: for Ray, for Spark's `mapInArrow`, for Daft and for Hugging Face `datasets`.

The functions need pyarrow and no engine. A batch has a column of ids and a column of texts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import pyarrow as pa

from longarc.corpus.sentence_columns import SENTENCE_SCHEMA, SentenceColumns
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser, load

DOCUMENT_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("sentences", pa.list_(pa.struct([field for field in SENTENCE_SCHEMA if field.name != "id"]))),
        ("error", pa.string()),
    ]
)
"""One row per document: its sentences, or the reason why it could not be parsed."""


@dataclass
class _Text:
    """A document of a batch."""

    id: str
    text: str | None
    error: str | None = None
    sentences: int = 0


def parse_to_sentences(parser: Parser, batch: pa.RecordBatch | pa.Table, *, text: str, id: str) -> pa.Table:
    """Return one row per sentence (SENTENCE_SCHEMA) of the documents in a batch; `text` and `id` name its columns.

    A document without text (null), or with text that cannot be parsed, has no rows; see `parse_to_documents`.
    """
    return _parse(parser, _texts(batch, text, id))


def parse_to_documents(parser: Parser, batch: pa.RecordBatch | pa.Table, *, text: str, id: str) -> pa.Table:
    """Return one row per document (DOCUMENT_SCHEMA), in the order of the batch; `text` and `id` name its columns."""
    documents = _texts(batch, text, id)
    sentences = _parse(parser, documents).combine_chunks()
    fields = [field for field in SENTENCE_SCHEMA if field.name != "id"]
    rows = pa.StructArray.from_arrays(
        [_one_array(sentences.column(field.name), field.type) for field in fields], fields=fields
    )
    offsets = list(accumulate((document.sentences for document in documents), initial=0))
    failed = pa.array([document.error is not None for document in documents], pa.bool_())
    lists = pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), rows, type=DOCUMENT_SCHEMA.field(1).type, mask=failed
    )
    columns = [pa.array([document.id for document in documents], pa.string()), lists]
    errors = pa.array([document.error for document in documents], pa.string())
    return pa.Table.from_arrays([*columns, errors], schema=DOCUMENT_SCHEMA)


def parse_batches(
    batches: Iterable[pa.RecordBatch], model: str | Path | None = None, *, text: str = "text", id: str = "id"
) -> Iterator[pa.RecordBatch]:
    """Yield batches of parsed sentences (SENTENCE_SCHEMA): the function that Spark's `mapInArrow` expects.

    The model is loaded once per process and uses one thread, since the engine runs a process per core.
    """
    parser = cached_parser(model)
    for batch in batches:
        yield from parse_to_sentences(parser, batch, text=text, id=id).to_batches()


@lru_cache(maxsize=2)
def cached_parser(model: str | Path | None = None) -> Parser:
    """Return a parser with one thread, the same one for every call in this process."""
    return load(model, threads=1)


def parse_in_shared_batches(
    parser: Parser,
    documents: Iterable[tuple[int, Iterable[Sentence]]],
    *,
    keep_tags: bool = False,
    probabilities: bool = False,
) -> Iterator[tuple[int, Sentence]]:
    """Parse numbered documents and yield each sentence with the number of its document, in order.

    Sentences of different documents share batches, so that short documents are parsed as fast as long ones.
    """
    numbers: deque[int] = deque()

    def sentences() -> Iterator[Sentence]:
        for number, document in documents:
            for sentence in document:
                numbers.append(number)
                yield sentence

    with closing(parser.stream(sentences(), keep_tags=keep_tags, probabilities=probabilities)) as parsed:
        for sentence in parsed:
            yield numbers.popleft(), sentence


def _texts(batch: pa.RecordBatch | pa.Table, text: str, id: str) -> list[_Text]:
    for name in (text, id):
        if name not in batch.schema.names:
            hint = f"The batch has the columns {', '.join(batch.schema.names)}."
            raise LongarcError(f"there is no column {name!r}", hint)
    ids = batch.column(id).cast(pa.string()).to_pylist()
    texts = batch.column(text)
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        raise LongarcError(f"the column {text!r} contains {texts.type}, expected strings")
    documents = []
    for number, (identifier, cell) in enumerate(zip(ids, texts, strict=True), 1):
        document = _Text(str(number) if identifier is None else identifier, None)
        try:
            document.text = cell.as_py()
        except UnicodeDecodeError:
            document.error = "the text is not valid UTF-8"
        documents.append(document)
    return documents


def _parse(parser: Parser, documents: list[_Text]) -> pa.Table:
    """Parse documents, count their sentences and note the errors of those that cannot be parsed."""
    for document in documents:
        document.error = document.error or text_error(document.text or "")
    readable = (
        (number, parser.tokenizer.split_stream([document.text or ""], ranges=True))
        for number, document in enumerate(documents)
        if document.error is None
    )
    columns = SentenceColumns()
    for number, sentence in parse_in_shared_batches(parser, readable, probabilities=True):
        document = documents[number]
        document.sentences += 1
        columns.add(document.id, document.sentences, sentence)
    return columns.table()


def text_error(text: str) -> str | None:
    """Return why a text cannot be parsed, or None."""
    return "the text contains a NUL character" if "\0" in text else None


def _one_array(column: pa.ChunkedArray, type: pa.DataType) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], type)
