"""Progress on a terminal while files are downloaded, read or parsed; it appears if that takes more than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from longarc.cli.remaining_time import format_duration

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from longarc.data.sentence import Sentence
    from longarc.runtime.parse_progress import ParseProgress

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

    with _delayed(make_counter, lambda: {"completed": count}, label):
        for count, sentence in enumerate(sentences, 1):  # noqa: B007 (read by the display)
            yield sentence


@contextmanager
def show_bytes(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how much of a download has arrived; yield the function to call with the number of bytes."""
    received = 0

    def update(count: int) -> None:
        nonlocal received
        received = count

    def make_bar() -> Progress:
        from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn

        return make_progress("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())

    with _delayed(make_bar, lambda: {"total": total, "completed": received}, label):
        yield update


@contextmanager
def show_parsing(paths: list[str]) -> Iterator[ParseProgress]:
    """Show how many sentences are parsed, and the remaining time if the files have sizes.

    What is parsed is counted by the object that this returns.
    """
    from longarc.runtime.parse_progress import ParseProgress

    progress = ParseProgress()
    bar = ParsingBar(progress, _total_bytes(paths))
    with _delayed(bar.make, bar.state):
        yield progress


class ParsingBar:
    """The display of `show_parsing`."""

    def __init__(self, progress: ParseProgress, total_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`total_bytes`: 0 if unknown."""
        self._progress = progress
        self._total_bytes = total_bytes
        self._clock = clock
        self._start = clock()

    def make(self) -> Progress:
        """Return the empty display."""
        from rich.progress import BarColumn, SpinnerColumn, TimeElapsedColumn

        count = "{task.fields[sentences]:,} sentences, {task.fields[speed]:,.0f} per second"
        if self._total_bytes:
            return make_progress(BarColumn(), count, "left: {task.fields[left]}")
        return make_progress(SpinnerColumn(), count, TimeElapsedColumn())

    def state(self) -> dict[str, Any]:
        """Return the values to display now."""
        seconds = self._clock() - self._start
        sentences, share = self._progress.sentences_parsed, self._progress.share(self._total_bytes)
        return {
            "total": 1.0 if self._total_bytes else None,
            "completed": share,
            "sentences": sentences,
            "speed": sentences / seconds if seconds else 0.0,
            "left": format_duration(seconds / share - seconds) if share else "measuring",
        }


def _total_bytes(paths: list[str]) -> int:
    """Return the size of the files, or 0 if one of them has none, such as standard input."""
    try:
        statuses = [Path(path).stat() for path in paths]
    except OSError:
        return 0  # reported when the file is opened
    return sum(status.st_size for status in statuses) if all(S_ISREG(s.st_mode) for s in statuses) else 0


@contextmanager
def _delayed(make: Callable[[], Progress], state: Callable[[], dict[str, Any]], label: str = "") -> Iterator[None]:
    """Show a display in a thread of its own, which polls `state` for the fields of its task."""
    done = threading.Event()

    def show() -> None:
        if done.wait(SECONDS_BEFORE_PROGRESS):
            return
        with make() as progress:
            task = progress.add_task(label, **{"total": None, **state()})
            while not done.wait(0.2):
                progress.update(task, **state())

    thread = threading.Thread(target=show, daemon=True)
    if sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.is_alive():
            thread.join()
