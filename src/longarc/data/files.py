"""Opening inputs and outputs: plain, `.gz` and `.xz` files, `-` for standard input and output, and atomic writing."""

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

LOOK_BYTES = 1 << 16
_TELLING_LINE = re.compile(rb"^[^#\r\n][^\n]*\n", re.MULTILINE)

Source = str | Path | BinaryIO
"""Where sentences come from: a path, `-` for standard input, or an open binary stream."""


def source_name(source: Source) -> str:
    """The name by which error messages call `source`."""
    if isinstance(source, (str, Path)):
        return "<stdin>" if str(source) == "-" else str(source)
    return str(getattr(source, "name", "<stream>"))


class ByteCounter:
    """Counts how much of a file has been read, before unpacking: how far a reader has come."""

    def __init__(self) -> None:
        self.count = 0


@contextmanager
def open_input(source: Source, counter: ByteCounter | None = None) -> Iterator[BinaryIO]:
    """Opens `source` for reading bytes; compressed data is recognised by its first bytes, whatever the name.

    What cannot be opened, or turns out to be damaged while the block reads it, is an error of the user's. A stream that
    was given stays open afterwards.
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
        yield _unpacked(raw, counter or ByteCounter())
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        hint = "Is the file damaged or incomplete?"
        raise InputError(name, 0, f"cannot be read to its end: {error}", hint) from None
    finally:
        if isinstance(source, (str, Path)) and str(source) != "-":
            raw.close()


def read_chunks(source: Source, size: int = 1 << 20, counter: ByteCounter | None = None) -> Iterator[bytes]:
    """The bytes of `source` in chunks of at most `size`, as soon as they arrive."""
    with open_input(source, counter) as stream:
        read = getattr(stream, "read1", stream.read)
        while chunk := read(size):
            yield chunk


@contextmanager
def open_and_peek(source: Source, counter: ByteCounter | None = None) -> Iterator[tuple[bytes, BinaryIO]]:
    """The first bytes of `source`, and all of it as a stream: for those who must know what it is before they read it.

    They are as many as arrive at once and, unless the source is shorter, at least one line that is neither empty nor a
    comment, if there is one near the start.
    """
    with open_input(source, counter) as stream:
        read = getattr(stream, "read1", stream.read)
        start = b""
        while len(start) < LOOK_BYTES and not _TELLING_LINE.search(start) and (more := read(LOOK_BYTES)):
            start += more
        rest = io.BufferedReader(_Rejoined(start, stream, ByteCounter()))
        rest.raw.name = source_name(source)  # type: ignore[attr-defined]  # what errors will call it
        yield start, rest


def read_lines(source: Source, limit: int, counter: ByteCounter | None = None) -> Iterator[bytes]:
    """The lines of `source` without their ends; one of more than `limit` bytes is an error."""
    rest = b""
    number = 0
    for chunk in read_chunks(source, counter=counter):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            number += 1
            yield rest + line
            rest = b""
        rest += last
        if len(rest) > limit:
            raise InputError(source_name(source), number + 1, f"a line of more than {limit:,} bytes")
    if rest:
        yield rest


def _unpacked(raw: BinaryIO, counter: ByteCounter) -> BinaryIO:
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
    """A stream whose first bytes have been looked at already; closing it leaves the stream open."""

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
    """Opens `target` for writing bytes, `-` being standard output, compressed where the name ends in `.gz` or `.xz`.

    A file gets its name only when the block has ended well; whatever goes wrong before leaves an older file of that
    name as it was and nothing half-written beside it.
    """
    if str(target) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    # A device or a named pipe (/dev/null, >(…)) cannot be replaced by a file: it is written as it is.
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
            if Path(target).suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            elif Path(target).suffix == ".xz":
                with lzma.LZMAFile(raw, "wb") as packed_xz:
                    yield cast(BinaryIO, packed_xz)
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
