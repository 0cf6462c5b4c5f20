"""Transformer encoders of the BERT, RoBERTa, XLM-R, DistilBERT and ELECTRA families, which differ in names only.

Blocks of self-attention and of two linear layers, each with a residual connection and layer normalization after it
(Vaswani et al. 2017; Devlin et al. 2019).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from longarc.model.graph_writer import FLOAT, INT64, GraphWriter
from longarc.runtime.transformer_features import Architecture

MICROSOFT = "com.microsoft"
"""The domain of onnxruntime's own operators."""


@dataclass(frozen=True)
class Windows:
    """Where pieces are that were laid end to end: in windows, of which each is read for itself, for each head."""

    places: Tensor
    """[pieces · heads] the cell of each piece and head, counted row by row in a table [windows, heads, P]"""
    is_piece: Tensor
    """[windows, 1, 1, P] False for cells without a piece"""
    shape: tuple[int, int, int]
    """Of the table"""


class Block(nn.Module):
    """Self-attention and two linear layers."""

    def __init__(self, architecture: Architecture, dropout: float) -> None:
        super().__init__()
        width, self.heads = architecture.width, architecture.heads
        self.activation, self.rate = architecture.activation, dropout
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.attention_norm = nn.LayerNorm(width, eps=architecture.epsilon)
        self.inner, self.outer = nn.Linear(width, architecture.inner), nn.Linear(architecture.inner, width)
        self.norm = nn.LayerNorm(width, eps=architecture.epsilon)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, windows: Windows) -> Tensor:
        """x: [pieces, width]"""

        def by_head(layer: nn.Linear) -> Tensor:
            table: Tensor = _ToTable.apply(layer(x).view(len(windows.places), -1), windows)  # type: ignore[no-untyped-call]
            return table

        attended = nn.functional.scaled_dot_product_attention(
            by_head(self.query),
            by_head(self.key),
            by_head(self.value),
            attn_mask=windows.is_piece,
            dropout_p=self.rate if self.training else 0.0,
        )
        attended = _FromTable.apply(attended, windows).view(x.shape)  # type: ignore[no-untyped-call]
        x = self.attention_norm(x + self.dropout(self.output(attended)))
        result: Tensor = self.norm(x + self.dropout(self.outer(self._activate(self.inner(x)))))
        return result

    def _activate(self, x: Tensor) -> Tensor:
        if self.activation == "relu":
            return torch.relu(x)
        return nn.functional.gelu(x, approximate="none" if self.activation == "gelu" else "tanh")

    def export(self, g: GraphWriter, x: str, inputs: Mapping[str, str]) -> str:
        """Add [pieces, width] → [pieces, width]."""
        width = self.output.in_features
        size = width // self.heads
        # The scores of all pieces for a query contain the same part from the key's bias, and all weights together add
        # the value's bias once. So the first can be left out, and the second be added later.
        query = g.add("Add", g.add("MatMul", x, g.constant(self.query.weight.T)), g.constant(self.query.bias))
        key, value = (g.add("MatMul", x, g.constant(layer.weight.T)) for layer in (self.key, self.value))
        tables = [
            g.add("Gather", g.add("Reshape", vectors, g.shape(-1, size)), inputs["cells"], axis=0)
            for vectors in (query, key, value)
        ]
        scores = g.add("FusedMatMul", *tables[:2], domain=MICROSOFT, transB=1, alpha=size**-0.5)
        weights = g.add("Softmax", g.add("Add", scores, inputs["mask"]), axis=-1)
        attended = g.add("Reshape", g.add("MatMul", weights, tables[2]), g.shape(-1, size))
        attended = g.add("Reshape", g.add("Gather", attended, inputs["places"], axis=0), g.shape(-1, width))
        output = g.add("MatMul", attended, g.constant(self.output.weight.T))
        bias = self.output.bias + self.output.weight @ self.value.bias
        output = g.add("Add", output, g.constant(bias))
        x = normalise(g, g.add("Add", x, output), self.attention_norm)
        inner = g.linear(x, self.inner, relu=self.activation == "relu")
        if self.activation != "relu":
            operator = "Gelu" if self.activation == "gelu" else "FastGelu"
            inner = g.add(operator, inner, domain=MICROSOFT)
        return normalise(g, g.add("Add", x, g.linear(inner, self.outer)), self.norm)


