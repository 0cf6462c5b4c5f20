"""The training loop, with checkpoints from which it resumes bit for bit."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from longarc.configuration import Configuration
from longarc.data.files import open_output
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser
from longarc.training.checkpoint import (
    CHECKPOINT_SECONDS,
    load_tensors,
    require_fingerprint,
    restore_training_state,
    save_tensors,
    training_state,
)
from longarc.training.interruption import Interrupted, call_on_signals
from longarc.training.loss import batch_loss
from longarc.training.prepare import TrainingData
from longarc.training.scoring import score_words
from longarc.training.trained_model import WEIGHTS, TrainedModel
from longarc.training.training_data import epoch_batches, make_batch
from longarc.training.training_summary import TrainingSummary
from longarc.training.weight_average import WeightAverage

CHECKPOINT, PREVIOUS = "checkpoint.safetensors", "checkpoint.previous.safetensors"
"""The last checkpoint, and the one before it, which is used if the last one is damaged."""
BEST, LOG = "best.safetensors", "log.jsonl"


class Reporter(Protocol):
    """Receives the progress of a training run."""

    def training_begins(self, summary: TrainingSummary) -> None: ...

    def epoch_begins(self, epoch: int, epochs: int, tokens: int, tokens_done: int) -> None: ...

    def batch_done(self, tokens: int) -> None: ...

    def epoch_done(self, entry: dict[str, Any]) -> None: ...

    def tokenizer_step_done(self, step: int, steps: int) -> None: ...

    def note(self, message: str) -> None: ...


@dataclass
class Position:
    """The position in a training run; with the tensors of a checkpoint, everything needed to resume."""

    epoch: int = 1
    batches_done: int = 0
    loss: float = 0.0
    seconds: float = 0.0
    """Of this epoch so far"""
    best_las: float = -1.0
    best_epoch: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


WARM_UP = 0.05
"""Share of the training during which the cosine schedule's learning rate rises."""


def learning_rate(configuration: Configuration, done: float) -> float:
    """Return the learning rate after a share `done` of the training; see Configuration.schedule."""
    if configuration.schedule == "cosine":
        up = min(1.0, (done + 1e-3) / WARM_UP)
        return float(configuration.learning_rate * up * 0.5 * (1 + math.cos(math.pi * done)))
    tenth = int(10 * done + 1e-9) + 1
    return float(configuration.learning_rate * 0.5 ** max(0, tenth - 5))


