"""The processes that train one model together, and the messages between them (torch.distributed with gloo).

All processes hold the same weights. Each computes the gradients of its share of a batch; their sum is the gradient of
the whole batch. The first process writes all files. Messages are tensors and JSON, never pickles.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from safetensors.torch import load, save
from torch import Tensor

from longarc import __version__
from longarc.errors import LongarcError
from longarc.training.interruption import Interrupted

JOIN_TIMEOUT = timedelta(minutes=5)
"""Until all processes have started."""
STEP_TIMEOUT = timedelta(minutes=30)
"""Until all processes have computed their share of a batch."""
WAIT_TIMEOUT = timedelta(days=7)
"""Until the first process has done what it does alone: train the tokenizer, score an epoch, write a file."""

Value = TypeVar("Value")


class LostProcessError(LongarcError):
    """Another process of the training has ended, or its machine does not answer."""


class ProcessGroup:
    """This process and those that train with it; by default, it trains alone."""

    def __init__(self, rank: int = 0, size: int = 1, local_rank: int = 0, local_size: int = 1) -> None:
        """`local_rank` and `local_size` count the processes on this machine only."""
        self.rank = rank
        self.size = size
        self.local_rank = local_rank
        self.local_size = local_size
        self._patient: dist.ProcessGroup | None = None
        self._step: dist.ProcessGroup | None = None

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files and reports progress."""
        return self.rank == 0

    def join(self, rendezvous: Path | None) -> None:
        """Connect to the other processes, through a file on this machine or else through torchrun's variables."""
        if rendezvous is not None:
            _listen_on_loopback_only()
        try:
            dist.init_process_group(
                "gloo",
                init_method="env://" if rendezvous is None else rendezvous.resolve().as_uri(),
                rank=self.rank,
                world_size=self.size,
                timeout=JOIN_TIMEOUT,
            )
            self._patient = dist.new_group(backend="gloo", timeout=WAIT_TIMEOUT)
            self._step = dist.new_group(backend="gloo", timeout=STEP_TIMEOUT)
        except (RuntimeError, ValueError) as error:
            raise LostProcessError(
                f"process {self.rank} of {self.size} cannot reach the others: {_first_line(error)}",
                "Check that all processes were started, and that their machines can connect to each other.",
            ) from None

    def leave(self) -> None:
        """Close the connections."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def share(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return this process's part of a batch; every sentence of the batch is in the part of one process.

        The sentences of a batch are sorted by length, so the parts have nearly the same number of words.
        """
        return indices[self.rank :: self.size]

    def sum(self, tensor: Tensor) -> None:
        """Replace the tensor, in every process, by the sum over all processes."""
        if self.size > 1:
            with self._lost_processes():
                dist.all_reduce(tensor, group=self._step)

    def any(self, *flags: bool) -> list[bool]:
        """Return for each flag whether it is set in some process."""
        counts = torch.tensor(flags, dtype=torch.int32)
        self.sum(counts)
        return [bool(count) for count in counts.tolist()]

    def gather(self, data: bytes) -> list[bytes]:
        """Return what each process passed, in the order of their ranks."""
        if self.size == 1:
            return [data]
        with self._lost_processes():
            lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
            dist.all_gather(lengths, torch.tensor([len(data)]), group=self._patient)
            longest = max(int(length) for length in lengths)
            buffers = [torch.zeros(longest, dtype=torch.uint8) for _ in range(self.size)]
            dist.all_gather(buffers, _to_tensor(data.ljust(longest, b"\0")), group=self._patient)
        return [buffer.numpy().tobytes()[: int(length)] for buffer, length in zip(buffers, lengths, strict=True)]

    def from_first(self, value: Value) -> Value:
        """Return the value of the first process, which JSON can hold, in all processes."""
        if self.size == 1:
            return value
        result: Value = json.loads(self._broadcast(json.dumps(value).encode()))
        return result

    def tensors_from_first(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the tensors of the first process in all processes."""
        if self.size == 1:
            return dict(tensors)
        return load(self._broadcast(save(dict(tensors)) if self.is_first else b""))

    def _broadcast(self, data: bytes) -> bytes:
        length = torch.tensor([len(data)])
        with self._lost_processes():
            dist.broadcast(length, src=0, group=self._patient)
            buffer = _to_tensor(data) if self.is_first else torch.zeros(int(length), dtype=torch.uint8)
            dist.broadcast(buffer, src=0, group=self._patient)
        return buffer.numpy().tobytes()

    @contextmanager
    def failing_together(self) -> Iterator[None]:
        """Stop all processes if the block raises LongarcError or Interrupted in one of them.

        All processes raise the error of the first one that failed. The block must not send messages.
        """
        failure: LongarcError | None = None
        interrupted = False
        try:
            yield
        except LongarcError as error:
            failure = error
        except Interrupted:
            interrupted = True
        description = [interrupted, *([failure.message, failure.hint] if failure is not None else [])]
        for rank, content in enumerate(self.gather(json.dumps(description).encode())):
            is_interrupted, *texts = json.loads(content)
            if is_interrupted:
                raise Interrupted
            if texts and failure is not None and rank in (0, self.rank):
                raise failure
            if texts:
                raise LongarcError(f"process {rank} of {self.size}: {texts[0]}", texts[1])

    def require_equal(self, fingerprint: str) -> None:
        """Raise if the data, the options or the versions of another process differ from those of the first one."""
        first, *others = self.gather(f"{fingerprint} {__version__} {torch.__version__}".encode())
        different = [rank for rank, other in enumerate(others, 1) if other != first]
        if different:
            raise LongarcError(
                f"process {different[0]} has other training data, options or versions than process 0",
                "Start all processes with the same files, the same options and the same versions of Longarc and torch.",
            )

    @contextmanager
    def _lost_processes(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise LostProcessError(
                f"process {self.rank} of {self.size} lost contact with another process: {_first_line(error)}",
                "Start all processes again and resume: the training continues from its last checkpoint.",
            ) from None


ALONE = ProcessGroup()


def random_seed_of(seed: int, rank: int) -> int:
    """Return the seed of a process's dropout: each process draws other numbers."""
    return int(np.random.SeedSequence((seed, rank)).generate_state(1, np.uint64)[0])


class GradientSum:
    """The gradients of all processes, added up in one message per step.

    The layout of the message never changes. A sum of floats depends on their order, and the order on the layout, so a
    resumed training would otherwise differ in the last bits.
    """

    def __init__(self, network: torch.nn.Module, group: ProcessGroup) -> None:
        self.group = group
        self.parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        if group.size > 1:
            sizes = [parameter.numel() for parameter in self.parameters]
            # The last number is the loss.
            self.buffer = torch.zeros(sum(sizes) + 1, device=self.parameters[0].device)
            self.parts = torch.split(self.buffer[:-1], sizes)

    def clear(self) -> None:
        """Prepare for the gradients of the next step."""
        if self.group.size == 1:
            for parameter in self.parameters:
                parameter.grad = None
            return
        self.buffer.zero_()
        for parameter, part in zip(self.parameters, self.parts, strict=True):
            parameter.grad = part.view_as(parameter)

    def add_up(self, loss: Tensor) -> float:
        """Add the gradients of all processes, in place; return the sum of their losses."""
        if self.group.size == 1:
            return float(loss)
        self.buffer[-1] = loss
        message = self.buffer.cpu()  # itself, or a copy if it is on a GPU
        self.group.sum(message)
        if message is not self.buffer:
            self.buffer.copy_(message)
        return float(message[-1])


def _listen_on_loopback_only() -> None:
    """Keep the connections between processes of one machine off its network."""
    if sys.platform != "win32" and "GLOO_SOCKET_IFNAME" not in os.environ:
        for _, name in socket.if_nameindex():
            if name in ("lo", "lo0"):
                os.environ["GLOO_SOCKET_IFNAME"] = name


def _to_tensor(data: bytes) -> Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.zeros(0, dtype=torch.uint8)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
