"""Open inputs and outputs: plain, `.gz` and `.xz` files, and `-` for standard input and output. Writing is atomic."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import platform
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from longarc.errors import InputError, LongarcError

GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"

PEEK_BYTES = 1 << 16
PEEK_BLANK_BYTES = 4 << 20
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
        if sys.stdin is None:
            raise LongarcError("standard input is closed", "Name a file.")
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

    The first bytes include a line that is neither empty nor a comment, if there is one within PEEK_BYTES, and
    something else than white space, if there is any within PEEK_BLANK_BYTES.
    """
    with open_input(source, counter) as stream:
        read = getattr(stream, "read1", stream.read)
        start = b""
        while (
            (len(start) < PEEK_BYTES and not _CONTENT_LINE.search(start))
            or (len(start) < PEEK_BLANK_BYTES and start.isspace())
        ) and (more := read(PEEK_BYTES)):
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
    try:
        status = _status_of(Path(target))
        # Devices and named pipes (/dev/null, >(…)) cannot be replaced by a file: they are written directly.
        is_replaceable = status is None or stat.S_ISREG(status.st_mode)
        path = Path(target).resolve() if is_replaceable else Path(target)
        temporary, raw = _create_temporary(path, status) if is_replaceable else (None, path.open("wb"))
    except OSError as error:
        raise LongarcError(f"{target}: cannot be written: {error.strerror}") from None
    if temporary is None:
        with raw:
            yield raw
        return
    try:
        with raw:
            with _compressing(raw, Path(target).suffix.lower()) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _status_of(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _compressing(raw: BinaryIO, suffix: str) -> AbstractContextManager[BinaryIO]:
    """Return a stream that writes to `raw`, compressed as the suffix says; `raw` stays open."""
    if suffix == ".gz":
        return cast(BinaryIO, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0))
    if suffix == ".xz":
        return cast(BinaryIO, lzma.LZMAFile(raw, "wb"))
    return nullcontext(raw)


# ---------------------------------------------------------------------------------------------------------------------
# Temporary files. Their names end in the host, the process and a random number: .out.conllu.1a2b3c4d-321-9f8e7d6c.part

_TEMPORARY = re.compile(r"(?P<prefix>\..+)\.(?P<host>[0-9a-f]{8})-(?P<process>[1-9][0-9]*)-[0-9a-f]{8}\.part")
MAX_NAME_BYTES = 180
"""Bytes of the target's name in the name of its temporary file; most file systems allow 255 in all."""


def _create_temporary(path: Path, status: os.stat_result | None) -> tuple[Path, BinaryIO]:
    """Create a file in the folder of `path` with the same permissions; `status` is None if `path` does not exist."""
    prefix = "." + os.fsencode(path.name)[:MAX_NAME_BYTES].decode(errors="ignore")
    remove_stale_temporaries(path.parent, prefix)
    temporary = path.with_name(f"{prefix}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part")
    mode = 0o666 if status is None else stat.S_IMODE(status.st_mode)
    # O_EXCL: never open a file or follow a link that somebody else made under this name.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode & 0o777)
    try:
        if status is not None and sys.platform != "win32":
            os.fchmod(descriptor, mode)  # the umask may have removed permissions
        return temporary, open(descriptor, "wb")  # noqa: PTH123 (a descriptor)
    except BaseException:
        os.close(descriptor)
        temporary.unlink(missing_ok=True)
        raise


def _host() -> str:
    """Return a number for this host: a process id says nothing about the processes of another."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def remove_stale_temporaries(folder: Path, prefix: str = "") -> None:
    """Remove the temporary files, with `prefix` those of one target, whose process on this host has ended."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            owner = _TEMPORARY.fullmatch(entry.name)
            if not owner or owner["host"] != _host() or (prefix and owner["prefix"] != prefix):
                continue
            if not is_running(int(owner["process"])):
                with suppress(OSError):
                    Path(entry.path).unlink()


def is_running(process: int) -> bool:
    """Return whether a process of this host exists. Windows has no harmless test: there, assume that it does."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
