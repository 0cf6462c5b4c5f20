"""Open inputs and outputs: plain, `.gz` and `.xz` files, and `-` for standard input and output. Writing is atomic."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from longarc.errors import InputError, LongarcError

GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"

PEEK_BYTES = 1 << 16
_CONTENT_LINE = re.compile(rb"^[^#\r\n][^\n]*\n", re.MULTILINE)

ENCODING_HINT = "Specify the file's encoding, for example latin-1."
OUTPUT_ENCODING_HINT = "Write the output in UTF-8."
NUL_MESSAGE = "a NUL byte: this looks like binary data"

Source = str | Path | BinaryIO
"""A path, `-` for standard input, or an open binary stream."""


def source_name(source: Source) -> str:
    """Return the name of `source` for error messages."""
    if isinstance(source, (str, Path)):
        return "<stdin>" if str(source) == "-" else str(source)
    return str(getattr(source, "name", "<stream>"))


class ByteCounter:
    """The number of bytes read from a file so far, before decompression."""

    def __init__(self) -> None:
        self.count = 0


@contextmanager
def open_input(source: Source, counter: ByteCounter | None = None) -> Iterator[BinaryIO]:
    """Open `source` for reading bytes; compressed data is recognised by its first bytes, whatever the file name.

    Raise LongarcError if it cannot be opened, or if the block finds it damaged. A stream passed as `source` stays open.
    """
    name = source_name(source)
    if not isinstance(source, (str, Path)):
        raw = source
    elif str(source) == "-":
        raw = sys.stdin.buffer
    else:
        try:
            raw = Path(source).open("rb")  # noqa: SIM115 (closed below)
        except IsADirectoryError:
            raise LongarcError(f"{name}: is a folder", "Name a file, or - for standard input.") from None
        except OSError as error:
            raise LongarcError(f"{name}: cannot be read: {error.strerror}") from None
    try:
        yield _decompressed(raw, counter or ByteCounter())
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        hint = "Is the file damaged or incomplete?"
        raise InputError(name, 0, f"cannot be read to its end: {error}", hint) from None
    finally:
        if isinstance(source, (str, Path)) and str(source) != "-":
            raw.close()


def read_chunks(source: Source, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield the bytes of `source` in chunks of at most `size`, as soon as they arrive."""
    with open_input(source) as stream:
        read = getattr(stream, "read1", stream.read)
        while chunk := read(size):
            yield chunk


@contextmanager
def open_and_peek(source: Source, counter: ByteCounter | None = None) -> Iterator[tuple[bytes, BinaryIO]]:
    """Return the first bytes of `source`, for detecting its format, and a stream of all of it.

    The first bytes include a line that is neither empty nor a comment, if there is one within PEEK_BYTES.
    """
    with open_input(source, counter) as stream:
        read = getattr(stream, "read1", stream.read)
        start = b""
        while len(start) < PEEK_BYTES and not _CONTENT_LINE.search(start) and (more := read(PEEK_BYTES)):
            start += more
        rest = io.BufferedReader(_Rejoined(start, stream, ByteCounter()))
        rest.raw.name = source_name(source)  # type: ignore[attr-defined]  # for error messages
        yield start, rest


def read_lines(source: Source, limit: int) -> Iterator[bytes]:
    """Yield the lines of `source` without their ends; raise InputError if one is longer than `limit` bytes."""
    rest: list[bytes] = []
    size = number = 0
    for chunk in read_chunks(source):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            number += 1
            yield b"".join([*rest, line]) if rest else line
            rest, size = [], 0
        if last:
            rest.append(last)
            size += len(last)
        if size > limit:
            raise InputError(source_name(source), number + 1, f"a line of more than {limit:,} bytes")
    if rest:
        yield b"".join(rest)


def _decompressed(raw: BinaryIO, counter: ByteCounter) -> BinaryIO:
    start = b""
    while len(start) < len(XZ_MAGIC) and (more := raw.read(len(XZ_MAGIC) - len(start))):
        start += more
    buffered = io.BufferedReader(_Rejoined(start, raw, counter))
    if start.startswith(GZIP_MAGIC):
        return cast(BinaryIO, gzip.GzipFile(fileobj=buffered))
    if start == XZ_MAGIC:
        return cast(BinaryIO, lzma.LZMAFile(buffered))
    return buffered


class _Rejoined(io.RawIOBase):
    """Bytes that were read already, followed by the rest of their stream; closing it does not close the stream."""

    def __init__(self, start: bytes, rest: BinaryIO, counter: ByteCounter) -> None:
        self._start, self._read, self._counter = start, getattr(rest, "read1", rest.read), counter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._start[: len(buffer)] or self._read(len(buffer))
        self._start = self._start[len(chunk) :]
        self._counter.count += len(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def open_output(target: str | Path) -> Iterator[BinaryIO]:
    """Open `target` for writing bytes, compressed if its name ends in `.gz` or `.xz`; `-` is standard output.

    The file is replaced when the block ends. If the block raises, an older file is left as it was.
    """
    if str(target) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    # Devices and named pipes (/dev/null, >(…)) cannot be replaced by a file: they are written directly.
    replaceable = path.is_file() or not path.exists()
    if replaceable:
        path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part") if replaceable else path
    try:
        raw = temporary.open("wb")
    except OSError as error:
        raise LongarcError(f"{target}: cannot be written: {error.strerror}") from None
    if not replaceable:
        with raw:
            yield cast(BinaryIO, raw)
        return
    try:
        with raw:
            suffix = Path(target).suffix.lower()
            if suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as gzip_stream:
                    yield cast(BinaryIO, gzip_stream)
            elif suffix == ".xz":
                with lzma.LZMAFile(raw, "wb") as xz_stream:
                    yield cast(BinaryIO, xz_stream)
            else:
                yield cast(BinaryIO, raw)
            raw.flush()
            os.fsync(raw.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
