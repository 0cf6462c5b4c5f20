"""How training and packaging show themselves: a progress bar on a terminal, and a line per epoch everywhere."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from longarc.runtime.model_file import ModelFile


class TrainingProgress:
    """Reports to the terminal; see longarc.training.trainer.Reporter."""

    def __init__(self) -> None:
        self._bar = _bar(
            "epoch {task.fields[epoch]}/{task.fields[epochs]}", "{task.fields[speed]:,.0f} tokens/s, left:"
        )
        self._tokenizer_bar = _bar("learning to split text", "left:")
        self._task: Any = None
        self._tokenizer_task: Any = None
        self._tokens = 0
        self._start = time.monotonic()

    def __enter__(self) -> TrainingProgress:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._tokenizer_bar.stop()
        self._bar.stop()

    def tokenizer_step_done(self, step: int, steps: int) -> None:
        if self._tokenizer_task is None:
            self._tokenizer_task = self._tokenizer_bar.add_task("", total=steps)
            self._tokenizer_bar.start()
        self._tokenizer_bar.update(self._tokenizer_task, completed=step)
        if step == steps:
            self._tokenizer_bar.stop()

    def note(self, message: str) -> None:
        typer.echo(f"longarc: {message}", err=True)

    def epoch_begins(self, epoch: int, epochs: int, tokens: int, tokens_done: int) -> None:
        if self._task is None:
            self._bar.start()
            self._start = time.monotonic()
            self._task = self._bar.add_task("", total=tokens * epochs, epoch=epoch, epochs=epochs, speed=0.0)
        self._bar.update(self._task, epoch=epoch, completed=tokens * (epoch - 1) + tokens_done)

    def batch_done(self, tokens: int) -> None:
        self._tokens += tokens
        speed = self._tokens / (time.monotonic() - self._start)
        self._bar.update(self._task, advance=tokens, speed=speed)

    def epoch_done(self, entry: dict[str, Any]) -> None:
        parts = [f"epoch {entry['epoch']:>3}"]
        if "loss" in entry:
            parts.append(f"loss {entry['loss']:9.4f}")
        for split in ("dev", "test"):
            names = {"uas": "UAS", "las": "LAS", "tags": "tags", "fine_tags": "fine tags", "features": "features"}
            scores = [
                f"{name} {entry[f'{split}_{key}']:.2f}" for key, name in names.items() if f"{split}_{key}" in entry
            ]
            if scores:
                parts.append(f"{split} {' '.join(scores)}")
        if "tokens_per_second" in entry:
            parts.append(f"{entry['tokens_per_second']:,} tokens/s")
        _echo("  ".join(parts), self._bar)


class PackagingProgress:
    """Shows on a terminal what is being done, and tells of each model that was written."""

    def __init__(self) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._line = _transient(*columns)
        self._task = self._line.add_task("packaging", total=None)

    def __enter__(self) -> PackagingProgress:
        self._line.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._line.stop()

    def announce(self, text: str) -> None:
        self._line.update(self._task, description=text)

    def tell(self, target: Path, package: ModelFile) -> None:
        scores = "  ".join(f"{name} {score:.2f}" for name, score in package.card["scores"].items())
        size = f"{target.stat().st_size / 1e6:.1f} MB"
        _echo(f"{target}  {size}  {package.card['precision']}  {scores}", self._line)


def _echo(text: str, bar: Progress) -> None:
    """Prints a line where a bar may be shown, which comes back below it."""
    shown = bar.live.is_started
    if shown:
        bar.stop()
    typer.echo(text)
    if shown:
        bar.start()


def _bar(before: str, after: str) -> Progress:
    return _transient(TextColumn(before), BarColumn(), TextColumn(after), TimeRemainingColumn())


def _transient(*columns: ProgressColumn) -> Progress:
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
