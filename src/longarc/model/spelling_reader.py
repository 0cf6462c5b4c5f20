"""Vectors of words from their characters and from the fixed vectors of their pieces."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from longarc.configuration import Configuration
from longarc.model.bilstm import BiLSTM
from longarc.model.graph_writer import FLOAT, INT32, INT64, GraphWriter
from longarc.runtime.spelled_words import SpelledWords

SMALLEST_WEIGHT = 1e-6
"""Added to the divisor, which is 0 for words without pieces."""


class SpellingReader(nn.Module):
    """Represents a word by its characters, its pieces, or both."""

    def __init__(self, configuration: Configuration, words: SpelledWords) -> None:
        super().__init__()
        self.characters = self.pieces = None
        self.width = 0
        if words.characters is not None:
            self.characters = CharacterBiLSTM(configuration, len(words.characters))
            self.width += 2 * configuration.spelling_size
        if words.pieces is not None:
            self.pieces = PiecePooling(configuration, len(words.pieces))
            self.width += configuration.piece_dimensions

    def forward(self, arrays: dict[str, Tensor]) -> Tensor:
        """Return [words, width]; `arrays` is what SpelledWords.spell returned, as tensors."""
        return torch.cat([part(arrays) for part in (self.characters, self.pieces) if part is not None], dim=-1)

    def export(self) -> bytes:
        """Return the graph from what SpelledWords.spell returns to `spelled` [words, width]."""
        g = GraphWriter()
        parts = [part.export(g) for part in (self.characters, self.pieces) if part is not None]
        g.add("Concat", *parts, axis=-1, output=g.output("spelled", FLOAT, "words", self.width))
        return g.serialize()


class CharacterBiLSTM(nn.Module):
    """Represents a word by the final states of a BiLSTM over its characters."""

    def __init__(self, configuration: Configuration, characters: int) -> None:
        super().__init__()
        self.table = nn.Embedding(characters, configuration.character_dimensions)
        self.lstm = BiLSTM(configuration.character_dimensions, configuration.spelling_size, 1)

    def forward(self, arrays: dict[str, Tensor]) -> Tensor:
        """Return [words, 2 · spelling_size]."""
        return self.lstm.final_states(self.table(arrays["characters"]), arrays["character_counts"])

    def export(self, g: GraphWriter) -> str:
        characters = g.input("characters", INT64, "longest", "words")
        counts = g.input("character_counts", INT32, "words")
        embedded = g.add("Gather", g.constant(self.table.weight), characters, axis=0)
        return self.lstm.export_final_states(g, embedded, counts)


class PiecePooling(nn.Module):
    """Represents a word by the fixed vectors of its pieces, pooled and projected; see Configuration.piece_pooling."""

    table: Tensor

    def __init__(self, configuration: Configuration, pieces: int) -> None:
        super().__init__()
        width = configuration.piece_vector_dimensions
        self.pooling = configuration.piece_pooling
        self.register_buffer("table", torch.zeros(pieces, width))
        if self.pooling == "weighted":
            self.weights = nn.Parameter(torch.zeros(pieces))
        inputs = 3 * width if self.pooling == "ends" else width
        self.projection = nn.Linear(inputs, configuration.piece_dimensions)

    def forward(self, arrays: dict[str, Tensor]) -> Tensor:
        """Return [words, width]."""
        pieces, counts = arrays["pieces"], arrays["piece_counts"]
        vectors = nn.functional.embedding(pieces, self.table)
        if self.pooling == "weighted":
            weights = self._positive_weights()[pieces].unsqueeze(-1)
            pooled = (vectors * weights).sum(dim=0) / (weights.sum(dim=0) + SMALLEST_WEIGHT)
        else:
            pooled = vectors.sum(dim=0) / counts.unsqueeze(-1)
        if self.pooling == "ends":
            last = vectors[counts.long() - 1, torch.arange(len(counts), device=counts.device)]
            pooled = torch.cat([pooled, vectors[0], last], dim=-1)
        projected: Tensor = self.projection(pooled)
        return projected

    def _positive_weights(self) -> Tensor:
        """Return the weight of each piece; padding weighs nothing."""
        return torch.cat([torch.zeros(1, device=self.weights.device), self.weights[1:].exp()])

    def export(self, g: GraphWriter) -> str:
        pieces = g.input("pieces", INT64, "most_pieces", "words")
        counts = g.input("piece_counts", INT32, "words")
        vectors = g.add("Gather", g.constant(self.table), pieces, axis=0)
        if self.pooling == "weighted":
            weights = g.add("Gather", g.constant(self._positive_weights().unsqueeze(-1)), pieces, axis=0)
            total = g.add("ReduceSum", g.add("Mul", vectors, weights), g.shape(0), keepdims=0)
            smallest = g.constant(np.array(SMALLEST_WEIGHT, dtype=np.float32))
            divisor = g.add("Add", g.add("ReduceSum", weights, g.shape(0), keepdims=0), smallest)
        else:
            total = g.add("ReduceSum", vectors, g.shape(0), keepdims=0)
            divisor = g.add("Unsqueeze", g.add("Cast", counts, to=FLOAT), g.shape(1))
        pooled = g.add("Div", total, divisor)
        if self.pooling == "ends":
            first = g.add("Squeeze", g.add("Gather", vectors, g.shape(0), axis=0), g.shape(0))
            pooled = g.add("Concat", pooled, first, self._export_last(g, vectors, pieces), axis=-1)
        return g.linear(pooled, self.projection)

    def _export_last(self, g: GraphWriter, vectors: str, pieces: str) -> str:
        """Add the vector of each word's last piece, the one that only padding follows: [words, width]."""
        is_piece = torch.ones(len(self.table), 1)
        is_piece[0] = 0
        here = g.add("Gather", g.constant(is_piece), pieces, axis=0)
        after = g.add("Slice", g.pad(here, [0, 0, 0, 1, 0, 0]), g.shape(1), g.shape(1 << 16), g.shape(0))
        return g.add("ReduceSum", g.add("Mul", vectors, g.add("Sub", here, after)), g.shape(0), keepdims=0)
