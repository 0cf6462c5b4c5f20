"""Transformer encoders of the BERT, RoBERTa, XLM-R, DistilBERT and ELECTRA families, which differ in names only.

Blocks of self-attention and of two linear layers, each with a residual connection and layer normalization after it
(Vaswani et al. 2017; Devlin et al. 2019).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longarc.model.graph_writer import GraphWriter
from longarc.runtime.transformer_features import Architecture

MICROSOFT = "com.microsoft"
"""The domain of onnxruntime's own operators."""


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

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x: [batch, P, width]. mask: [batch, 1, 1, P], True for pieces that can be read."""
        batch, pieces, width = x.shape

        def by_head(layer: nn.Linear) -> Tensor:
            vectors: Tensor = layer(x)
            return vectors.view(batch, pieces, self.heads, -1).transpose(1, 2)

        attended = nn.functional.scaled_dot_product_attention(
            by_head(self.query),
            by_head(self.key),
            by_head(self.value),
            attn_mask=mask,
            dropout_p=self.rate if self.training else 0.0,
        )
        attended = self.output(attended.transpose(1, 2).reshape(batch, pieces, width))
        x = self.attention_norm(x + self.dropout(attended))
        result: Tensor = self.norm(x + self.dropout(self.outer(self._activate(self.inner(x)))))
        return result

    def _activate(self, x: Tensor) -> Tensor:
        if self.activation == "relu":
            return torch.relu(x)
        return nn.functional.gelu(x, approximate="none" if self.activation == "gelu" else "tanh")

    def export(self, g: GraphWriter, x: str, counts: str) -> str:
        """Add [batch, P, width] → [batch, P, width]; counts: the number of pieces in each row."""
        layers = (self.query, self.key, self.value)
        projected = [g.add("MatMul", x, g.constant(layer.weight.T)) for layer in layers]
        bias = g.constant(torch.cat([layer.bias for layer in layers]))
        attended = g.add("MultiHeadAttention", *projected, bias, counts, domain=MICROSOFT, num_heads=self.heads)
        attended = g.add("MatMul", attended, g.constant(self.output.weight.T))
        x = self._add_and_normalise(g, attended, x, self.output, self.attention_norm)
        inner = g.linear(x, self.inner, relu=self.activation == "relu")
        if self.activation != "relu":
            operator = "Gelu" if self.activation == "gelu" else "FastGelu"
            inner = g.add(operator, inner, domain=MICROSOFT)
        outer = g.add("MatMul", inner, g.constant(self.outer.weight.T))
        return self._add_and_normalise(g, outer, x, self.outer, self.norm)

    def _add_and_normalise(self, g: GraphWriter, y: str, x: str, layer: nn.Linear, norm: nn.LayerNorm) -> str:
        """Add the normalised sum of x, y and the layer's bias."""
        constants = [g.constant(value) for value in (norm.weight, norm.bias, layer.bias)]
        return g.add("SkipLayerNormalization", y, x, *constants, domain=MICROSOFT, epsilon=norm.eps)


class Transformer(nn.Module):
    """Pieces in; the vectors of the embedding layer and of each block out."""

    def __init__(self, architecture: Architecture, pieces: int, dropout: float) -> None:
        super().__init__()
        self.pieces = nn.Embedding(pieces, architecture.embedding)
        self.positions = nn.Embedding(architecture.positions, architecture.embedding)
        self.norm = nn.LayerNorm(architecture.embedding, eps=architecture.epsilon)
        same = architecture.embedding == architecture.width
        self.projection = None if same else nn.Linear(architecture.embedding, architecture.width)
        self.blocks = nn.ModuleList(Block(architecture, dropout) for _ in range(architecture.layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, pieces: Tensor, counts: Tensor) -> list[Tensor]:
        """Return [batch, P, width] of each layer. pieces: [batch, P]; counts: [batch]."""
        x = self.dropout(self.norm(self.pieces(pieces) + self.positions.weight[: pieces.shape[1]]))
        layers = [x if self.projection is None else self.projection(x)]
        mask = torch.arange(pieces.shape[1], device=pieces.device) < counts.unsqueeze(1)
        for block in self.blocks:
            layers.append(block(layers[-1], mask[:, None, None]))
        return layers

    def export(self, g: GraphWriter, pieces: str, positions: str, counts: str) -> list[str]:
        """Add the vectors [batch, P, width] of each layer."""
        embedded = g.add("Gather", g.constant(self.pieces.weight), pieces, axis=0)
        placed = g.add("Add", embedded, g.add("Gather", g.constant(self.positions.weight), positions, axis=0))
        constants = [g.constant(value) for value in (self.norm.weight, self.norm.bias)]
        x = g.add("LayerNormalization", placed, *constants, axis=-1, epsilon=self.norm.eps)
        layers = [x if self.projection is None else g.linear(x, self.projection)]
        for block in self.blocks:
            assert isinstance(block, Block)
            layers.append(block.export(g, layers[-1], counts))
        return layers
