"""The input files of a corpus: folders and patterns, and their division into chunks, each read by one task."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from longarc.corpus.corpus_options import CorpusInput
from longarc.data.files import open_and_peek
from longarc.data.formats import COMPRESSION_SUFFIXES, detect_input_format, format_suffix
from longarc.errors import LongarcError

PARQUET_SUFFIXES = (".parquet", ".pq")
CHUNK_SHARDS = 16
"""Shards that small files are grouped to be read by one task."""
SMALLEST_SHARD, USUAL_SHARD, LARGEST_SHARD = 1 << 18, 1 << 19, 1 << 24
SHARDS, MOST_SHARDS = 512, 100_000
"""How many shards a corpus gets at least, if they are not too small, and at most, if they are not too large."""


@dataclass(frozen=True)
class InputFile:
    """A file of the corpus."""

    name: str
    """The path as the user named it, which is the id of the document"""
    path: str
    """The absolute path: a worker may run in another folder"""
    size: int


def find_inputs(patterns: Sequence[str]) -> list[InputFile]:
    """Return the files that paths, folders and patterns such as `data/**/*.txt` stand for, each of them once.

    They are in the order of the arguments; those of a folder or a pattern are sorted. Hidden files are left out.
    """
    paths: dict[str, None] = {}
    for pattern in patterns:
        matches = list(_expand(pattern))
        if not matches:
            hint = "Name files, folders, or patterns such as 'data/**/*.txt'."
            raise LongarcError(f"{pattern}: there is no such file", hint)
        paths.update(dict.fromkeys(matches))
    return [InputFile(path, str(Path(path).absolute()), _size(path)) for path in paths]


def _expand(pattern: str) -> Iterator[str]:
    path = Path(pattern)
    if path.is_dir():
        yield from sorted(
            str(file)
            for file in path.rglob("*")
            if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
        )
    elif path.exists():
        yield pattern
    else:
        yield from sorted(match for match in glob.glob(pattern, recursive=True) if Path(match).is_file())  # noqa: PTH207 (keeps the path as it was named)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError as error:
        raise LongarcError(f"{path}: cannot be read: {error.strerror}") from None


def digest_of(files: Sequence[InputFile]) -> str:
    """Return a digest of names, sizes and times of change, by which a later run recognises the same input."""
    digest = hashlib.sha256()
    for file in files:
        changed = Path(file.path).stat().st_mtime_ns
        digest.update(f"{file.name}\0{file.path}\0{file.size}\0{changed}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def default_shard_bytes(files: Sequence[InputFile]) -> int:
    """Return how much text a shard should contain: many shards keep all workers busy, large ones are handier."""
    total = sum(file.size for file in files)
    usual = min(max(total // SHARDS, SMALLEST_SHARD), USUAL_SHARD)
    return max(usual, min(total // MOST_SHARDS, LARGEST_SHARD))


def divide_into_chunks(files: Sequence[InputFile], shard_bytes: int) -> list[list[InputFile]]:
    """Group consecutive files; a file that fills several shards is a chunk of its own."""
    chunks: list[list[InputFile]] = []
    size = 0
    for file in files:
        if not chunks or size + file.size > CHUNK_SHARDS * shard_bytes:
            chunks.append([])
            size = 0
        chunks[-1].append(file)
        size += file.size
    return chunks


def detect_corpus_input(path: str) -> CorpusInput:
    """Return how to read a file: Parquet by its suffix, everything else as `longarc parse` detects it."""
    if format_suffix(path) in PARQUET_SUFFIXES and Path(path).suffix.lower() not in COMPRESSION_SUFFIXES:
        return "parquet"
    with open_and_peek(path) as (start, _):
        format = detect_input_format(path, start)
    return "text" if format == "tokens" else format
