"""The training loop, from top to bottom, with checkpoints from which it goes on as if nothing had happened."""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from longarc.data.files import open_output
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.training.averaging import WeightAverage
from longarc.training.checkpoint import load_tensors, restore_training_state, save_tensors, training_state
from longarc.training.configuration import Configuration
from longarc.training.examples import epoch_batches, make_batch
from longarc.training.loss import batch_loss
from longarc.training.prepare import Prepared

CHECKPOINT_SECONDS = 180.0

CHECKPOINT, BEST, WEIGHTS = "checkpoint.safetensors", "best.safetensors", "weights.safetensors"
LOG, DESCRIPTION = "log.jsonl", "model.json"


class Reporter(Protocol):
    """Is told how training goes, and shows it to whoever wants to know."""

    def epoch_begins(self, epoch: int, epochs: int, tokens: int, tokens_done: int) -> None: ...

    def batch_done(self, tokens: int) -> None: ...

    def epoch_done(self, entry: dict[str, Any]) -> None: ...

    def tokenizer_step_done(self, step: int, steps: int) -> None: ...

    def note(self, message: str) -> None: ...


class Interrupted(Exception):  # noqa: N818 (nothing went wrong)
    """Training was asked to stop and has saved its state."""


@dataclass
class Position:
    """Where a training is; with the tensors of a checkpoint, all that is needed to go on."""

    epoch: int = 1
    batches_done: int = 0
    loss: float = 0.0
    seconds: float = 0.0
    """Of this epoch, so far."""
    best_las: float = -1.0
    best_epoch: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


WARM_UP = 0.05
"""Share of the training in which the learning rate of the cosine schedule rises."""


def learning_rate(configuration: Configuration, done: float) -> float:
    """The rate when `done`, from 0 to 1, of the training is over; see Configuration.schedule."""
    if configuration.schedule == "cosine":
        up = min(1.0, (done + 1e-3) / WARM_UP)
        return float(configuration.learning_rate * up * 0.5 * (1 + math.cos(math.pi * done)))
    tenth = int(10 * done + 1e-9) + 1
    return float(configuration.learning_rate * 0.5 ** max(0, tenth - 5))


class Trainer:
    """Trains a prepared network; everything it leaves is in the folder `out`."""

    def __init__(self, prepared: Prepared, dev: Sequence[Sentence], out: Path, reporter: Reporter) -> None:
        self.prepared = prepared
        self.configuration = prepared.configuration
        self.dev = dev
        self.out = out
        self.reporter = reporter
        self.network = prepared.network
        self.epochs = prepared.epochs
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
        self._stop_asked = False

    def resume(self) -> None:
        """Goes back to the last checkpoint in the folder."""
        tensors, metadata = load_tensors(self.out / CHECKPOINT)
        if metadata.get("fingerprint") != self.prepared.fingerprint:
            raise LongarcError(
                f"{self.out}: the checkpoint is of another training",
                "Resume with the same files and options, or begin anew with --overwrite.",
            )
        restore_training_state(tensors, self.network, self.optimizer, self.average)
        self.position = Position(**metadata["position"])

    def train(self) -> None:
        """Trains to the end and writes the weights that are kept: the best on dev, else the last."""
        with self._stopping_on_signals():
            while self.position.epoch <= self.epochs and not self._has_stopped_improving():
                self._train_epoch()
                self._end_epoch()
        if self.dev:
            tensors, _ = load_tensors(self.out / BEST)
            self.network.load_state_dict(tensors)
        elif self.average is not None:
            self.network.load_state_dict(self.average.average, strict=False)
        save_tensors(self.out / WEIGHTS, self.network.state_dict(), {"history": self.position.history})
        (self.out / CHECKPOINT).unlink(missing_ok=True)
        (self.out / BEST).unlink(missing_ok=True)

    def _train_epoch(self) -> None:
        position, examples = self.position, self.prepared.examples
        nodes = np.array([len(example.words) for example in examples])
        batches = epoch_batches(nodes, self.configuration, position.epoch)
        done = sum(int(nodes[batch].sum()) - len(batch) for batch in batches[: position.batches_done])
        self.reporter.epoch_begins(position.epoch, self.epochs, int(nodes.sum()) - len(nodes), done)
        self.network.train()
        saved = started = time.monotonic()
        before = position.seconds
        for indices in batches[position.batches_done :]:
            self._set_learning_rate(position.epoch - 1 + position.batches_done / len(batches))
            own = [examples[index] for index in indices]
            batch = make_batch(own, self.prepared.spellings, self.configuration.system)
            size = batch.tokens if self.configuration.batch_words else batch.sentences
            loss = batch_loss(self.network, batch) / size
            if not torch.isfinite(loss):
                raise LongarcError("the loss is no longer a number", "Try a smaller learning_rate.")
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
            if self._stop_asked or now - saved > CHECKPOINT_SECONDS:
                self._save_checkpoint()
                saved = time.monotonic()
            if self._stop_asked:
                raise Interrupted

    def _set_learning_rate(self, epochs_done: float) -> None:
        if self.configuration.schedule == "halving":
            epochs_done = math.floor(epochs_done)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.configuration, epochs_done / self.epochs)

    def _averaged(self) -> AbstractContextManager[None]:
        """The network is what it would be if training ended now, while this lasts."""
        return nullcontext() if self.average is None else self.average.in_place()

    def _end_epoch(self) -> None:
        position, examples = self.position, self.prepared.examples
        tokens = sum(len(example.words) - 1 for example in examples)
        entry: dict[str, Any] = {
            "epoch": position.epoch,
            "loss": position.loss / len(examples),
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "seconds": round(position.seconds, 1),
            "tokens_per_second": round(tokens / max(position.seconds, 1e-9)),
        }
        if self.dev:
            with self._averaged():
                scores = self.prepared.predictor().evaluate(self.dev)
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
        if self._stop_asked:  # after the last epoch too: who asked does not want what would come next
            raise Interrupted

    def _has_stopped_improving(self) -> bool:
        patience = self.configuration.early_stopping
        return bool(self.dev and patience and self.position.epoch - 1 - self.position.best_epoch >= patience)

    def _save_checkpoint(self) -> None:
        metadata = {"position": asdict(self.position), "fingerprint": self.prepared.fingerprint}
        state = training_state(self.network, self.optimizer, self.average)
        save_tensors(self.out / CHECKPOINT, state, metadata)

    @contextmanager
    def _stopping_on_signals(self) -> Iterator[None]:
        """Ctrl-C and a polite kill let the batch finish and the state be saved."""

        def ask(*_: Any) -> None:
            self._stop_asked = True

        previous = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


def write_log(out: Path, history: Sequence[dict[str, Any]]) -> None:
    """The log as JSON lines, one per epoch (and one for the test set at the end)."""
    with open_output(out / LOG) as stream:
        stream.write("".join(json.dumps(entry) + "\n" for entry in history).encode())
