"""Biaffine scores of pairs (Dozat & Manning 2017), and the authors' weight initialisation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longarc.model.graph_writer import GraphWriter


class Biaffine(nn.Module):
    """x W y + U x + V y + b for all pairs of rows of x and y, with several outputs."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        start = torch.empty(width + 1, outputs, width + 1)
        normal_(start, (2 / (width + outputs)) ** 0.5)
        normal_(start[:-1, :, :-1], (2 / (width * width + outputs)) ** 0.5)
        start[-1, :, -1] = 0
        self.weight = nn.Parameter(start.view(width + 1, outputs * (width + 1)))

    def left(self, x: Tensor) -> Tensor:
        """Return […, outputs, width + 1], which multiplies the right side. x: […, width]."""
        return (append_one(x) @ self.weight).view(*x.shape[:-1], self.outputs, x.shape[-1] + 1)

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        """Return [batch, N of x, outputs, N of y]. x, y: [batch, N, width]."""
        batch, nodes, _ = x.shape
        product = self.left(x).view(batch, nodes * self.outputs, -1) @ append_one(y).transpose(1, 2)
        return product.view(batch, nodes, self.outputs, nodes)

    def diagonal(self, x: Tensor, y: Tensor) -> Tensor:
        """Return […, outputs], each row of x with the same row of y."""
        return (self.left(x) @ append_one(y).unsqueeze(-1)).squeeze(-1)

    def export_diagonal(self, g: GraphWriter, x: str, y: str, output: str) -> None:
        """Add the output [batch, N] of a single-output layer; x, y: [N, batch, width + 1], the 1 appended."""
        left = g.add("MatMul", x, g.constant(self.weight))
        product = g.add("ReduceSum", g.add("Mul", left, y), g.shape(-1), keepdims=0)
        g.add("Transpose", product, perm=[1, 0], output=output)

    def export_rows(self, g: GraphWriter, x: str, y: str) -> str:
        """Add [rows, outputs] for rows x, y [rows, width] of chosen pairs."""
        width = len(self.weight)
        left = g.add("MatMul", g.append_one(x, axes=2), g.constant(self.weight))
        left = g.add("Reshape", left, g.shape(0, self.outputs, width))
        right = g.add("Unsqueeze", g.append_one(y, axes=2), g.shape(2))
        return g.add("Squeeze", g.add("MatMul", left, right), g.shape(2))


def normal_(tensor: Tensor, deviation: float) -> Tensor:
    """Initialise as the authors' code does: normal, truncated at two standard deviations."""
    return nn.init.trunc_normal_(tensor, std=deviation, a=-2 * deviation, b=2 * deviation)


def append_one(x: Tensor) -> Tensor:
    """Append a 1 to each vector."""
    return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1)
