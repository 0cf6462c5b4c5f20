"""The decoder of the left-to-right pointer parser (Fernández-González & Gómez-Rodríguez, NAACL 2019): a forward LSTM.

Its state at a word, which has read the words before it, stands for the word as a dependent. It never reads heads that
were chosen, so all its states are computed at once.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longarc.model.bilstm import ForwardLSTM
from longarc.model.graph_writer import GraphWriter


class Decoder(nn.Module):
    """Reads each word's vector added to those of its two neighbours."""

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.lstm = ForwardLSTM(inputs, size, dropout)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return [N, batch, size]. vectors: [N, batch, inputs]; lengths: [batch] in nodes."""
        is_node = (
            torch.arange(len(vectors), device=vectors.device).unsqueeze(1) < lengths
        )  # the last word has no right neighbour
        padded = nn.functional.pad(vectors * is_node.unsqueeze(-1), (0, 0, 0, 0, 1, 1))
        states: Tensor = self.lstm(padded[:-2] + padded[1:-1] + padded[2:])
        return states

    def export(self, g: GraphWriter, vectors: str, lengths: str) -> str:
        """Add [N, batch, inputs] → [N, batch, size]; `vectors` must be 0 where there is no node."""
        padded = g.pad(vectors, [1, 0, 0, 1, 0, 0])  # a zero row before and after the words
        nodes = g.add("Slice", g.add("Shape", vectors), g.shape(0), g.shape(1))
        after = g.add("Slice", padded, g.shape(2), g.add("Add", nodes, g.shape(2)), g.shape(0))
        before = g.add("Slice", padded, g.shape(0), nodes, g.shape(0))
        return self.lstm.export(g, g.add("Add", g.add("Add", before, vectors), after), lengths)
