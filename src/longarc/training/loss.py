"""The loss of a batch: over all configurations of its oracle paths, and over its tags, in one expression each."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from longarc.data.vocabulary import NOT_KNOWN
from longarc.model.network import Scores
from longarc.training.examples import Batch


def transition_loss(scores: Scores, batch: Batch) -> Tensor:
    """The sum over configurations of −log p(right transition), p over Shift and all legal arcs with all labels."""
    flat = scores.flat(torch.logsumexp(scores.arcs, dim=2)).view(-1)
    normaliser = segment_logsumexp(flat[batch.legal], batch.configuration, len(batch.chosen))
    arcs = scores.arcs.reshape(-1)[batch.arc_relations].sum()
    others = flat[batch.chosen[~batch.is_arc]].sum()
    return normaliser.sum() - arcs - others


def segment_logsumexp(values: Tensor, segments: Tensor, count: int) -> Tensor:
    """[count] the log of the sum of exponentials of the values in each segment; no segment may be empty."""
    largest = torch.full((count,), -torch.inf).scatter_reduce(0, segments, values.detach(), "amax")
    total = torch.zeros(count).index_add(0, segments, torch.exp(values - largest[segments]))
    return largest + torch.log(total)


def tagging_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """The sum over words of −log p(right tag); what has no tag that the model knows does not count."""
    return cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=NOT_KNOWN, reduction="sum")


def batch_loss(scores: Scores, batch: Batch) -> Tensor:
    """Transitions and tags together, the mean over sentences."""
    loss = transition_loss(scores, batch) + tagging_loss(scores.tags, batch.tags)
    if scores.fine_tags is not None:
        loss = loss + tagging_loss(scores.fine_tags, batch.fine_tags)
    return loss / len(batch.lengths)
