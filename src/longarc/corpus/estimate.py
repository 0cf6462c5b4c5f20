"""Count the documents of a corpus and estimate how long it takes to parse them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet

from longarc.corpus.corpus_options import CorpusOptions
from longarc.corpus.input_files import InputFile, detect_corpus_input
from longarc.corpus.read_items import ItemReader
from longarc.corpus.write_shards import write_item
from longarc.data.files import open_input, read_chunks
from longarc.data.formats import COMPRESSION_SUFFIXES
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser

SAMPLE_FILES = 3
SAMPLE_BYTES = 50_000
_NEW_DOCUMENT = b"# newdoc"


@dataclass(frozen=True)
class Estimate:
    """The size of a corpus and the speed of one worker on a sample of it."""

    files: int
    input_bytes: int
    """Size of the files"""
    content_bytes: int
    """Size of their content, which is larger if they are compressed"""
    documents: int
    sample_bytes: int
    sample_words: int
    sample_seconds: float

    @property
    def words(self) -> int:
        """How many words there are, approximately."""
        return round(self.content_bytes * self.sample_words / max(1, self.sample_bytes))

    @property
    def words_per_second(self) -> float:
        """The speed of one worker."""
        return self.sample_words / max(self.sample_seconds, 1e-9)

    def seconds(self, workers: int) -> float:
        """Return how long the corpus takes with this many workers, approximately."""
        return self.words / max(self.words_per_second, 1e-9) / workers


def estimate(files: Sequence[InputFile], options: CorpusOptions, parser: Parser) -> Estimate:
    """Read all files once to count documents, and parse the start of a few of them to measure the speed."""
    documents = content_bytes = 0
    for file in files:
        file_documents, file_bytes = _count(file, options)
        documents += file_documents
        content_bytes += file_bytes
    step = max(1, len(files) // SAMPLE_FILES)
    sample = _parse_sample(files[::step][:SAMPLE_FILES], options, parser)
    return Estimate(len(files), sum(file.size for file in files), content_bytes, documents, *sample)


def _count(file: InputFile, options: CorpusOptions) -> tuple[int, int]:
    """Return the number of documents in a file and the size of its content."""
    kind = options.input or detect_corpus_input(file.path)
    if kind == "parquet":
        return _count_parquet(file, options)
    documents = size = 0
    if kind == "text":
        return 1, sum(map(len, read_chunks(file.path)))
    with open_input(file.path) as stream:
        for line in stream:
            size += len(line)
            documents += line.startswith(_NEW_DOCUMENT) if kind == "conll" else not line.isspace()
    return max(documents, int(size > 0)), size


def _count_parquet(file: InputFile, options: CorpusOptions) -> tuple[int, int]:
    try:
        metadata = pyarrow.parquet.read_metadata(file.path)
    except (pyarrow.ArrowException, OSError) as error:
        raise LongarcError(f"{file.name}: cannot be read as Parquet: {error}") from None
    size = 0
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            column = metadata.row_group(group).column(index)
            if column.path_in_schema == (options.column or "text"):
                size += column.total_uncompressed_size
    return metadata.num_rows, size


def _parse_sample(files: Sequence[InputFile], options: CorpusOptions, parser: Parser) -> tuple[int, int, float]:
    """Return the bytes and the words of the sample, and the seconds that it took."""
    sample_bytes = words = 0
    seconds = 0.0
    parser.parse(["warm", "up"])
    for file in files:
        with tempfile.TemporaryDirectory(prefix="longarc-sample-") as folder:
            sample = _start_of(file, options, Path(folder))
            sample_bytes += sample.size
            start = time.perf_counter()
            for item in ItemReader(0, [sample], replace(options, id_column=None), lambda: parser.tokenizer):
                words += write_item(parser, item, options, Path(folder), Path(folder)).words
            seconds += time.perf_counter() - start
    return sample_bytes, words, seconds


def _start_of(file: InputFile, options: CorpusOptions, folder: Path) -> InputFile:
    """Write the first SAMPLE_BYTES of a file, up to the end of a line, to a new file."""
    name = Path(file.path).name
    while name.lower().endswith(COMPRESSION_SUFFIXES):
        name = name[: -len(Path(name).suffix)]
    path = folder / f"sample-{name}"
    if (options.input or detect_corpus_input(file.path)) == "parquet":
        size = _write_first_rows(file.path, options.column or "text", path)
    else:
        with open_input(file.path) as stream:
            content = stream.read(SAMPLE_BYTES)
        end = max(content.rfind(b"\n\n") + 2, 0) if b"\n\n" in content else content.rfind(b"\n") + 1
        content = content[: end or len(content)]
        path.write_bytes(content)
        size = len(content)
    return InputFile(file.name, str(path), size)


def _write_first_rows(source: str, column: str, target: Path) -> int:
    """Write the first rows of a Parquet file to another; return the size of their text."""
    with pyarrow.parquet.ParquetFile(source) as file:
        if column not in file.schema_arrow.names:
            hint = f"The file has the columns {', '.join(file.schema_arrow.names)}."
            raise LongarcError(f"{source}: there is no column {column!r}", hint)
        size, batches = 0, []
        for batch in file.iter_batches(16, columns=[column]):
            batches.append(batch)
            size += batch.nbytes
            if size > SAMPLE_BYTES:
                break
        pyarrow.parquet.write_table(
            pyarrow.Table.from_batches(batches, file.schema_arrow.empty_table().select([column]).schema), target
        )
    return size
