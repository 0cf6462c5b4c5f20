"""What commands share for reading and writing treebanks: the options, the reports of what is skipped or left out, the
progress bar."""

from __future__ import annotations

import codecs
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence
    from longarc.errors import InputError


def _known_encoding(name: str | None) -> str | None:
    """Refuses what is no encoding of text. A mark at the start of a file is kept by all readers of UTF-8."""
    if name is None:
        return None
    try:
        "a".encode(name)
        found = codecs.lookup(name).name
    except (LookupError, UnicodeError):
        raise LongarcError(f"unknown encoding {name!r}", "Try utf-8, latin-1, cp1252 or koi8-r.") from None
    return "utf-8" if found == "utf-8-sig" else name


Encoding = Annotated[
    str, typer.Option(callback=_known_encoding, help="The files' encoding, such as latin-1 for old treebanks.")
]
OutputEncoding = Annotated[
    str | None,
    typer.Option(
        callback=_known_encoding, help="The output's encoding; that of the input unless given. JSON is UTF-8."
    ),
]
SkipInvalid = Annotated[
    bool,
    typer.Option("--skip-invalid", help="Report sentences that are not well formed and go on without them."),
]

SECONDS_BEFORE_PROGRESS = 2.0


def complain(error: InputError) -> None:
    """Reports a sentence that is skipped."""
    typer.echo(f"longarc: skipped: {error.message}", err=True)


def tell_losses(lost: Counter[str]) -> None:
    """Reports what was left out of an output in CoNLL-X."""
    if lost:
        listed = ", ".join(f"{count:,} {what}" for what, count in lost.items())
        typer.echo(f"longarc: CoNLL-X has no place for these, they were left out: {listed}", err=True)


def suffix_of(path: str) -> str:
    """The suffix that tells a file's format, in small letters."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in (".gz", ".xz")), "")


def is_jsonl(path: str) -> bool:
    """Whether a file holds JSON lines, by its name."""
    return suffix_of(path) in (".jsonl", ".ndjson")


def read_sentences(
    path: str,
    *,
    encoding: str,
    skip_invalid: bool,
    check: Callable[[Sentence], None] | None,
    format: Any = None,
) -> Iterator[Sentence]:
    """The reader of a treebank file: JSON lines by the name (or `format`), else CoNLL by the content."""
    from longarc.data.conll import read
    from longarc.data.jsonl import read_jsonl

    on_invalid = complain if skip_invalid else None
    if format == "jsonl" or (format is None and is_jsonl(path)):
        return read_jsonl(path, encoding=encoding, check=check, on_invalid=on_invalid)
    return read(path, encoding=encoding, format=format, check=check, on_invalid=on_invalid)


def with_progress(sentences: Iterator[Sentence], label: str) -> Iterator[Sentence]:
    """The same sentences, with a count on the terminal when it takes longer than two seconds."""
    if not sys.stderr.isatty():
        yield from sentences
        return
    start = time.monotonic()
    progress: Any = None
    try:
        for count, sentence in enumerate(sentences, 1):
            yield sentence
            if count % 100 or time.monotonic() - start < SECONDS_BEFORE_PROGRESS:
                continue
            if progress is None:
                progress = _sentence_counter(label)
            progress.update(0, completed=count)
    finally:
        if progress is not None:
            progress.stop()


class FileProgress:
    """A bar that shows how far a list of files has been read, on a terminal and after two seconds only."""

    def __init__(self, paths: list[str]) -> None:
        from longarc.data.files import ByteCounter

        self.counter = ByteCounter()
        sizes = [Path(path).stat().st_size for path in paths if Path(path).is_file()]
        self._total = sum(sizes) if len(sizes) == len(paths) else None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> FileProgress:
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _show(self) -> None:
        if self._done.wait(SECONDS_BEFORE_PROGRESS):
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

        columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=self._total)
            while not self._done.wait(0.2):
                bar.update(task, completed=self.counter.count)


def _sentence_counter(label: str) -> Any:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,.0f} sentences"),
        TimeElapsedColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(label, total=None)
    progress.start()
    return progress
