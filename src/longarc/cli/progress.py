"""Progress on a terminal while files are read; it appears only if reading takes longer than two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from longarc.data.files import ByteCounter
    from longarc.data.sentence import Sentence

SECONDS_BEFORE_PROGRESS = 2.0


def make_progress(*columns: str | ProgressColumn) -> Progress:
    """Return a display on standard error that disappears when it stops; it shows nothing unless that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())


def count_sentences(sentences: Iterator[Sentence], label: str) -> Iterator[Sentence]:
    """Yield the same sentences while showing how many there have been."""
    count = 0

    def make_counter() -> Progress:
        from rich.progress import SpinnerColumn, TimeElapsedColumn

        count_column = "{task.completed:,.0f} sentences"
        return make_progress(SpinnerColumn(), "{task.description}", count_column, TimeElapsedColumn())

    with _delayed(make_counter, lambda: count, label=label):
        for count, sentence in enumerate(sentences, 1):  # noqa: B007 (read by the display)
            yield sentence


@contextmanager
def file_progress(paths: list[str]) -> Iterator[ByteCounter]:
    """Show how much of the files has been read, according to the counter that this returns."""
    from longarc.data.files import ByteCounter

    def make_bar() -> Progress:
        from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

        return make_progress(BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())

    counter = ByteCounter()
    try:
        statuses = [Path(path).stat() for path in paths]
        total = sum(status.st_size for status in statuses) if all(S_ISREG(s.st_mode) for s in statuses) else None
    except OSError:
        total = None  # reported when the file is opened
    with _delayed(make_bar, lambda: counter.count, total=total):
        yield counter


@contextmanager
def _delayed(
    make: Callable[[], Progress], completed: Callable[[], int], *, total: int | None = None, label: str = ""
) -> Iterator[None]:
    """Show a display in a thread of its own, which polls `completed`."""
    done = threading.Event()

    def show() -> None:
        if done.wait(SECONDS_BEFORE_PROGRESS):
            return
        with make() as progress:
            task = progress.add_task(label, total=total, completed=completed())
            while not done.wait(0.2):
                progress.update(task, completed=completed())

    thread = threading.Thread(target=show, daemon=True)
    if sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.is_alive():
            thread.join()
