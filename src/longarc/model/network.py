"""The network of Qi & Manning (2017) and Fernández-González & Gómez-Rodríguez (2018), and what can be added to it: a
BiLSTM tagger, a BiLSTM parser on top of it, and the scores of all transitions of all configurations at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from longarc.data.vocabulary import UNKNOWN
from longarc.model.biaffine import normal_
from longarc.model.bilstm import BiLSTM, reversal_of
from longarc.model.scorers import FactoredScorer, JointScorer, TransitionScores
from longarc.model.size import NetworkSize
from longarc.model.spelling import SpellingReader


@dataclass(frozen=True)
class Inputs:
    """A batch as the network reads it."""

    words: Tensor
    """[batch, N]; padded with UNKNOWN"""
    lengths: Tensor
    """[batch] nodes, the root included"""
    spellings: Tensor | None = None
    """[batch, N] which row of `characters` each word is; None where words are not spelled"""
    characters: Tensor | None = None
    """[different words, longest]"""
    character_counts: Tensor | None = None
    """[different words]"""


@dataclass(frozen=True)
class Scores:
    """What the network says of a batch."""

    transitions: TransitionScores
    tags: dict[str, Tensor]
    """[batch, N, values] of each predicted column"""


class WordEmbedding(nn.Module):
    """Fixed vectors plus a trained difference for the words of the training data."""

    fixed: Tensor

    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        self.register_buffer("fixed", torch.zeros(size.words, size.word_dimensions))
        self.trained = nn.Parameter(torch.zeros(size.trained_words, size.word_dimensions))

    def forward(self, words: Tensor) -> Tensor:
        count = len(self.trained)
        difference = nn.functional.embedding(words.clamp(max=count - 1), self.trained)
        if count < len(self.fixed):
            difference = difference * (words < count).unsqueeze(-1)
        return nn.functional.embedding(words, self.fixed) + difference


class Tagger(nn.Module):
    """From the tagger's BiLSTM to tag logits and the expected tag embedding."""

    def __init__(self, size: NetworkSize, tags: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(size.merge_dimensions, size.tag_dimensions)
        self.logits = nn.Linear(size.tag_dimensions, tags)
        self.table = nn.Parameter(normal_(torch.empty(tags, size.tag_dimensions), 1.0))
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, merged: Tensor) -> tuple[Tensor, Tensor]:
        """merged: [N, batch, merge]. Gives logits [N, batch, tags] and embeddings [N, batch, tag_dimensions]."""
        logits = self.logits(self.dropout(torch.relu(self.hidden(merged))))
        return logits, torch.softmax(logits, dim=-1) @ self.table


class Network(nn.Module):
    """Words in, scores of all transitions out."""

    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        self.size = size
        both = 2 * size.lstm_size
        self.embedding = WordEmbedding(size)
        self.spelling = (
            SpellingReader(size.characters, size.character_dimensions, size.spelling_size) if size.characters else None
        )
        word_width = size.word_dimensions + (2 * size.spelling_size if size.characters else 0)
        self.tagger_lstm = BiLSTM(word_width, size.lstm_size, size.tagger_layers, size.lstm_dropout)
        self.tagger_merge = nn.Linear(both, size.merge_dimensions)
        self.taggers = nn.ModuleDict({name: Tagger(size, count) for name, count in size.tags.items()})
        below = (word_width if size.parser_reads_words else both) + size.tag_dimensions * len(size.tags)
        self.parser_lstm = BiLSTM(below, size.lstm_size, size.lstm_layers, size.lstm_dropout)
        self.scorer = FactoredScorer(size) if size.relation_dimensions else JointScorer(size)
        self.dropout = nn.Dropout(size.dropout)
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                normal_(layer.weight.data, layer.in_features**-0.5)
                nn.init.zeros_(layer.bias)
        merges = [self.tagger_merge, *([self.scorer.merge] if isinstance(self.scorer, JointScorer) else [])]
        for merge in merges:
            normal_(merge.weight.data, (2 / (size.lstm_size + size.merge_dimensions)) ** 0.5)

    def forward(self, inputs: Inputs) -> Scores:
        """Scores everything there is to score of a batch."""
        words = inputs.words
        if self.training and self.size.word_dropout:
            hidden = torch.rand(words.shape) < self.size.word_dropout
            hidden[:, 0] = False
            words = words.masked_fill(hidden, UNKNOWN)
        reversal = reversal_of(inputs.lengths, words.shape[1])
        embedded = self.embedding(words.T)
        if self.spelling is not None:
            assert inputs.spellings is not None
            spelled = self.spelling(inputs.characters, inputs.character_counts)
            embedded = torch.cat([embedded, nn.functional.embedding(inputs.spellings.T, spelled)], dim=-1)
        read = self.tagger_lstm(embedded, reversal)
        merged = self.dropout(torch.relu(self.tagger_merge(read)))
        below = [embedded if self.size.parser_reads_words else read]
        tags = {}
        for name, tagger in self.taggers.items():
            logits, embeddings = tagger(merged)
            tags[name] = logits.transpose(0, 1)
            below.append(embeddings)
        parsed = self.parser_lstm(torch.cat(below, dim=-1), reversal)
        return Scores(self.scorer(parsed), tags)
