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
from numpy.typing import NDArray

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
from longarc.training.device import CPU, random_state
from longarc.training.interruption import Interrupted, call_on_signals
from longarc.training.loss import Explorer, batch_loss
from longarc.training.prepare import TrainingData
from longarc.training.process_group import ALONE, GradientSum, ProcessGroup, random_seed_of
from longarc.training.scoring import score_words
from longarc.training.trained_model import WEIGHTS, TrainedModel
from longarc.training.training_data import epoch_batches, make_batch
from longarc.training.training_summary import TrainingSummary
from longarc.training.weight_average import WeightAverage

CHECKPOINT, PREVIOUS = "checkpoint.safetensors", "checkpoint.previous.safetensors"
"""The last checkpoint, and the one before it, which is used if the last one is damaged."""
BEST, LOG = "best.safetensors", "log.jsonl"


MOST_SCORINGS = 30
"""A training is scored on the development data at most this often: small treebanks need many short epochs, and scoring
each of them would take a fifth of the time."""


class Reporter(Protocol):
    """Receives the progress of a training run."""

    def training_begins(self, summary: TrainingSummary) -> None: ...

    def epoch_begins(self, epoch: int, epochs: int, tokens: int, tokens_done: int) -> None: ...

    def batch_done(self, tokens: int) -> None: ...

    def epoch_done(self, entry: dict[str, Any]) -> None: ...

    def tokenizer_step_done(self, step: int, steps: int) -> None: ...

    def note(self, message: str) -> None: ...


class SilentReporter:
    """Reports nothing."""

    def training_begins(self, summary: TrainingSummary) -> None:
        pass

    def epoch_begins(self, epoch: int, epochs: int, tokens: int, tokens_done: int) -> None:
        pass

    def batch_done(self, tokens: int) -> None:
        pass

    def epoch_done(self, entry: dict[str, Any]) -> None:
        pass

    def tokenizer_step_done(self, step: int, steps: int) -> None:
        pass

    def note(self, message: str) -> None:
        pass


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


def is_scored(epoch: int, epochs: int) -> bool:
    """Return whether the model is scored after this epoch: always after the last one, and at equal distances."""
    return epoch * MOST_SCORINGS // epochs > (epoch - 1) * MOST_SCORINGS // epochs


