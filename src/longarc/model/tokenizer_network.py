"""The tokenizer's network: a convolution and a BiLSTM over characters, which label the ends of tokens and sentences."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from longarc.data.characters import CATEGORY_NUMBERS
from longarc.model.bilstm import BiLSTM, SharedDropout, reversal_of
from longarc.model.graph_writer import INT32, INT64, GraphWriter
from longarc.runtime.tokenizer import LABELS

CHARACTER_DIMENSIONS, CATEGORY_DIMENSIONS = 32, 8
WIDTH = 7
"""Characters that the convolution sees at once."""
SIZE = 64
"""Outputs of the convolution, and units per direction of the BiLSTM."""


class TokenizerNetwork(nn.Module):
    """Characters in, scores of their labels out."""

    def __init__(self, characters: int, dropout: float = 0.33) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, CHARACTER_DIMENSIONS, padding_idx=0)
        self.categories = nn.Embedding(CATEGORY_NUMBERS, CATEGORY_DIMENSIONS, padding_idx=0)
        # Zeros stand beyond the ends of a window, as for padding.
        self.convolution = nn.Conv1d(CHARACTER_DIMENSIONS + CATEGORY_DIMENSIONS, SIZE, WIDTH, padding=WIDTH // 2)
        self.lstm = BiLSTM(SIZE, SIZE, 1, dropout)
        self.dropout = SharedDropout(dropout)
        self.labels = nn.Linear(2 * SIZE, LABELS)

    def forward(self, characters: Tensor, categories: Tensor, lengths: Tensor) -> Tensor:
        """Return [longest, windows, LABELS]. characters, categories: [longest, windows]; lengths: [windows]."""
        embedded = torch.cat([self.characters(characters), self.categories(categories)], dim=-1)
        local = torch.relu(self.convolution(embedded.permute(1, 2, 0))).permute(2, 0, 1)
        states = self.lstm(local, reversal_of(lengths, len(characters)))
        scores: Tensor = self.labels(self.dropout(states))
        return scores

    def export(self) -> bytes:
        """Return the graph from `characters` and `categories` [longest, windows] and `lengths` [windows] to `labels`
        [longest, windows]."""
        self.eval()
        g = GraphWriter()
        characters, categories = (g.input(name, INT64, "longest", "windows") for name in ("characters", "categories"))
        lengths = g.input("lengths", INT32, "windows")
        embedded = g.add(
            "Concat",
            g.add("Gather", g.constant(self.characters.weight), characters, axis=0),
            g.add("Gather", g.constant(self.categories.weight), categories, axis=0),
            axis=-1,
        )
        local = g.add(
            "Conv",
            g.add("Transpose", embedded, perm=[1, 2, 0]),
            g.constant(self.convolution.weight),
            g.constant(cast(Tensor, self.convolution.bias)),
            pads=[WIDTH // 2, WIDTH // 2],
        )
        local = g.add("Transpose", g.add("Relu", local), perm=[2, 0, 1])
        scores = g.linear(self.lstm.export(g, local, lengths), self.labels)
        g.add("ArgMax", scores, axis=-1, keepdims=0, output=g.output("labels", INT64, "longest", "windows"))
        return g.serialize()
