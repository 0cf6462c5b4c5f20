"""The loss of a batch: over the configurations of its oracle paths, the relations of its arcs, and its tags."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from longarc.data.vocabulary import NOT_KNOWN
from longarc.model.network import Network
from longarc.model.scorers import FactoredScorer, TransitionScores
from longarc.training.training_data import Batch


def transition_loss(scores: TransitionScores, batch: Batch) -> Tensor:
    """Return the sum over configurations of −log p(correct transition), p over Shift and all legal arcs and labels."""
    flat = scores.flat(torch.logsumexp(scores.arcs, dim=2)).view(-1)
    normaliser = segment_logsumexp(flat[batch.legal], batch.configuration, len(batch.chosen))
    relations, nodes = scores.arcs.shape[2:]
    relation = batch.arc_relations if relations > 1 else 0
    index = ((batch.arc_sentences * nodes + batch.arc_heads) * relations + relation) * nodes + batch.arc_dependents
    arcs = scores.arcs.reshape(-1)[index].sum()
    others = flat[batch.chosen[~batch.is_arc]].sum()
    return normaliser.sum() - arcs - others


def relation_loss(scorer: FactoredScorer, scores: TransitionScores, batch: Batch) -> Tensor:
    """Return the sum over the oracle's arcs of −log p(correct relation)."""
    assert scores.relation_heads is not None and scores.relation_dependents is not None
    heads = scores.relation_heads[batch.arc_sentences, batch.arc_heads]
    dependents = scores.relation_dependents[batch.arc_sentences, batch.arc_dependents]
    return cross_entropy(scorer.relation_logits(heads, dependents), batch.arc_relations, reduction="sum")


def segment_logsumexp(values: Tensor, segments: Tensor, count: int) -> Tensor:
    """[count] Return the log-sum-exp of the values in each segment; no segment may be empty."""
    largest = torch.full((count,), -torch.inf, device=values.device).scatter_reduce(
        0, segments, values.detach(), "amax"
    )
    total = torch.zeros(count, device=values.device).index_add(0, segments, torch.exp(values - largest[segments]))
    return largest + torch.log(total)


def tagging_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the sum over words of −log p(correct label); unknown labels do not count."""
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=NOT_KNOWN, reduction="sum")


def batch_loss(network: Network, batch: Batch) -> Tensor:
    """Return all losses of a batch, summed."""
    output = network(batch.arrays)
    loss = transition_loss(output.transitions, batch)
    if isinstance(network.scorer, FactoredScorer):
        loss = loss + relation_loss(network.scorer, output.transitions, batch)
    for name, logits in output.columns.items():
        loss = loss + tagging_loss(logits, batch.labels[name])
    return loss
