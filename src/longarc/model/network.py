"""The network of Qi & Manning (2017) and Fernández-González & Gómez-Rodríguez (2018): a BiLSTM tagger, a BiLSTM parser
on top of it, and biaffine scores for all transitions of all configurations at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from longarc.model.bilstm import BiLSTM, reversal_of


@dataclass(frozen=True)
class NetworkSize:
    """What determines the shapes of the weights."""

    words: int
    trained_words: int
    tags: int
    fine_tags: int
    """0 where fine-grained tags are not used"""
    relations: int
    has_no_arc: bool
    has_reduce: bool
    word_dimensions: int = 100
    lstm_layers: int = 2
    lstm_size: int = 400
    parser_reads_words: bool = False
    tag_dimensions: int = 32
    merge_dimensions: int = 100
    pair_dimensions: int = 32
    dropout: float = 0.0
    word_dropout: float = 0.0


@dataclass(frozen=True)
class Scores:
    """What the network says of a batch; N nodes, R relations."""

    arcs: Tensor
    """[batch, N head, R, N dependent]"""
    shift: Tensor
    """[batch, N]"""
    reduce: Tensor | None
    """[batch, N]"""
    no_arc: Tensor | None
    """[batch, N left, N right]"""
    tags: Tensor
    """[batch, N, tags]"""
    fine_tags: Tensor | None
    """[batch, N, fine tags]"""

    def flat(self, arcs: Tensor) -> Tensor:
        """[batch, width] the scores in the order of ScoreLayout, with one score per arc [batch, N, N]."""
        batch, nodes = self.shift.shape
        parts = [arcs.reshape(batch, nodes * nodes), self.shift]
        if self.no_arc is not None:
            parts += [torch.zeros_like(self.shift), self.no_arc.reshape(batch, nodes * nodes)]
        elif self.reduce is not None:
            parts.append(self.reduce)
        return torch.cat(parts, dim=1)


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


class Biaffine(nn.Module):
    """x W y + U x + V y + b for all pairs of rows of x and y, several outputs at once."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        start = torch.empty(width + 1, outputs, width + 1)
        _normal(start, (2 / (width + outputs)) ** 0.5)
        _normal(start[:-1, :, :-1], (2 / (width * width + outputs)) ** 0.5)
        start[-1, :, -1] = 0
        self.weight = nn.Parameter(start.view(width + 1, outputs * (width + 1)))

    def left(self, x: Tensor) -> Tensor:
        """[batch, N, width] as [batch, N, outputs, width + 1], to be multiplied with the right side."""
        batch, nodes, width = x.shape
        return (_with_one(x) @ self.weight).view(batch, nodes, self.outputs, width + 1)

    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        """[batch, N of x, outputs, N of y]"""
        batch, nodes, _ = x.shape
        product = self.left(x).view(batch, nodes * self.outputs, -1) @ _with_one(y).transpose(1, 2)
        return product.view(batch, nodes, self.outputs, nodes)

    def diagonal(self, x: Tensor, y: Tensor) -> Tensor:
        """[batch, N, outputs] each row of x with the same row of y."""
        return (self.left(x) @ _with_one(y).unsqueeze(-1)).squeeze(-1)


def _normal(tensor: Tensor, deviation: float) -> Tensor:
    """Fills a tensor as the authors' code does: normally distributed, but not beyond two deviations."""
    return nn.init.trunc_normal_(tensor, std=deviation, a=-2 * deviation, b=2 * deviation)


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1)


class Tagger(nn.Module):
    """From the tagger's BiLSTM to tag logits and the expected tag embedding."""

    def __init__(self, size: NetworkSize, tags: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(size.merge_dimensions, size.tag_dimensions)
        self.logits = nn.Linear(size.tag_dimensions, tags)
        self.table = nn.Parameter(_normal(torch.empty(tags, size.tag_dimensions), 1.0))
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
        self.tagger_lstm = BiLSTM(size.word_dimensions, size.lstm_size, size.lstm_layers)
        self.tagger_merge = nn.Linear(both, size.merge_dimensions)
        self.tagger = Tagger(size, size.tags)
        self.fine_tagger = Tagger(size, size.fine_tags) if size.fine_tags else None
        tag_width = size.tag_dimensions * (2 if size.fine_tags else 1)
        below = size.word_dimensions if size.parser_reads_words else both
        self.parser_lstm = BiLSTM(below + tag_width, size.lstm_size, size.lstm_layers)
        self.parser_merge = nn.Linear(both, size.merge_dimensions)
        self.head = nn.Linear(size.merge_dimensions, size.pair_dimensions)
        self.dependent = nn.Linear(size.merge_dimensions, size.pair_dimensions)
        self.pairs = Biaffine(size.pair_dimensions, size.pair_dimensions)
        self.relations = nn.Linear(size.pair_dimensions, size.relations + size.has_no_arc)
        self.shift = Biaffine(size.pair_dimensions, 1)
        self.reduce = Biaffine(size.pair_dimensions, 1) if size.has_reduce else None
        self.dropout = nn.Dropout(size.dropout)
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                _normal(layer.weight.data, layer.in_features**-0.5)
                nn.init.zeros_(layer.bias)
        for merge in (self.tagger_merge, self.parser_merge):
            _normal(merge.weight.data, (2 / (size.lstm_size + size.merge_dimensions)) ** 0.5)

    def forward(self, words: Tensor, lengths: Tensor) -> Scores:
        """words: [batch, N]; lengths: [batch] in nodes."""
        if self.training and self.size.word_dropout:
            hidden = torch.rand(words.shape) < self.size.word_dropout
            hidden[:, 0] = False
            words = words.masked_fill(hidden, 0)
        reversal = reversal_of(lengths, words.shape[1])
        embedded = self.embedding(words.T)
        read = self.tagger_lstm(embedded, reversal)
        merged = self._merge(self.tagger_merge, read)
        tags, tag_embeddings = self.tagger(merged)
        below = [embedded if self.size.parser_reads_words else read, tag_embeddings]
        fine_tags = None
        if self.fine_tagger is not None:
            fine_tags, fine_embeddings = self.fine_tagger(merged)
            below.append(fine_embeddings)
        parsed = self.parser_lstm(torch.cat(below, dim=-1), reversal)
        merged = self._merge(self.parser_merge, parsed).transpose(0, 1)
        head = self.dropout(torch.relu(self.head(merged)))
        dependent = self.dropout(torch.relu(self.dependent(merged)))
        combined = self.dropout(torch.relu(self.pairs.pairs(head, dependent)))
        arcs = self.relations.weight @ combined + self.relations.bias.unsqueeze(-1)
        no_arc = None
        if self.size.has_no_arc:
            arcs, no_arc = arcs[:, :, :-1], arcs[:, :, -1]
        return Scores(
            arcs=arcs,
            shift=self.shift.diagonal(head, dependent).squeeze(-1),
            reduce=None if self.reduce is None else self.reduce.diagonal(head, dependent).squeeze(-1),
            no_arc=no_arc,
            tags=tags.transpose(0, 1),
            fine_tags=None if fine_tags is None else fine_tags.transpose(0, 1),
        )

    def _merge(self, layer: nn.Linear, data: Tensor) -> Tensor:
        merged: Tensor = self.dropout(torch.relu(layer(data)))
        return merged
