"""Biaffine scores of pairs (Dozat & Manning 2017), and the first weights of layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Biaffine(nn.Module):
    """x W y + U x + V y + b for all pairs of rows of x and y, several outputs at once."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        start = torch.empty(width + 1, outputs, width + 1)
        normal_(start, (2 / (width + outputs)) ** 0.5)
        normal_(start[:-1, :, :-1], (2 / (width * width + outputs)) ** 0.5)
        start[-1, :, -1] = 0
        self.weight = nn.Parameter(start.view(width + 1, outputs * (width + 1)))

    def left(self, x: Tensor) -> Tensor:
        """[…, width] as […, outputs, width + 1], to be multiplied with the right side."""
        return (with_one(x) @ self.weight).view(*x.shape[:-1], self.outputs, x.shape[-1] + 1)

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        """[batch, N, width] each: [batch, N of x, outputs, N of y]"""
        batch, nodes, _ = x.shape
        product = self.left(x).view(batch, nodes * self.outputs, -1) @ with_one(y).transpose(1, 2)
        return product.view(batch, nodes, self.outputs, nodes)

    def diagonal(self, x: Tensor, y: Tensor) -> Tensor:
        """[…, outputs] each row of x with the same row of y."""
        return (self.left(x) @ with_one(y).unsqueeze(-1)).squeeze(-1)


def normal_(tensor: Tensor, deviation: float) -> Tensor:
    """Fills a tensor as the authors' code does: normally distributed, but not beyond two deviations."""
    return nn.init.trunc_normal_(tensor, std=deviation, a=-2 * deviation, b=2 * deviation)


def with_one(x: Tensor) -> Tensor:
    """Appends a 1 to each vector."""
    return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1)
