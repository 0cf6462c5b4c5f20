"""The encoder `transformer`: a pretrained transformer over the pieces of words, and characters if configured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from longarc.configuration import Configuration
from longarc.data.sentence import Sentence
from longarc.data.spelling import Characters
from longarc.errors import LongarcError
from longarc.model.bilstm import SharedDropout
from longarc.model.encoder import LENGTHS, Encoded, Encoder, Pretrained
from longarc.model.graph_writer import FLOAT, INT32, INT64, GraphWriter
from longarc.model.pretrained_encoder import PretrainedTransformer, read_pretrained_encoder
from longarc.model.spelling_reader import SpellingReader
from longarc.model.tables import with_8_bit_table
from longarc.model.transformer import Transformer
from longarc.runtime.features import MAIN, Featurizer
from longarc.runtime.model_file import ModelFile
from longarc.runtime.spelled_words import SPELLING, SpelledWords
from longarc.runtime.transformer_features import TransformerFeatures


class TransformerEncoder(Encoder):
    """Pieces and characters in; contextual vectors out."""

    def __init__(self, configuration: Configuration, features: Featurizer) -> None:
        super().__init__(configuration, features)
        assert isinstance(features, TransformerFeatures)
        architecture = features.architecture
        self.pooling = configuration.pooling
        self.precision = getattr(torch, configuration.encoder_precision)
        self.transformer = Transformer(architecture, len(features.tokenizer), configuration.encoder_dropout)
        self.transformer.pieces.weight.requires_grad_(configuration.train_pieces)
        self.mix = nn.Parameter(torch.zeros(architecture.layers + 1))
        """A weight for each layer, before the softmax"""
        self.spelling = SpellingReader(configuration, features.spelling) if features.graphs else None
        self.dropout = SharedDropout(configuration.lstm_dropout)
        self.width = self.lexical_width = architecture.width + (self.spelling.width if self.spelling else 0)

    @classmethod
    def build(
        cls, configuration: Configuration, train: Sequence[Sentence], dev: Sequence[Sentence], files: Sequence[Path]
    ) -> tuple[Configuration, TransformerFeatures, PretrainedTransformer]:
        """`files`: the folder of the encoder."""
        if len(files) != 1:
            hint = "Give the folder of a pretrained encoder with --encoder, and no vectors."
            raise LongarcError(f"the preset transformer needs one pretrained encoder, not {len(files) or 'none'}", hint)
        pretrained = read_pretrained_encoder(files[0], configuration.encoder_layers)
        forms = {form for sentence in (*train, *dev) for form in sentence.forms}
        pretrained = pretrained.restricted(*pretrained.tokenizer.restricted(sorted(forms), configuration.pieces_limit))
        trained_forms = {form for sentence in train for form in sentence.forms}
        characters = Characters.of_words(trained_forms) if configuration.spelling_size else None
        features = TransformerFeatures(
            pretrained.architecture, pretrained.tokenizer, SpelledWords(characters, pieces=None)
        )
        return configuration, features, pretrained

    def initialise(self, pretrained: Pretrained, seed: int) -> None:
        assert isinstance(pretrained, PretrainedTransformer)
        self.transformer.load_state_dict(pretrained.weights)

    def pretrained_parameters(self) -> Iterable[nn.Parameter]:
        return self.transformer.parameters()

    def forward(self, arrays: dict[str, Tensor]) -> Encoded[Tensor]:
        is_lower = self.training and self.precision != torch.float32
        with torch.autocast(self.mix.device.type, torch.bfloat16, enabled=is_lower):
            layers = self.transformer(arrays)
        mixed = torch.stack([layer.float() for layer in layers], dim=-1) @ torch.softmax(self.mix, dim=0)
        starts, ends = arrays["starts"], arrays["ends"]
        if self.pooling == "first":
            vectors = nn.functional.embedding(starts, mixed)
        else:
            sums = nn.functional.pad(mixed, (0, 0, 1, 0)).cumsum(dim=0)
            totals = nn.functional.embedding(ends, sums) - nn.functional.embedding(starts, sums)
            vectors = totals / (ends - starts).unsqueeze(-1)
        if self.spelling is not None:
            spelled = nn.functional.embedding(arrays["spellings"], self.spelling(arrays))
            vectors = torch.cat([vectors, spelled], dim=-1)
        vectors = self.dropout(vectors)
        return Encoded(vectors, vectors)

    def export(self, g: GraphWriter) -> Encoded[str]:
        starts, ends = (g.input(name, INT64, "nodes", "batch") for name in ("starts", "ends"))
        g.input(LENGTHS, INT32, "batch")
        layers = self.transformer.export(g)
        mixed = ""
        for layer, weight in zip(layers, torch.softmax(self.mix.detach(), dim=0), strict=True):
            part = g.add("Mul", layer, g.constant(weight))
            mixed = g.add("Add", mixed, part) if mixed else part
        if self.pooling == "first":
            vectors = g.add("Gather", mixed, starts, axis=0)
        else:
            sums = g.add("CumSum", g.pad(mixed, [1, 0, 0, 0]), g.constant(torch.tensor(0)))
            totals = g.add("Sub", *(g.add("Gather", sums, index, axis=0) for index in (ends, starts)))
            counts = g.add("Cast", g.add("Sub", ends, starts), to=FLOAT)
            vectors = g.add("Div", totals, g.add("Unsqueeze", counts, g.shape(2)))
        if self.spelling is not None:
            spelled = g.input("spelled", FLOAT, "words", self.spelling.width)
            spellings = g.input("spellings", INT64, "nodes", "batch")
            vectors = g.add("Concat", vectors, g.add("Gather", spelled, spellings, axis=0), axis=-1)
        return Encoded(vectors, vectors)

    def export_graphs(self) -> dict[str, bytes]:
        return {} if self.spelling is None else {SPELLING: self.spelling.export()}

    @staticmethod
    def compact(model: ModelFile, most_words: int) -> ModelFile:
        """Store the vectors of pieces in 8 bits with a scale per piece."""
        features = model.description.features
        assert isinstance(features, TransformerFeatures)
        graph = with_8_bit_table(model.graphs[MAIN], "pieces", len(features.tokenizer))
        return replace(model, graphs={**model.graphs, MAIN: graph})
