"""A whole training run in a folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from longarc.configuration import Configuration
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser
from longarc.training.prepare import prepare
from longarc.training.scoring import score_words
from longarc.training.train_tokenizer import has_text, train_tokenizer
from longarc.training.trained_model import (
    TOKENIZER_WEIGHTS,
    WEIGHTS,
    TrainedModel,
    TrainedTokenizer,
    load_tokenizer,
    save_tokenizer,
)
from longarc.training.trainer import BEST, CHECKPOINT, LOG, Reporter, Trainer, write_log


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
    """Return whether a folder contains a resumable checkpoint."""
    return (out / CHECKPOINT).exists()


def clear_folder(out: Path, *, everything: bool) -> None:
    """Create the folder and remove partial files of a killed run, or everything that an earlier run left."""
    if out.exists() and not out.is_dir():
        raise LongarcError(f"{out}: is not a folder")
    out.mkdir(parents=True, exist_ok=True)
    for partial in out.glob(".*.part"):
        partial.unlink()
    if everything:
        for name in (WEIGHTS, CHECKPOINT, BEST, LOG, TOKENIZER_WEIGHTS):
            (out / name).unlink(missing_ok=True)


def train_model(
    configuration: Configuration,
    splits: Splits,
    out: Path,
    reporter: Reporter,
    *,
    vectors: Path | None = None,
    resume: bool = False,
) -> tuple[TrainedModel, dict[str, float]]:
    """Train to the end; return the model and its scores on the test data, if there is any.

    Raise trainer.Interrupted when interrupted; with `resume`, continue from the last checkpoint.
    """
    model, data = prepare(configuration, splits.train, splits.dev, vectors)
    model.save_description(out)
    model = replace(model, tokenizer=_tokenizer(configuration, splits.train, out, reporter, resume))
    trainer = Trainer(model, data, out, reporter)
    if resume:
        trainer.resume()
        for entry in trainer.position.history:
            reporter.epoch_done(entry)
    try:
        trainer.train()
    finally:
        _draw_curve(trainer.position.history, out)
    scores: dict[str, float] = {}
    if splits.test:
        test_scores = score_words(Parser(model.to_model_file({})), splits.test)
        scores = {f"test_{name}": round(score, 4) for name, score in test_scores.items()}
        last: dict[str, Any] = {"epoch": trainer.position.best_epoch or data.epochs, **scores}
        write_log(out, [*trainer.position.history, last])
        reporter.epoch_done(last)
    return model, scores


def _tokenizer(
    configuration: Configuration, train: Sequence[Sentence], out: Path, reporter: Reporter, resume: bool
) -> TrainedTokenizer | None:
    """Train the tokenizer, or load it if it was trained before an interruption."""
    steps = configuration.tokenizer_steps
    if not steps:
        return None
    if not has_text(train):
        reporter.note("the treebank does not record spaces between words: raw text will be tokenized by rules")
        return None
    if resume and (tokenizer := load_tokenizer(out)) is not None:
        return tokenizer
    tokenizer = train_tokenizer(train, configuration.seed, steps, reporter.tokenizer_step_done)
    save_tokenizer(out, tokenizer)
    return tokenizer


def _draw_curve(history: list[dict[str, Any]], out: Path) -> None:
    """Draw the learning curve if matplotlib is installed."""
    if history and importlib.util.find_spec("matplotlib") is not None:
        from longarc.evaluation.plots import plot_learning_curve

        plot_learning_curve(history, out / "curve.svg")
