"""Report the progress of training and packaging: bars on a terminal, and a line per epoch and per model file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import wrap
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TimeElapsedColumn, TimeRemainingColumn

from longarc.cli.progress import make_progress
from longarc.cli.remaining_time import TrainingTime, format_duration

if TYPE_CHECKING:
    from longarc.runtime.model_file import ModelFile
    from longarc.training.training_summary import TrainingSummary


SECONDS_BETWEEN_LINES = 300.0
"""Time between the lines that replace the bar where there is no terminal."""


class StepProgress:
    """Shows how far a task of many steps is: a bar on a terminal, else a line now and then."""

    def __init__(self, title: str, unit: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._title, self._unit = title, unit
        self._bar = make_progress(title, BarColumn(), "left:", TimeRemainingColumn())
        self._task: Any = None
        self._clock = clock
        self._start = (clock(), 0)
        """When the first step was done, and its number"""
        self._last_line = clock()

    def step_done(self, step: int, steps: int) -> None:
        now = self._clock()
        if self._task is None:
            self._task = self._bar.add_task("", total=steps, completed=step)
            self._bar.start()
            self._start = (now, step)
        self._bar.update(self._task, completed=step)
        started, first_step = self._start
        if step == steps:
            self.stop()
        elif step > first_step and self._bar.disable and now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            left = format_duration((steps - step) * (now - started) / (step - first_step))
            typer.echo(f"longarc: {self._title}, {self._unit} {step:,} of {steps:,}, left: {left}", err=True)

    def stop(self) -> None:
        """Remove the bar; the next step begins another task."""
        self._bar.stop()
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None


class TrainingProgress:
    """Implements `longarc.training.trainer.Reporter`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        epoch, speed = "epoch {task.fields[epoch]}/{task.fields[epochs]}", "{task.fields[speed]:,.0f} tokens/s"
        self._bar = make_progress(epoch, BarColumn(), speed, "left: {task.fields[left]}")
        self._tokenizer = StepProgress("training the tokenizer", "step", clock)
        self._task: Any = None
        self._clock = clock
        self._time = TrainingTime(clock)
        self._position = ""
        self._has_dev = False
        self._is_announced = False
        """Whether the expected time was printed"""
        self._last_line = clock()

    def __enter__(self) -> TrainingProgress:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._tokenizer.stop()
        self._bar.stop()

    def training_begins(self, summary: TrainingSummary) -> None:
        self._has_dev = summary.dev_sentences > 0
        for line in summary_lines(summary):
            typer.echo(line)

    def tokenizer_step_done(self, step: int, steps: int) -> None:
        self._tokenizer.step_done(step, steps)

    def note(self, message: str) -> None:
        typer.echo(f"longarc: {message}", err=True)

    def epoch_begins(self, epoch: int, epochs: int, tokens: int, tokens_done: int) -> None:
        self._time.epoch_begins(epoch, epochs, tokens, tokens_done)
        if self._task is None:
            self._bar.start()
            total = tokens * epochs
            self._task = self._bar.add_task("", total=total, epoch=epoch, epochs=epochs, speed=0.0, left="measuring")
        self._position = f"epoch {epoch}/{epochs}"
        self._bar.update(self._task, epoch=epoch, completed=tokens * (epoch - 1) + tokens_done)

    def batch_done(self, tokens: int) -> None:
        self._time.batch_done(tokens)
        left = self._time.seconds_left
        text = "measuring" if left is None else format_duration(left)
        self._bar.update(self._task, advance=tokens, speed=self._time.speed, left=text)
        if left and not self._is_announced:
            self._is_announced = True
            scoring = "; scoring comes on top" if self._has_dev else ""
            _echo(f"expected time: {text} at {self._time.speed:,.0f} tokens/s{scoring}", self._bar)
        elif self._is_line_due():
            share = f"{100 * self._time.share_of_epoch:.0f} %"
            self.note(f"{self._position}, {share} done, {self._time.speed:,.0f} tokens/s, left: {text}")

    def _is_line_due(self) -> bool:
        """Return whether to print a line now, because there is no bar and the last line is old."""
        if not self._bar.disable or self._clock() - self._last_line < SECONDS_BETWEEN_LINES:
            return False
        self._last_line = self._clock()
        return True

    def epoch_done(self, entry: dict[str, Any]) -> None:
        self._time.epoch_done()
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
        if left := self._time.seconds_left:
            parts.append(f"left: {format_duration(left)}")
        _echo("  ".join(parts), self._bar)


def summary_lines(summary: TrainingSummary) -> list[str]:
    """Return lines of at most 80 characters that describe a training before it begins."""
    sizes = [f"training data: {summary.sentences:,} sentences, {summary.words:,} words"]
    if summary.dev_sentences:
        sizes.append(f"development data: {summary.dev_sentences:,} sentences, {summary.dev_words:,} words")
    processes = f"{summary.processes} processes of " if summary.processes > 1 else ""
    labels = [f"{count:,} {name if name == 'relations' else name.upper()}" for name, count in summary.labels.items()]
    return [
        *sizes,
        *wrap(f"labels: {', '.join(labels)}", 80),
        f"network: {summary.system}, {summary.parameters:,} parameters",
        f"{_count(summary.epochs, 'epoch')} on {summary.device}, {processes}{_count(summary.threads, 'thread')}",
    ]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def print_next_command(model: Path, treebank: str | None) -> None:
    """Print a command that uses a new model; `treebank` is a file to parse, if there is one besides training data."""
    command = ["longarc", "parse", treebank or "FILE", "--model", str(model), "--output", "parsed.conllu"]
    typer.echo(f"Next: {shlex.join(command)}")


class PackagingProgress:
    """Shows the current step, on a terminal or as a line of a log, and reports each model file that was written."""

    def __init__(self) -> None:
        self._line = make_progress(SpinnerColumn(), "{task.description}", TimeElapsedColumn())
        self._task = self._line.add_task("packaging", total=None)

    def __enter__(self) -> PackagingProgress:
        self._line.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._line.stop()

    def announce(self, text: str) -> None:
        """Show what is being done."""
        if self._line.disable:
            typer.echo(f"longarc: {text}", err=True)
        self._line.update(self._task, description=text)

    def report(self, path: Path, model: ModelFile) -> None:
        scores = "  ".join(f"{name} {score:.2f}" for name, score in model.card["scores"].items())
        size = f"{path.stat().st_size / 1e6:.1f} MB"
        cost = f"  crossing cost {model.card['crossing_cost']:g}" if "crossing_cost" in model.card else ""
        _echo(f"{path}  {size}  {model.card['precision']}  {scores}{cost}", self._line)


def _echo(text: str, bar: Progress) -> None:
    """Print a line above a bar, if the bar is shown."""
    is_shown = bar.live.is_started
    if is_shown:
        bar.stop()
    typer.echo(text)
    if is_shown:
        bar.start()
