"""How a training shows itself: a progress bar on a terminal, and a line per epoch everywhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


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
        self._bar.console.file.flush()
        typer.echo("  ".join(parts))


def _bar(before: str, after: str) -> Progress:
    return Progress(
        TextColumn(before),
        BarColumn(),
        TextColumn(after),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
