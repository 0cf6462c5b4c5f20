"""From the parser's BiLSTM to the scores of all transitions, in two ways.

`JointScorer` is the paper's: each arc has a score for each relation, and transitions with different relations compete.
`FactoredScorer` has one score for each arc, and relations compete for the arcs that were chosen: memory does not grow
with their number, and head and dependent vectors can be much wider for the same work.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from longarc.model.biaffine import Biaffine
from longarc.model.bilstm import SharedDropout
from longarc.model.size import NetworkSize


@dataclass(frozen=True)
class TransitionScores:
    """What the network says of a batch's transitions; N nodes, R relations."""

    arcs: Tensor
    """[batch, N head, R, N dependent]; R is 1 where relations are scored apart"""
    shift: Tensor
    """[batch, N]"""
    reduce: Tensor | None
    """[batch, N]"""
    no_arc: Tensor | None
    """[batch, N left, N right]"""
    relation_heads: Tensor | None = None
    """[batch, N, relation_dimensions] what relations are scored by, where that is done apart"""
    relation_dependents: Tensor | None = None

    def flat(self, arcs: Tensor) -> Tensor:
        """[batch, width] the scores in the order of ScoreLayout, with one score per arc [batch, N, N]."""
        batch, nodes = self.shift.shape
        parts = [arcs.reshape(batch, nodes * nodes), self.shift]
        if self.no_arc is not None:
            parts += [torch.zeros_like(self.shift), self.no_arc.reshape(batch, nodes * nodes)]
        elif self.reduce is not None:
            parts.append(self.reduce)
        return torch.cat(parts, dim=1)


class JointScorer(nn.Module):
    """Qi & Manning's (2017): a biaffine layer, a rectifier, and a linear layer for relations (and No-Arc)."""

    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        self.size = size
        self.merge = nn.Linear(2 * size.lstm_size, size.merge_dimensions)
        self.head = nn.Linear(size.merge_dimensions, size.pair_dimensions)
        self.dependent = nn.Linear(size.merge_dimensions, size.pair_dimensions)
        self.pairs = Biaffine(size.pair_dimensions, size.pair_dimensions)
        self.relations = nn.Linear(size.pair_dimensions, size.relations + size.has_no_arc)
        self.shift = Biaffine(size.pair_dimensions, 1)
        self.reduce = Biaffine(size.pair_dimensions, 1) if size.has_reduce else None
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, read: Tensor) -> TransitionScores:
        """read: [N, batch, 2 · lstm_size]"""
        merged = self.dropout(torch.relu(self.merge(read))).transpose(0, 1)
        head = self.dropout(torch.relu(self.head(merged)))
        dependent = self.dropout(torch.relu(self.dependent(merged)))
        combined = self.dropout(torch.relu(self.pairs.pairs(head, dependent)))
        arcs = self.relations.weight @ combined + self.relations.bias.unsqueeze(-1)
        no_arc = None
        if self.size.has_no_arc:
            arcs, no_arc = arcs[:, :, :-1], arcs[:, :, -1]
        return TransitionScores(
            arcs=arcs,
            shift=self.shift.diagonal(head, dependent).squeeze(-1),
            reduce=None if self.reduce is None else self.reduce.diagonal(head, dependent).squeeze(-1),
            no_arc=no_arc,
        )


class FactoredScorer(nn.Module):
    """Dozat & Manning's (2017), for transitions: one biaffine layer for arcs, another for the relations of arcs."""

    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        self.size = size
        self.head = nn.Linear(2 * size.lstm_size, size.pair_dimensions)
        self.dependent = nn.Linear(2 * size.lstm_size, size.pair_dimensions)
        self.pairs = Biaffine(size.pair_dimensions, 1 + size.has_no_arc)
        self.shift = Biaffine(size.pair_dimensions, 1)
        self.reduce = Biaffine(size.pair_dimensions, 1) if size.has_reduce else None
        self.relation_head = nn.Linear(2 * size.lstm_size, size.relation_dimensions)
        self.relation_dependent = nn.Linear(2 * size.lstm_size, size.relation_dimensions)
        self.relations = Biaffine(size.relation_dimensions, size.relations)
        self.dropout = SharedDropout(size.dropout)

    def forward(self, read: Tensor) -> TransitionScores:
        """read: [N, batch, 2 · lstm_size]"""
        head, dependent, relation_head, relation_dependent = (
            self.dropout(torch.relu(layer(read))).transpose(0, 1)
            for layer in (self.head, self.dependent, self.relation_head, self.relation_dependent)
        )
        pairs = self.pairs.pairs(head, dependent)
        return TransitionScores(
            arcs=pairs[:, :, :1],
            shift=self.shift.diagonal(head, dependent).squeeze(-1),
            reduce=None if self.reduce is None else self.reduce.diagonal(head, dependent).squeeze(-1),
            no_arc=pairs[:, :, 1] if self.size.has_no_arc else None,
            relation_heads=relation_head,
            relation_dependents=relation_dependent,
        )

    def relation_logits(self, heads: Tensor, dependents: Tensor) -> Tensor:
        """[arcs, relations] for arcs whose words have these vectors [arcs, relation_dimensions]."""
        return self.relations.diagonal(heads, dependents)
