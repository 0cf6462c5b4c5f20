"""Opening inputs and outputs: plain, `.gz` and `.xz` files, `-` for standard input and output, and atomic writing."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from longarc.errors import InputError, LongarcError

GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"

Source = str | Path | BinaryIO
"""Where sentences come from: a path, `-` for standard input, or an open binary stream."""


def source_name(source: Source) -> str:
    """The name by which error messages call `source`."""
    if isinstance(source, (str, Path)):
        return "<stdin>" if str(source) == "-" else str(source)
    return str(getattr(source, "name", "<stream>"))


def open_input(source: Source) -> BinaryIO:
    """Opens `source` for reading bytes; compressed data is recognised by its first bytes, whatever the name."""
    if isinstance(source, (str, Path)):
        if str(source) == "-":
            raw: BinaryIO = sys.stdin.buffer
        else:
            try:
                raw = Path(source).open("rb")  # noqa: SIM115 (whoever asked closes it)
            except IsADirectoryError:
                raise LongarcError(f"{source}: is a folder", "Name a file, or - for standard input.") from None
            except OSError as error:
                raise LongarcError(f"{source}: cannot be read: {error.strerror}") from None
    else:
        raw = source
    buffered = raw if hasattr(raw, "peek") else io.BufferedReader(cast(io.RawIOBase, raw))
    start = cast(io.BufferedReader, buffered).peek(len(XZ_MAGIC))[: len(XZ_MAGIC)]
    if start.startswith(GZIP_MAGIC):
        return cast(BinaryIO, gzip.GzipFile(fileobj=buffered))
    if start == XZ_MAGIC:
        return cast(BinaryIO, lzma.LZMAFile(buffered))
    return buffered


def read_chunks(source: Source, size: int = 1 << 20) -> Iterator[bytes]:
    """The bytes of `source` in chunks of at most `size`, as soon as they arrive; damaged archives are errors."""
    stream = open_input(source)
    read = getattr(stream, "read1", stream.read)
    try:
        while chunk := read(size):
            yield chunk
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, OSError) as error:
        raise InputError(
            source_name(source),
            0,
            f"cannot be read to its end: {error}",
            "Is the file damaged or incomplete?",
        ) from None
    finally:
        if isinstance(source, (str, Path)) and str(source) != "-":
            stream.close()


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
    path = Path(target).resolve()
    # A device or a named pipe (/dev/null, >(…)) cannot be replaced by a file: it is written as it is.
    replaceable = path.is_file() or not path.exists()
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
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            elif path.suffix == ".xz":
                with lzma.LZMAFile(raw, "wb") as packed_xz:
                    yield cast(BinaryIO, packed_xz)
            else:
                yield cast(BinaryIO, raw)
            raw.flush()
            os.fsync(raw.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
