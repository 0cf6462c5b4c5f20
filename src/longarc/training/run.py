"""A whole training run in a folder."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from longarc.configuration import Configuration
from longarc.data.files import remove_stale_temporaries
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser
from longarc.training.checkpoint import load_tensors
from longarc.training.device import choose_device
from longarc.training.packaging import model_paths
from longarc.training.prepare import Distillation, TrainingData, prepare
from longarc.training.process_group import ALONE, ProcessGroup
from longarc.training.scoring import score_words
from longarc.training.train_tokenizer import TokenizerCheckpoint, train_tokenizer
from longarc.training.trained_model import (
    TOKENIZER_WEIGHTS,
    WEIGHTS,
    TrainedModel,
    TrainedTokenizer,
    load_tokenizer,
    save_tokenizer,
)
from longarc.training.trainer import BEST, CHECKPOINT, LOG, PREVIOUS, Reporter, Trainer, read_log, write_log
from longarc.training.training_summary import summarize_training

if sys.platform != "win32":
    import fcntl

LOCK = "training.lock"
TOKENIZER_STATE = "tokenizer.checkpoint.safetensors"
"""The checkpoint of the tokenizer's training, which comes before that of the parser"""


@dataclass(frozen=True)
class Splits:
    """The training, development and test data."""

    train: Sequence[Sentence]
    dev: Sequence[Sentence] = field(default_factory=list)
    test: Sequence[Sentence] = field(default_factory=list)


def is_finished(out: Path) -> bool:
    """Return whether a folder contains a finished training run."""
    return (out / WEIGHTS).exists()


def is_unfinished(out: Path) -> bool:
    """Return whether a folder contains a training run that can be resumed, if only its tokenizer."""
    return _has_checkpoint(out) or (out / TOKENIZER_STATE).exists() or (out / TOKENIZER_WEIGHTS).exists()


def _has_checkpoint(out: Path) -> bool:
    return (out / CHECKPOINT).exists() or (out / PREVIOUS).exists()


def is_packaged(out: Path, *, quantize: bool) -> bool:
    """Return whether a folder contains the model files of its finished training run, and not of an earlier one."""
    files = model_paths(out)[: 2 if quantize else 1]
    return is_finished(out) and all(
        path.exists() and path.stat().st_mtime_ns >= (out / WEIGHTS).stat().st_mtime_ns for path in files
    )


@contextmanager
def lock_folder(out: Path) -> Iterator[None]:
    """Create the folder and keep other trainings out of it.

    The lock file names the process and the host that own it. The system releases the lock when its process ends, so a
    lock file that a killed training left is reused.
    """
    try:
        existed = out.exists()
        out.mkdir(parents=True, exist_ok=True)
        descriptor = _lock(out / LOCK)
    except FileExistsError:
        raise LongarcError(f"{out}: is not a folder") from None
    except OSError as error:
        raise LongarcError(f"{out}: cannot be used: {error.strerror}") from None
    try:
        yield
    finally:
        (out / LOCK).unlink(missing_ok=True)
        os.close(descriptor)
        if not existed:
            with suppress(OSError):  # unless it contains files
                out.rmdir()


