"""A vector for each word from its characters alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longarc.model.bilstm import BiLSTM, reversal_of, reverse


class SpellingReader(nn.Module):
    """A character BiLSTM: a word is where both directions end."""

    def __init__(self, characters: int, dimensions: int, size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(characters, dimensions)
        self.lstm = BiLSTM(dimensions, size, 1)

    def forward(self, characters: Tensor, lengths: Tensor) -> Tensor:
        """characters: [words, longest]; lengths: [words]. Gives [words, 2 · size]."""
        embedded = self.table(characters.T)
        ((forwards, backwards),) = self.lstm.layers()
        last, word = lengths.long() - 1, torch.arange(len(lengths))
        there, _ = forwards(embedded)
        back, _ = backwards(reverse(embedded, reversal_of(lengths, len(embedded))))
        return torch.cat([there[last, word], back[last, word]], dim=-1)
