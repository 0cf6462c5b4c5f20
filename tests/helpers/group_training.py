"""Trainings that the processes of a group run in tests; see tests.helpers.process_groups."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import torch

from longarc import read_all
from longarc.configuration import Configuration
from longarc.training.process_group import ProcessGroup
from longarc.training.run import Splits, train_model
from longarc.training.trainer import SilentReporter, Trainer
from tests.helpers.prepared_training import prepared


class Notes(SilentReporter):
    """Keeps the notes, and calls `trainer_action` after each batch."""

    def __init__(self, after_batch: Any = None) -> None:
        self.notes: list[str] = []
        self.after_batch = after_batch
        self.batches = 0

    def note(self, message: str) -> None:
        self.notes.append(message)

    def batch_done(self, tokens: int) -> None:
        self.batches += 1
        if self.after_batch is not None:
            self.after_batch(self.batches)


def train_in_group(
    group: ProcessGroup,
    configuration: Configuration,
    treebanks: list[Path],
    out: Path,
    *,
    resume: bool = False,
    after_batch: Any = None,
) -> list[str]:
    """Train on one treebank per process; return the notes of the reporter."""
    sentences = read_all(treebanks[group.rank % len(treebanks)])
    reporter = Notes(after_batch)
    out.mkdir(exist_ok=True)
    train_model(configuration, Splits(sentences, sentences[:9]), out, reporter, resume=resume, group=group)
    return reporter.notes


def resume_in_group(group: ProcessGroup, *args: Any) -> list[str]:
    return train_in_group(group, *args, resume=True)


def interrupt_last_process(group: ProcessGroup, *args: Any) -> list[str]:
    """The last process receives SIGTERM after its ninth batch."""

    def after_batch(number: int) -> None:
        if number == 9 and group.rank == group.size - 1:
            signal.raise_signal(signal.SIGTERM)

    return train_in_group(group, *args, after_batch=after_batch)


def kill_process(group: ProcessGroup, rank: int, *args: Any) -> list[str]:
    """Kill one process after its ninth batch."""

    def after_batch(number: int) -> None:
        if number == 9 and group.rank == rank:
            os.kill(os.getpid(), signal.SIGKILL)

    return train_in_group(group, *args, after_batch=after_batch)


def random_numbers(group: ProcessGroup, folder: Path) -> list[float]:
    """Return the first numbers that a training's dropout would use."""
    (folder / str(group.rank)).mkdir(exist_ok=True)
    model, data = prepared(folder / str(group.rank), "nl-covington")
    Trainer(model, data, folder, SilentReporter(), group)
    return torch.rand(3).tolist()