def _lock(path: Path) -> int:
    """Return the descriptor of a lock file that this process holds; raise LongarcError if another process does."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if sys.platform != "win32":
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"process {os.getpid()} on {platform.node()}\n".encode())
                return descriptor
        except BlockingIOError:
            owner = os.read(descriptor, 1000).decode(errors="replace").strip() or "another process"
            os.close(descriptor)
            hint = "Wait until it has ended, or use another folder."
            raise LongarcError(f"{path.parent}: {owner} is training in this folder", hint) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its owner removed the file just now


def clear_folder(out: Path, *, everything: bool) -> None:
    """Create the folder and remove partial files of a killed run, or everything that an earlier run left."""
    if out.exists() and not out.is_dir():
        raise LongarcError(f"{out}: is not a folder")
    out.mkdir(parents=True, exist_ok=True)
    remove_stale_temporaries(out)
    if everything:
        for name in (WEIGHTS, CHECKPOINT, PREVIOUS, BEST, LOG, TOKENIZER_STATE, TOKENIZER_WEIGHTS):
            (out / name).unlink(missing_ok=True)


def train_model(
    configuration: Configuration,
    splits: Splits,
    out: Path,
    reporter: Reporter,
    *,
    pretrained: Sequence[Path] = (),
    resume: bool = False,
    group: ProcessGroup = ALONE,
    device: torch.device | None = None,
    distillation: Distillation | None = None,
) -> tuple[TrainedModel, dict[str, float]]:
    """Train to the end; return the model and its scores on the test data, if there is any.

    Raise Interrupted when interrupted; with `resume`, continue from the last checkpoint or the final weights. All
    processes of a group call this with the same data; only the first one uses the folder and has the final model.
    device: by default the fastest. distillation: teachers, if the model learns from any.
    """
    device = device or choose_device()
    with group.failing_together():
        model, data = prepare(configuration, splits.train, splits.dev, pretrained, distillation)
    group.require_equal(data.fingerprint)
    has_saved_state = False
    with group.failing_together():
        if group.is_first:
            if not is_finished(out):
                reporter.training_begins(summarize_training(model, data, group.size, device))
                for note in _differences_of_teachers(model, data, splits, distillation):
                    reporter.note(note)
            tokenizer = _tokenizer(model, data.fingerprint, splits.train, out, reporter, resume)
            model = replace(model, tokenizer=tokenizer)
            has_saved_state = resume and (is_finished(out) or _has_checkpoint(out))
    trainer = Trainer(model, data, out, reporter, group, device)
    if group.from_first(has_saved_state):
        trainer.resume()
        for entry in trainer.position.history:
            reporter.epoch_done(entry)
    if not group.is_first:
        trainer.train()
        return model, {}
    model.save_description(out)
    try:
        trainer.train()
    finally:
        _draw_curve(trainer.position.history, out)
    scores = _logged_test_scores(out)
    if splits.test and not scores:
        test_scores = score_words(Parser(model.to_model_file({})), splits.test)
        scores = {f"test_{name}": round(score, 4) for name, score in test_scores.items()}
        last: dict[str, Any] = {"epoch": trainer.position.best_epoch or data.epochs, **scores}
        write_log(out, [*trainer.position.history, last])
        reporter.epoch_done(last)
    return model, scores


def _differences_of_teachers(
    model: TrainedModel, data: TrainingData, splits: Splits, distillation: Distillation | None
) -> Iterator[str]:
    """Yield what a user should know if teachers were trained on another treebank."""
    if distillation is None:
        return
    known = set(distillation.teacher.parser.description.relations.names)
    if unknown := [name for name in model.description.relations.names if name not in known]:
        yield f"relations of the treebank that the teacher does not know: {', '.join(unknown)}"
    if left_out := len(splits.train) + len(distillation.parsed) - len(data.examples):
        yield (
            f"{left_out:,} of {len(distillation.parsed):,} sentences of raw text are left out: the teacher's parse has "
            "relations that the treebank does not have"
        )


def _logged_test_scores(out: Path) -> dict[str, float]:
    """Return the scores on the test data that a training logged before it was killed."""
    *_, last = [{}, *read_log(out)]
    return {name: score for name, score in last.items() if name.startswith("test_")}


def _tokenizer(
    model: TrainedModel, fingerprint: str, train: Sequence[Sentence], out: Path, reporter: Reporter, resume: bool
) -> TrainedTokenizer | None:
    """Train the tokenizer; with `resume`, use the one in the folder, or continue from its checkpoint."""
    checkpoint = TokenizerCheckpoint(out / TOKENIZER_STATE, fingerprint)
    steps = model.configuration.tokenizer_steps
    for path in (checkpoint.path, out / TOKENIZER_WEIGHTS):
        if not resume or not steps:
            path.unlink(missing_ok=True)
        elif path.exists():
            _remove_if_damaged(path, reporter)
    if not steps:
        return None
    if (tokenizer := load_tokenizer(out, fingerprint)) is None:
        tokenizer = train_tokenizer(
            train,
            model.configuration.seed,
            steps,
            reporter.tokenizer_step_done,
            checkpoint,
            augmentation=model.configuration.tokenizer_augmentation,
            abbreviations=model.configuration.tokenizer_abbreviations,
        )
        save_tokenizer(out, tokenizer, fingerprint)
        checkpoint.path.unlink(missing_ok=True)
    return tokenizer


def _remove_if_damaged(path: Path, reporter: Reporter) -> None:
    """Remove a damaged file of the tokenizer, which can be trained again in minutes and with the same result."""
    try:
        load_tensors(path)
    except LongarcError as error:
        reporter.note(f"{error.message}; the tokenizer is trained again")
        path.unlink()


def _draw_curve(history: list[dict[str, Any]], out: Path) -> None:
    """Draw the learning curve if matplotlib is installed."""
    if history and importlib.util.find_spec("matplotlib") is not None:
        from longarc.evaluation.plots import plot_learning_curve

        plot_learning_curve(history, out / "curve.svg")
