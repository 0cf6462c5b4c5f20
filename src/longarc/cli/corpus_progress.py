"""Progress of `longarc parse-corpus`: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from longarc.cli.progress import make_progress
from longarc.cli.remaining_time import format_duration

if TYPE_CHECKING:
    from longarc.corpus.write_shards import ShardReport

SECONDS_BETWEEN_LINES = 30.0


class CorpusProgress:
    """Counts what is finished and shows speed and remaining time."""

    def __init__(self, total_bytes: int) -> None:
        self.documents = self.words = self.failures = 0
        """What this run and earlier ones have finished"""
        self._total = max(1, total_bytes)
        self._done = 0
        self._start = self._last_line = time.monotonic()
        self._words_before = self._done_before = 0
        self._show = self._show_line

    def add(self, report: ShardReport) -> None:
        """Count a finished shard and show the progress."""
        self._count(report)
        self._show()

    def add_earlier(self, report: ShardReport) -> None:
        """Count a shard of an earlier run, which says nothing about the speed of this one."""
        self._count(report)
        self._words_before, self._done_before = self.words, self._done

    def _count(self, report: ShardReport) -> None:
        self.documents += report.documents
        self.words += report.words
        self.failures += len(report.failures)
        self._done += report.input_bytes

    @property
    def words_per_second(self) -> float:
        return (self.words - self._words_before) / max(time.monotonic() - self._start, 1e-9)

    def describe(self) -> str:
        """Return what is finished, the speed, and the remaining time."""
        seconds = time.monotonic() - self._start
        speed = (self._done - self._done_before) / seconds if seconds else 0
        rest = format_duration((self._total - self._done) / speed) if speed else "unknown time"
        return (
            f"{100 * self._done / self._total:.1f} %: {self.documents:,} documents, {self.words:,} words, "
            f"{self.failures:,} failed, {self.words_per_second:,.0f} words/s, {rest} left"
        )

    def _show_line(self) -> None:
        if time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            typer.echo(f"longarc: {self.describe()}", err=True)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the progress while shards are added."""
        if not sys.stderr.isatty():
            yield
            return
        from rich.progress import BarColumn

        with make_progress(BarColumn(), "{task.description}") as bar:
            task = bar.add_task("starting", total=self._total, completed=self._done)
            self._show = lambda: bar.update(task, completed=self._done, description=self.describe())
            yield
