"""The loss of a batch: over all configurations of its oracle paths, over the relations of arcs where they are scored
apart, and over its tags, in one expression each.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from longarc.data.vocabulary import NOT_KNOWN
from longarc.model.network import Network
from longarc.model.scorers import FactoredScorer, TransitionScores
from longarc.training.examples import Batch


def transition_loss(scores: TransitionScores, batch: Batch) -> Tensor:
    """The sum over configurations of −log p(right transition), p over Shift and all legal arcs with all labels."""
    flat = scores.flat(torch.logsumexp(scores.arcs, dim=2)).view(-1)
    normaliser = segment_logsumexp(flat[batch.legal], batch.configuration, len(batch.chosen))
    relations, nodes = scores.arcs.shape[2:]
    relation = batch.arc_relations if relations > 1 else 0
    place = ((batch.arc_sentences * nodes + batch.arc_heads) * relations + relation) * nodes + batch.arc_dependents
    arcs = scores.arcs.reshape(-1)[place].sum()
    others = flat[batch.chosen[~batch.is_arc]].sum()
    return normaliser.sum() - arcs - others


def relation_loss(scorer: FactoredScorer, scores: TransitionScores, batch: Batch) -> Tensor:
    """The sum over the oracle's arcs of −log p(right relation)."""
    assert scores.relation_heads is not None and scores.relation_dependents is not None
    heads = scores.relation_heads[batch.arc_sentences, batch.arc_heads]
    dependents = scores.relation_dependents[batch.arc_sentences, batch.arc_dependents]
    return cross_entropy(scorer.relation_logits(heads, dependents), batch.arc_relations, reduction="sum")


def segment_logsumexp(values: Tensor, segments: Tensor, count: int) -> Tensor:
    """[count] the log of the sum of exponentials of the values in each segment; no segment may be empty."""
    largest = torch.full((count,), -torch.inf).scatter_reduce(0, segments, values.detach(), "amax")
    total = torch.zeros(count).index_add(0, segments, torch.exp(values - largest[segments]))
    return largest + torch.log(total)


def tagging_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """The sum over words of −log p(right tag); what has no tag that the model knows does not count."""
    return cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=NOT_KNOWN, reduction="sum")


def batch_loss(network: Network, batch: Batch) -> Tensor:
    """All of them together, summed over the batch."""
    scores = network(batch.inputs)
    loss = transition_loss(scores.transitions, batch)
    if isinstance(network.scorer, FactoredScorer):
        loss = loss + relation_loss(network.scorer, scores.transitions, batch)
    for name, logits in scores.tags.items():
        loss = loss + tagging_loss(logits, batch.tags[name])
    return loss