class Trainer:
    """Trains a model, alone or with the other processes of a group, of which the first writes to the folder `out`."""

    def __init__(
        self,
        model: TrainedModel,
        data: TrainingData,
        out: Path,
        reporter: Reporter,
        group: ProcessGroup = ALONE,
        device: torch.device = CPU,
    ) -> None:
        self.model = model
        self.data = data
        self.configuration = model.configuration
        self.out = out
        self.reporter = reporter
        self.group = group
        self.device = device
        self.network = model.network.to(device)
        self.optimizer = torch.optim.AdamW(
            self._parameter_groups(),
            lr=self.configuration.learning_rate,
            betas=(0.9, self.configuration.beta2),
            weight_decay=self.configuration.weight_decay,
            fused=device.type != "mps",
        )
        self.gradients = GradientSum(self.network, group)
        averaging = self.configuration.averaging
        self.average = WeightAverage(self.network, averaging) if averaging and group.is_first else None
        if not group.is_first:
            torch.manual_seed(random_seed_of(self.configuration.seed, group.rank))
        self.position = Position()
        self._interrupted = False
        self._finished = False

    def _parameter_groups(self) -> list[dict[str, Any]]:
        """Return the parameters of the network, and those of a pretrained encoder apart: their learning rate is a
        certain share of that of the others."""
        pretrained = list(self.network.encoder.pretrained_parameters())
        numbers = set(map(id, pretrained))
        others = [parameter for parameter in self.network.parameters() if id(parameter) not in numbers]
        share = self.configuration.encoder_learning_rate / self.configuration.learning_rate
        groups = [{"params": others, "share": 1.0}, {"params": pretrained, "share": share}]
        return groups if pretrained else groups[:1]

    def resume(self) -> None:
        """Restore the weights of a finished training, or else the last good checkpoint in the folder.

        The first process reads them for all, because the others may run on machines without the folder.
        """
        self._finished = self.group.from_first((self.out / WEIGHTS).exists())
        tensors: dict[str, torch.Tensor] = {}
        metadata: dict[str, Any] = {}
        with self.group.failing_together():
            if self.group.is_first:
                tensors, metadata = self._read_saved_state()
        tensors, metadata = self.group.tensors_from_first(tensors), self.group.from_first(metadata)
        if self._finished:
            self.network.load_state_dict(tensors)
            self.position = Position(history=metadata["history"], best_epoch=metadata.get("best_epoch", 0))
            return
        self._select_random_state(tensors, metadata)
        restore_training_state(tensors, self.network, self.optimizer, self.average)
        self.position = Position(**metadata["position"])

    def _read_saved_state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Read the weights of a finished training, or else a checkpoint; raise if they belong to another training."""
        if self._finished:
            tensors, metadata = load_tensors(self.out / WEIGHTS)
            # Earlier versions did not store the fingerprint with the weights.
            require_fingerprint(metadata.get("training", self.data.fingerprint), self.data.fingerprint, self.out)
            return tensors, metadata
        tensors, metadata = self._load_checkpoint()
        require_fingerprint(metadata.get("fingerprint"), self.data.fingerprint, self.out)
        if metadata["position"]["best_epoch"]:
            load_tensors(self.out / BEST)  # report damage now and not after the last epoch
        return tensors, metadata

    def _select_random_state(self, tensors: dict[str, torch.Tensor], metadata: dict[str, Any]) -> None:
        """Make this process's random state that of the checkpoint, or leave it as it is if the checkpoint has none."""
        # Earlier versions trained in one process, on the CPU.
        processes, device = metadata.get("processes", 1), metadata.get("device", CPU.type)
        for kind, before, now in (("processes", processes, self.group.size), ("device", device, self.device.type)):
            if before != now:
                self.reporter.note(
                    f"the training began with {kind}: {before}, and continues with {kind}: {now}. "
                    "Its model will not be bit for bit that of an uninterrupted training."
                )
        states = {0: tensors.pop("random"), **{rank: tensors.pop(f"random.{rank}") for rank in range(1, processes)}}
        if device == self.device.type and self.group.rank in states:
            tensors["random"] = states[self.group.rank]

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
        if not self.group.is_first:
            return
        if not self._finished:
            self._save_weights()
        self.network.cpu()  # for packaging
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
        # The log has the rate of the last batch, also if that was before an interruption.
        self._set_learning_rate(position.epoch - 1 + max(0, position.batches_done - 1) / len(batches))
        saved = started = time.monotonic()
        before = position.seconds
        for indices in batches[position.batches_done :]:
            self._set_learning_rate(position.epoch - 1 + position.batches_done / len(batches))
            tokens = int(nodes[indices].sum()) - len(indices)
            size = tokens if self.configuration.batch_words else len(indices)
            loss = self._compute_gradients(indices, size)
            if not math.isfinite(loss):
                raise LongarcError("the loss is not a finite number", "Try a smaller learning_rate.")
            if self.configuration.gradient_limit:
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.configuration.gradient_limit)
            self.optimizer.step()
            if self.average is not None:
                self.average.update()
            position.loss += loss * size
            position.batches_done += 1
            now = time.monotonic()
            position.seconds = before + now - started
            self.reporter.batch_done(tokens)
            is_interrupted, is_due = self.group.any(self._interrupted, now - saved > CHECKPOINT_SECONDS)
            if is_interrupted or is_due:
                self._save_checkpoint()
                saved = time.monotonic()
            if is_interrupted:
                raise Interrupted

    def _compute_gradients(self, indices: NDArray[np.int64], size: int) -> float:
        """Compute the gradients of a batch's loss, divided by `size`, and return that loss.

        Each process computes those of its share of the sentences; the sums over all processes are those of the batch.
        """
        self.gradients.clear()
        loss = torch.zeros(())
        share = self.group.share(indices)
        if len(share):  # a batch may have fewer sentences than there are processes
            batch = make_batch([self.data.examples[index] for index in share], self.model.description)
            loss = batch_loss(self.network, batch.to(self.device), self.configuration, self._explorer()) / size
            loss.backward()  # type: ignore[no-untyped-call]
        return self.gradients.add_up(loss.detach())

    def _explorer(self) -> Explorer | None:
        """Return how to explore in the next batch, if at all; the same for the same seed, epoch, batch and process."""
        configuration, position = self.configuration, self.position
        if not configuration.exploration or position.epoch < configuration.exploration_epoch:
            return None
        rng = np.random.default_rng((configuration.seed, position.epoch, position.batches_done, self.group.rank))
        return Explorer(self.model.description, configuration.exploration, rng)

    def _set_learning_rate(self, epochs_done: float) -> None:
        if self.configuration.schedule == "halving":
            epochs_done = math.floor(epochs_done)
        rate = learning_rate(self.configuration, epochs_done / self.data.epochs)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["share"]

    def _averaged(self) -> AbstractContextManager[None]:
        """Temporarily swap in the averaged weights, if weights are averaged."""
        return nullcontext() if self.average is None else self.average.in_place()

    def _end_epoch(self) -> None:
        """Score the epoch in the first process, and continue with its position in all."""
        if self.group.is_first:
            self._score_epoch()
        position = self.position = Position(**self.group.from_first(asdict(self.position)))
        self._save_checkpoint()
        if self.group.is_first:
            write_log(self.out, position.history)
        self.reporter.epoch_done(position.history[-1])
        (is_interrupted,) = self.group.any(self._interrupted)
        if is_interrupted:  # also after the last epoch: do not go on to packaging
            raise Interrupted

    def _score_epoch(self) -> None:
        """Add the epoch to the history, save its weights if they are the best, and begin the next epoch."""
        position, examples = self.position, self.data.examples
        tokens = sum(len(example) - 1 for example in examples)
        entry: dict[str, Any] = {
            "epoch": position.epoch,
            "loss": position.loss / len(examples),
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "seconds": round(position.seconds, 1),
            "tokens_per_second": round(tokens / max(position.seconds, 1e-9)),
            "device": str(self.device),
            "processes": self.group.size,
        }
        if self.data.dev and is_scored(position.epoch, self.data.epochs):
            with self._averaged():
                # The other processes on this machine wait meanwhile.
                threads = torch.get_num_threads() * self.group.local_size
                scores = score_words(Parser(self.model.to_model_file({}), threads=threads), self.data.dev)
                if scores["las"] > position.best_las:
                    position.best_las, position.best_epoch = scores["las"], position.epoch
                    save_tensors(self.out / BEST, self.network.state_dict(), {})
            entry |= {f"dev_{name}": round(score, 4) for name, score in scores.items()}
        position.history.append(entry)
        position.epoch += 1
        position.batches_done, position.loss, position.seconds = 0, 0.0, 0.0

    def _has_stopped_improving(self) -> bool:
        patience, done = self.configuration.early_stopping, self.position.epoch - 1
        if not self.data.dev or not patience or not done or not is_scored(done, self.data.epochs):
            return False
        return done - self.position.best_epoch >= patience

    def _save_checkpoint(self) -> None:
        """Save the state of all processes; they differ only in their random numbers."""
        _, *random_states = self.group.gather(random_state(self.device).numpy().tobytes())
        if not self.group.is_first:
            return
        metadata = {
            "position": asdict(self.position),
            "fingerprint": self.data.fingerprint,
            "processes": self.group.size,
            "device": self.device.type,
        }
        state = training_state(self.network, self.optimizer, self.average)
        for rank, content in enumerate(random_states, 1):
            state[f"random.{rank}"] = torch.frombuffer(bytearray(content), dtype=torch.uint8)
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
