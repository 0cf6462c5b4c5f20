"""Report the progress of training and packaging: bars on a terminal, and a line per epoch and per model file."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TimeElapsedColumn, TimeRemainingColumn

from longarc.cli.progress import make_progress

if TYPE_CHECKING:
    from longarc.runtime.model_file import ModelFile


class TrainingProgress:
    """Implements `longarc.training.trainer.Reporter`."""

    def __init__(self) -> None:
        epoch, speed = "epoch {task.fields[epoch]}/{task.fields[epochs]}", "{task.fields[speed]:,.0f} tokens/s, left:"
        self._bar = make_progress(epoch, BarColumn(), speed, TimeRemainingColumn())
        self._tokenizer_bar = make_progress("training the tokenizer", BarColumn(), "left:", TimeRemainingColumn())
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
            scores = {key.removeprefix(f"{split}_"): entry[key] for key in entry if key.startswith(f"{split}_")}
            # UAS and LAS come first, then the columns in their order.
            names = sorted(scores, key=lambda name: {"uas": 0, "las": 1}.get(name, 2))
            if names:
                parts.append(" ".join([split, *(f"{name.upper()} {scores[name]:.2f}" for name in names)]))
        if "tokens_per_second" in entry:
            parts.append(f"{entry['tokens_per_second']:,} tokens/s")
        _echo("  ".join(parts), self._bar)


class PackagingProgress:
    """Shows the current step on a terminal, and reports each model file that was written."""

    def __init__(self) -> None:
        self._line = make_progress(SpinnerColumn(), "{task.description}", TimeElapsedColumn())
        self._task = self._line.add_task("packaging", total=None)

    def __enter__(self) -> PackagingProgress:
        self._line.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._line.stop()

    def announce(self, text: str) -> None:
        self._line.update(self._task, description=text)

    def report(self, path: Path, model: ModelFile) -> None:
        scores = "  ".join(f"{name} {score:.2f}" for name, score in model.card["scores"].items())
        size = f"{path.stat().st_size / 1e6:.1f} MB"
        _echo(f"{path}  {size}  {model.card['precision']}  {scores}", self._line)


def _echo(text: str, bar: Progress) -> None:
    """Print a line above a bar, if the bar is shown."""
    is_shown = bar.live.is_started
    if is_shown:
        bar.stop()
    typer.echo(text)
    if is_shown:
        bar.start()