class Trainer:
    """Trains a model and writes everything to the folder `out`."""

    def __init__(self, model: TrainedModel, data: TrainingData, out: Path, reporter: Reporter) -> None:
        self.model = model
        self.data = data
        self.configuration = model.configuration
        self.out = out
        self.reporter = reporter
        self.network = model.network
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(),
            lr=self.configuration.learning_rate,
            betas=(0.9, self.configuration.beta2),
            weight_decay=self.configuration.weight_decay,
            fused=True,
        )
        averaging = self.configuration.averaging
        self.average = WeightAverage(self.network, averaging) if averaging else None
        self.position = Position()
        self._interrupted = False
        self._finished = False

    def resume(self) -> None:
        """Restore the weights of a finished training, or else the last good checkpoint in the folder."""
        if (self.out / WEIGHTS).exists():
            tensors, metadata = load_tensors(self.out / WEIGHTS)
            # Earlier versions did not store the fingerprint with the weights.
            require_fingerprint(metadata.get("training", self.data.fingerprint), self.data.fingerprint, self.out)
            self.network.load_state_dict(tensors)
            self.position = Position(history=metadata["history"], best_epoch=metadata.get("best_epoch", 0))
            self._finished = True
            return
        tensors, metadata = self._load_checkpoint()
        require_fingerprint(metadata.get("fingerprint"), self.data.fingerprint, self.out)
        restore_training_state(tensors, self.network, self.optimizer, self.average)
        self.position = Position(**metadata["position"])
        if self.position.best_epoch:
            load_tensors(self.out / BEST)  # report damage now and not after the last epoch

    def _load_checkpoint(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Read the last checkpoint. If it is damaged, replace it by the previous one."""
        try:
            return load_tensors(self.out / CHECKPOINT)
        except LongarcError as error:
            if not (self.out / PREVIOUS).exists():
                raise
            checkpoint = load_tensors(self.out / PREVIOUS)
            (self.out / PREVIOUS).replace(self.out / CHECKPOINT)
            self.reporter.note(f"{error.message}; resuming from the checkpoint before it")
            return checkpoint

    def train(self) -> None:
        """Train to the end and write the weights of the best epoch on dev, or else of the last epoch."""
        if not self._finished:
            with call_on_signals(self._interrupt):
                while self.position.epoch <= self.data.epochs and not self._has_stopped_improving():
                    self._train_epoch()
                    self._end_epoch()
            self._save_weights()
        for name in (CHECKPOINT, PREVIOUS, BEST):
            (self.out / name).unlink(missing_ok=True)

    def _save_weights(self) -> None:
        if self.data.dev:
            tensors, _ = load_tensors(self.out / BEST)
            self.network.load_state_dict(tensors)
        elif self.average is not None:
            self.network.load_state_dict(self.average.average, strict=False)
        position = self.position
        metadata = {
            "history": position.history,
            "best_epoch": position.best_epoch,
            "training": self.data.fingerprint,
        }
        save_tensors(self.out / WEIGHTS, self.network.state_dict(), metadata)
        self._finished = True

    def _train_epoch(self) -> None:
        position, examples = self.position, self.data.examples
        nodes = np.array([len(example) for example in examples])
        batches = epoch_batches(nodes, self.configuration, position.epoch)
        done = sum(int(nodes[batch].sum()) - len(batch) for batch in batches[: position.batches_done])
        self.reporter.epoch_begins(position.epoch, self.data.epochs, int(nodes.sum()) - len(nodes), done)
        self.network.train()
        saved = started = time.monotonic()
        before = position.seconds
        for indices in batches[position.batches_done :]:
            self._set_learning_rate(position.epoch - 1 + position.batches_done / len(batches))
            batch = make_batch([examples[index] for index in indices], self.model.description)
            size = batch.tokens if self.configuration.batch_words else batch.sentences
            loss = batch_loss(self.network, batch) / size
            if not torch.isfinite(loss):
                raise LongarcError("the loss is not a finite number", "Try a smaller learning_rate.")
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            if self.configuration.gradient_limit:
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.configuration.gradient_limit)
            self.optimizer.step()
            if self.average is not None:
                self.average.update()
            position.loss += float(loss.detach()) * size
            position.batches_done += 1
            now = time.monotonic()
            position.seconds = before + now - started
            self.reporter.batch_done(batch.tokens)
            if self._interrupted or now - saved > CHECKPOINT_SECONDS:
                self._save_checkpoint()
                saved = time.monotonic()
            if self._interrupted:
                raise Interrupted

    def _set_learning_rate(self, epochs_done: float) -> None:
        if self.configuration.schedule == "halving":
            epochs_done = math.floor(epochs_done)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.configuration, epochs_done / self.data.epochs)

    def _averaged(self) -> AbstractContextManager[None]:
        """Temporarily swap in the averaged weights, if weights are averaged."""
        return nullcontext() if self.average is None else self.average.in_place()

    def _end_epoch(self) -> None:
        position, examples = self.position, self.data.examples
        tokens = sum(len(example) - 1 for example in examples)
        entry: dict[str, Any] = {
            "epoch": position.epoch,
            "loss": position.loss / len(examples),
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "seconds": round(position.seconds, 1),
            "tokens_per_second": round(tokens / max(position.seconds, 1e-9)),
        }
        if self.data.dev:
            with self._averaged():
                scores = score_words(
                    Parser(self.model.to_model_file({}), threads=torch.get_num_threads()), self.data.dev
                )
                if scores["las"] > position.best_las:
                    position.best_las, position.best_epoch = scores["las"], position.epoch
                    save_tensors(self.out / BEST, self.network.state_dict(), {})
            entry |= {f"dev_{name}": round(score, 4) for name, score in scores.items()}
        position.history.append(entry)
        position.epoch += 1
        position.batches_done, position.loss, position.seconds = 0, 0.0, 0.0
        self._save_checkpoint()
        write_log(self.out, position.history)
        self.reporter.epoch_done(entry)
        if self._interrupted:  # also after the last epoch: do not go on to packaging
            raise Interrupted

    def _has_stopped_improving(self) -> bool:
        patience = self.configuration.early_stopping
        return bool(self.data.dev and patience and self.position.epoch - 1 - self.position.best_epoch >= patience)

    def _save_checkpoint(self) -> None:
        metadata = {"position": asdict(self.position), "fingerprint": self.data.fingerprint}
        state = training_state(self.network, self.optimizer, self.average)
        path, previous = self.out / CHECKPOINT, self.out / PREVIOUS
        if path.exists():
            previous.unlink(missing_ok=True)
            try:
                previous.hardlink_to(path)
            except OSError:  # a file system without hard links
                path.replace(previous)
        save_tensors(path, state, metadata)

    def _interrupt(self) -> None:
        """Finish the batch, save the state and stop."""
        self._interrupted = True


def write_log(out: Path, history: Sequence[dict[str, Any]]) -> None:
    """Write the log as JSON lines, one per epoch and one for the test set."""
    with open_output(out / LOG) as stream:
        stream.write("".join(json.dumps(entry) + "\n" for entry in history).encode())


def read_log(out: Path) -> list[dict[str, Any]]:
    """Return the entries that `write_log` wrote; none if there is no log."""
    try:
        return [json.loads(line) for line in (out / LOG).read_text("utf-8").splitlines()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise LongarcError(f"{out / LOG}: cannot be read: {error}") from None
