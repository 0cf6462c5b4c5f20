"""A moving average of the weights, which parses better than the weights of any one step (Polyak & Juditsky 1992)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """Of all trained parameters of a network."""

    def __init__(self, network: nn.Module, kept: float) -> None:
        """`kept`: the share of the average that a step keeps; less in the first steps, when it is worth little."""
        self.kept = kept
        self.steps = 0
        self.parameters = dict(network.named_parameters())
        self.average = {name: parameter.detach().clone() for name, parameter in self.parameters.items()}

    @torch.no_grad()
    def update(self) -> None:
        """Takes in the weights after a step."""
        self.steps += 1
        kept = min(self.kept, self.steps / (self.steps + 9))
        torch._foreach_lerp_(list(self.average.values()), list(self.parameters.values()), 1 - kept)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The network has the average as its weights while this lasts."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for name, parameter in self.parameters.items():
            own = parameter.clone()
            parameter.copy_(self.average[name])
            self.average[name].copy_(own)

    def state(self) -> dict[str, Tensor]:
        """What a checkpoint must hold."""
        return {"steps": torch.tensor(self.steps), **{f"weights.{name}": t for name, t in self.average.items()}}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Puts back what `state` gave."""
        self.steps = int(state["steps"])
        for name, tensor in self.average.items():
            tensor.copy_(state[f"weights.{name}"])
