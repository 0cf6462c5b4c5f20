"""A moving average of the weights, which parses better than the weights of any single step (Polyak & Juditsky 1992).

Unlike torch's AveragedModel it does not copy the fixed word vectors at every step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """The average of all trained parameters of a network."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        """`decay`: the share of the average that each step keeps; it starts lower and rises during the first steps."""
        self.decay = decay
        self.steps = 0
        self.parameters = {name: p for name, p in network.named_parameters() if p.requires_grad}
        self.average = {name: parameter.detach().clone() for name, parameter in self.parameters.items()}

    @torch.no_grad()
    def update(self) -> None:
        """Add the weights after a step."""
        self.steps += 1
        decay = min(self.decay, self.steps / (self.steps + 9))
        torch._foreach_lerp_(list(self.average.values()), list(self.parameters.values()), 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Temporarily swap in the averaged weights."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for name, parameter in self.parameters.items():
            current = parameter.clone()
            parameter.copy_(self.average[name])
            self.average[name].copy_(current)

    def state(self) -> dict[str, Tensor]:
        """Return the tensors for a checkpoint."""
        return {"steps": torch.tensor(self.steps), **{f"weights.{name}": t for name, t in self.average.items()}}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        self.steps = int(state["steps"])
        for name, tensor in self.average.items():
            tensor.copy_(state[f"weights.{name}"])
