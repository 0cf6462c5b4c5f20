"""Vectors of words from their characters and from the fixed vectors of their pieces."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from longarc.configuration import Configuration
from longarc.model.bilstm import BiLSTM
from longarc.model.graph_writer import FLOAT, INT32, INT64, GraphWriter
from longarc.runtime.spelled_words import SpelledWords


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
            self.pieces = PieceMean(configuration, len(words.pieces))
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


class PieceMean(nn.Module):
    """Represents a word by the mean of its pieces' fixed vectors, projected."""

    table: Tensor

    def __init__(self, configuration: Configuration, pieces: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(pieces, configuration.piece_vector_dimensions))
        self.projection = nn.Linear(configuration.piece_vector_dimensions, configuration.piece_dimensions)

    def forward(self, arrays: dict[str, Tensor]) -> Tensor:
        """Return [words, width]."""
        total = nn.functional.embedding(arrays["pieces"], self.table).sum(dim=0)
        projected: Tensor = self.projection(total / arrays["piece_counts"].unsqueeze(-1))
        return projected

    def export(self, g: GraphWriter) -> str:
        pieces = g.input("pieces", INT64, "most_pieces", "words")
        counts = g.add("Cast", g.input("piece_counts", INT32, "words"), to=FLOAT)
        total = g.add("ReduceSum", g.add("Gather", g.constant(self.table), pieces, axis=0), g.shape(0), keepdims=0)
        return g.linear(g.add("Div", total, g.add("Unsqueeze", counts, g.shape(1))), self.projection)
