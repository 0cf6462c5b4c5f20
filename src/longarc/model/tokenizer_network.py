"""The network that splits text: a convolution and a BiLSTM over characters, which says of each what ends with it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longarc.data.characters import CATEGORY_NUMBERS
from longarc.model.bilstm import BiLSTM, SharedDropout, reversal_of
from longarc.runtime.tokenizer import LABELS

CHARACTER_DIMENSIONS, CATEGORY_DIMENSIONS = 32, 8
WIDTH = 7
"""Characters that the convolution sees at once."""
SIZE = 64
"""Outputs of the convolution, and units per direction of the BiLSTM."""


class TokenizerNetwork(nn.Module):
    """Characters in, scores of what ends with each of them out."""

    def __init__(self, characters: int, dropout: float = 0.33) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, CHARACTER_DIMENSIONS, padding_idx=0)
        self.categories = nn.Embedding(CATEGORY_NUMBERS, CATEGORY_DIMENSIONS, padding_idx=0)
        # Beyond the ends of a window there are zeros, as there are for the padding.
        self.convolution = nn.Conv1d(CHARACTER_DIMENSIONS + CATEGORY_DIMENSIONS, SIZE, WIDTH, padding=WIDTH // 2)
        self.lstm = BiLSTM(SIZE, SIZE, 1, dropout)
        self.dropout = SharedDropout(dropout)
        self.labels = nn.Linear(2 * SIZE, LABELS)

    def forward(self, characters: Tensor, categories: Tensor, lengths: Tensor) -> Tensor:
        """characters, categories: [longest, windows]; lengths: [windows]. Gives [longest, windows, LABELS]."""
        embedded = torch.cat([self.characters(characters), self.categories(categories)], dim=-1)
        seen = torch.relu(self.convolution(embedded.permute(1, 2, 0))).permute(2, 0, 1)
        read = self.lstm(seen, reversal_of(lengths, len(characters)))
        scores: Tensor = self.labels(self.dropout(read))
        return scores
