"""The network of Qi & Manning (2017) and Fernández-González & Gómez-Rodríguez (2018), with extensions: an encoder, a
tagger, a BiLSTM parser on top of both, and the scores of all transitions at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from longarc.configuration import Configuration
from longarc.data.columns import Column
from longarc.model.biaffine import normal_
from longarc.model.bilstm import BiLSTM, reversal_of
from longarc.model.decoder import Decoder
from longarc.model.encoder import LENGTHS
from longarc.model.encoders import ENCODERS
from longarc.model.graph_writer import FLOAT, INT64, GraphWriter
from longarc.model.scorers import FactoredScorer, JointScorer, TransitionScores
from longarc.runtime.description import Description
from longarc.runtime.features import MAIN
from longarc.runtime.model_file import RELATIONS
from longarc.runtime.session import logits_of


@dataclass(frozen=True)
class NetworkOutput:
    """The scores of a batch."""

    transitions: TransitionScores
    columns: dict[str, Tensor]
    """[batch, N, labels] the logits of each predicted column"""


class Tagger(nn.Module):
    """From the encoder's vectors to the logits of one column and, if the parser reads it, their expected embedding."""

    def __init__(self, configuration: Configuration, column: Column) -> None:
        super().__init__()
        labels, merge = len(column.labels), configuration.merge_dimensions
        width = configuration.tag_dimensions if column.is_input else merge
        self.hidden = nn.Linear(merge, width)
        self.logits = nn.Linear(width, labels)
        self.table = nn.Parameter(normal_(torch.empty(labels, width), 1.0)) if column.is_input else None
        self.dropout = nn.Dropout(configuration.dropout)

    def forward(self, merged: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return logits [N, batch, labels] and the expected embedding, if any. merged: [N, batch, merge_dimensions]."""
        logits = self.logits(self.dropout(torch.relu(self.hidden(merged))))
        return logits, [] if self.table is None else [torch.softmax(logits, dim=-1) @ self.table]

    def export(self, g: GraphWriter, merged: str, column: str) -> list[str]:
        """Add the outputs: logits and best labels. Return the expected embedding [N, batch, tag_dimensions], if any."""
        output = g.output(logits_of(column), FLOAT, "nodes", "batch", self.logits.out_features)
        logits = g.linear(g.linear(merged, self.hidden, relu=True), self.logits, output=output)
        best = g.add("ArgMax", logits, axis=-1, keepdims=0)
        g.add("Transpose", best, perm=[1, 0], output=g.output(column, INT64, "batch", "nodes"))
        if self.table is None:
            return []
        return [g.add("MatMul", g.add("Softmax", logits, axis=-1), g.constant(self.table))]


class Network(nn.Module):
    """Words in, scores of all transitions out."""

    def __init__(self, configuration: Configuration, description: Description) -> None:
        super().__init__()
        size, merge = configuration.lstm_size, configuration.merge_dimensions
        self.reads_lexical = configuration.parser_input == "words"
        self.encoder = ENCODERS[configuration.encoder](configuration, description.features)
        self.tagger_merge = nn.Linear(self.encoder.width, merge)
        self.taggers = nn.ModuleDict(
            {name: Tagger(configuration, column) for name, column in description.columns.items()}
        )
        width = self.encoder.lexical_width if self.reads_lexical else self.encoder.width
        width += configuration.tag_dimensions * sum(column.is_input for column in description.columns.values())
        layers = configuration.lstm_layers
        self.parser_lstm = BiLSTM(width, size, layers, configuration.lstm_dropout) if layers else None
        width = 2 * size if layers else width
        decoder_size = configuration.decoder_size
        self.decoder = Decoder(width, decoder_size, configuration.lstm_dropout) if decoder_size else None
        scorer = FactoredScorer if configuration.relation_dimensions else JointScorer
        self.scorer = scorer(configuration, description, width)
        self.dropout = nn.Dropout(configuration.dropout)
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                normal_(layer.weight.data, layer.in_features**-0.5)
                nn.init.zeros_(layer.bias)
        merges = [self.tagger_merge, *([self.scorer.merge] if isinstance(self.scorer, JointScorer) else [])]
        for layer in merges:
            normal_(layer.weight.data, (2 / (size + merge)) ** 0.5)

    def forward(self, arrays: dict[str, Tensor]) -> NetworkOutput:
        """Score a batch; `arrays` is what the featurizer returned, as tensors."""
        encoded = self.encoder(arrays)
        merged = self.dropout(torch.relu(self.tagger_merge(encoded.contextual)))
        parts = [encoded.lexical if self.reads_lexical else encoded.contextual]
        columns = {}
        for name, tagger in self.taggers.items():
            logits, embeddings = tagger(merged)
            columns[name] = logits.transpose(0, 1)
            parts += embeddings
        vectors = torch.cat(parts, dim=-1)
        if self.parser_lstm is not None:
            vectors = self.parser_lstm(vectors, reversal_of(arrays[LENGTHS], len(merged)))
        decoded = vectors if self.decoder is None else self.decoder(vectors, arrays[LENGTHS])
        return NetworkOutput(self.scorer(vectors, decoded), columns)

    def export(self, relation_mask: NDArray[np.float32]) -> dict[str, bytes]:
        """Return the graphs of the network by name; see runtime.session.Session for their inputs and outputs.

        relation_mask [2, relations] is added to relation scores: row 0 for arcs from the root, row 1 for others.
        """
        self.eval()
        g = GraphWriter()
        encoded = self.encoder.export(g)
        merged = g.linear(encoded.contextual, self.tagger_merge, relu=True)
        parts = [encoded.lexical if self.reads_lexical else encoded.contextual]
        for name, tagger in self.taggers.items():
            assert isinstance(tagger, Tagger)
            parts += tagger.export(g, merged, name)
        vectors = g.add("Concat", *parts, axis=-1)
        if self.parser_lstm is not None:
            vectors = self.parser_lstm.export(g, vectors, LENGTHS)
        decoded = vectors if self.decoder is None else self.decoder.export(g, vectors, LENGTHS)
        self.scorer.export(g, vectors, decoded, relation_mask)
        return {
            MAIN: g.serialize(),
            **self.encoder.export_graphs(),
            RELATIONS: self.scorer.export_relations(relation_mask),
        }