class Transformer(nn.Module):
    """Pieces in; the vectors of the embedding layer and of each block out.

    The pieces of all windows are laid end to end, so that no time is spent on padding, except in attention.
    """

    def __init__(self, architecture: Architecture, pieces: int, dropout: float) -> None:
        super().__init__()
        self.pieces = nn.Embedding(pieces, architecture.embedding)
        self.positions = nn.Embedding(architecture.positions, architecture.embedding)
        self.norm = nn.LayerNorm(architecture.embedding, eps=architecture.epsilon)
        self.heads = architecture.heads
        same = architecture.embedding == architecture.width
        self.projection = None if same else nn.Linear(architecture.embedding, architecture.width)
        self.blocks = nn.ModuleList(Block(architecture, dropout) for _ in range(architecture.layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, arrays: dict[str, Tensor]) -> list[Tensor]:
        """Return [pieces, width] of each layer; `arrays` is what TransformerFeatures returned, as tensors."""
        rows, heads, longest = arrays["cells"].shape
        windows = Windows(arrays["places"].flatten(), arrays["mask"] == 0, (rows, heads, longest))
        x = self.dropout(self.norm(self.pieces(arrays["pieces"]) + self.positions(arrays["positions"])))
        layers = [x if self.projection is None else self.projection(x)]
        for block in self.blocks:
            layers.append(block(layers[-1], windows))
        return layers

    def export(self, g: GraphWriter) -> list[str]:
        """Add the inputs and the vectors [pieces, width] of each layer."""
        pieces, positions = (g.input(name, INT64, "pieces") for name in ("pieces", "positions"))
        heads = self.heads
        inputs = {
            "cells": g.input("cells", INT64, "windows", heads, "longest"),
            "places": g.input("places", INT64, "pieces", heads),
            "mask": g.input("mask", FLOAT, "windows", 1, 1, "longest"),
        }
        embedded = g.add("Gather", g.constant(self.pieces.weight), pieces, axis=0)
        placed = g.add("Add", embedded, g.add("Gather", g.constant(self.positions.weight), positions, axis=0))
        x = normalise(g, placed, self.norm)
        layers = [x if self.projection is None else g.linear(x, self.projection)]
        for block in self.blocks:
            assert isinstance(block, Block)
            layers.append(block.export(g, layers[-1], inputs))
        return layers


def normalise(g: GraphWriter, x: str, norm: nn.LayerNorm) -> str:
    """Add layer normalization over the last axis."""
    constants = [g.constant(value) for value in (norm.weight, norm.bias)]
    return g.add("LayerNormalization", x, *constants, axis=-1, epsilon=norm.eps)


class _ToTable(torch.autograd.Function):
    """From pieces laid end to end to a table of windows. Torch's own gradients of both directions are much slower,
    since they allow for pieces that are in several places."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, windows: Windows) -> Tensor:
        ctx.windows = windows
        return _to_table(x, windows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _from_table(gradient, ctx.windows), None


class _FromTable(torch.autograd.Function):
    """The inverse of `_ToTable`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, windows: Windows) -> Tensor:
        ctx.windows = windows
        return _from_table(x, windows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _to_table(gradient, ctx.windows), None


def _to_table(x: Tensor, windows: Windows) -> Tensor:
    """Return [windows, heads, P, size], 0 where there is no piece. x: [pieces · heads, size]."""
    rows, heads, longest = windows.shape
    table = x.new_zeros(rows * heads * longest, x.shape[1])
    return table.index_copy_(0, windows.places, x).view(rows, heads, longest, -1)


def _from_table(table: Tensor, windows: Windows) -> Tensor:
    """Return [pieces · heads, size]. table: [windows, heads, P, size]."""
    return table.reshape(-1, table.shape[-1]).index_select(0, windows.places)
