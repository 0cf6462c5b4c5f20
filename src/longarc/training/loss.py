"""The loss of a batch: over the configurations of oracle paths, the relations of its arcs, and its tags; with teachers,
also over what they think of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from longarc.configuration import Configuration
from longarc.data.sentence import NO_HEAD
from longarc.data.vocabulary import NOT_KNOWN
from longarc.model.encoder import LENGTHS
from longarc.model.network import Network
from longarc.model.scorers import FactoredScorer, TransitionScores
from longarc.runtime.description import Description
from longarc.training.training_data import Batch
from longarc.transitions import get_system
from longarc.transitions.exploration import ExploredPaths, explore
from longarc.transitions.system import Ints, ScoreTable


@dataclass(frozen=True)
class Explorer:
    """How to find paths that follow the model's own choices; see transitions.exploration."""

    description: Description
    probability: float
    rng: np.random.Generator

    def paths(self, lengths: Ints, gold: Ints, scores: ScoreTable) -> Iterator[tuple[Ints, ExploredPaths]]:
        """Yield rows of the batch and their paths. Trees that break the single-root rule are explored without it."""
        system, single_root = get_system(self.description.system), self.description.single_root
        keeps_rule = ((gold == 0).sum(axis=1) == 1) & single_root
        for value in (True, False):
            rows = np.flatnonzero(keeps_rule == value)
            if len(rows):
                parts: dict[str, Any] = {name: array[rows] for name, array in scores.arrays.items()}
                yield (
                    rows,
                    explore(
                        system,
                        lengths[rows],
                        gold[rows],
                        ScoreTable(**parts),
                        single_root=value,
                        probability=self.probability,
                        rng=self.rng,
                    ),
                )


def transition_loss(scores: TransitionScores, batch: Batch) -> Tensor:
    """Return the sum over configurations of −log p(correct transition), p over Shift and all legal arcs and labels."""
    rows = scores.flat(torch.logsumexp(scores.arcs, dim=2))
    normaliser = segment_logsumexp(rows.view(-1)[batch.legal], batch.configuration, len(batch.chosen))
    arcs = _arc_scores(scores, batch.arc_sentences, batch.arc_heads, batch.arc_dependents, batch.arc_relations).sum()
    others = scores.target(rows).view(-1)[batch.chosen[~batch.is_arc]].sum()
    return normaliser.sum() - arcs - others


def explored_loss(scores: TransitionScores, batch: Batch, explorer: Explorer) -> Tensor:
    """Return the sum over the configurations of explored paths of −log p(any correct transition)."""
    rows = scores.flat(torch.logsumexp(scores.arcs, dim=2))
    flat, target, width = rows.view(-1), scores.target(rows).view(-1), rows.shape[1]
    count, nodes = len(rows), scores.arcs.shape[-1]
    gold, relations = np.full((count, nodes), NO_HEAD, dtype=np.int64), np.zeros((count, nodes), dtype=np.int64)
    arcs = batch.arc_sentences.cpu().numpy(), batch.arc_dependents.cpu().numpy()
    gold[arcs], relations[arcs] = batch.arc_heads.cpu().numpy(), batch.arc_relations.cpu().numpy()
    lengths = batch.arrays[LENGTHS].cpu().numpy().astype(np.int64) - 1
    loss = torch.zeros((), device=rows.device)

    def tensor(array: Ints) -> Tensor:
        return torch.from_numpy(array).to(rows.device)

    for members, paths in explorer.paths(lengths, gold, scores.table()):
        sentences, size = members[paths.sentences], len(paths.sentences)
        legal = tensor(paths.legal + width * sentences[paths.legal_of])
        normaliser = segment_logsumexp(flat[legal], tensor(paths.legal_of), size)
        is_arc = paths.correct < nodes * nodes
        owners = sentences[paths.correct_of]
        heads, dependents = np.divmod(paths.correct[is_arc], nodes)
        arc_owners = owners[is_arc]
        indices = (arc_owners, heads, dependents, relations[arc_owners, dependents])
        others = tensor(paths.correct[~is_arc] + width * owners[~is_arc])
        values = torch.cat([_arc_scores(scores, *map(tensor, indices)), target[others]])
        segments = tensor(np.concatenate([paths.correct_of[is_arc], paths.correct_of[~is_arc]]))
        loss = loss + normaliser.sum() - segment_logsumexp(values, segments, size).sum()
    return loss


def _arc_scores(
    scores: TransitionScores, sentences: Tensor, heads: Tensor, dependents: Tensor, relations: Tensor
) -> Tensor:
    """[arcs] Return the scores of arcs with these relations, if relations are scored together with arcs."""
    count, nodes = scores.arcs.shape[2:]
    relation = relations if count > 1 else 0
    return scores.arcs.reshape(-1)[((sentences * nodes + heads) * count + relation) * nodes + dependents]


def arc_relation_logits(scorer: FactoredScorer, scores: TransitionScores, batch: Batch) -> Tensor:
    """[arcs, relations] Return the scores of the relations of the oracle's arcs."""
    assert scores.relation_heads is not None and scores.relation_dependents is not None
    heads = scores.relation_heads[batch.arc_sentences, batch.arc_heads]
    dependents = scores.relation_dependents[batch.arc_sentences, batch.arc_dependents]
    return scorer.relation_logits(heads, dependents)


def head_loss(scores: TransitionScores, batch: Batch) -> Tensor:
    """Return the sum over the oracle's arcs of −log p(head), p over all other nodes of the sentence."""
    arcs = torch.logsumexp(scores.arcs, dim=2)[batch.arc_sentences, :, batch.arc_dependents]
    nodes = torch.arange(arcs.shape[1], device=arcs.device)
    is_head = nodes < batch.arrays[LENGTHS][batch.arc_sentences].unsqueeze(1)
    is_head &= nodes != batch.arc_dependents.unsqueeze(1)
    return cross_entropy(arcs.masked_fill(~is_head, -torch.inf), batch.arc_heads, reduction="sum")


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


def soft_transition_loss(scores: TransitionScores, batch: Batch) -> Tensor:
    """Return the sum over configurations of the cross entropy between the teachers' distribution over legal transitions
    and the model's."""
    rows = scores.flat(torch.logsumexp(scores.arcs, dim=2)).view(-1)[batch.legal]
    targets = batch.soft["transitions"].view(-1)[batch.legal]

    def log_probabilities(values: Tensor) -> Tensor:
        normaliser = segment_logsumexp(values, batch.configuration, len(batch.chosen))
        return values - normaliser[batch.configuration]

    return -(torch.exp(log_probabilities(targets)) * log_probabilities(rows)).sum()


def soft_label_loss(logits: Tensor, batch: Batch, name: str) -> Tensor:
    """Return the sum over words of the cross entropy between the teachers' distribution over labels and the model's."""
    numbers, probabilities = (batch.soft[f"{name}_{part}"] for part in ("numbers", "probabilities"))
    return -(torch.log_softmax(logits, dim=-1).gather(-1, numbers) * probabilities).sum()


def batch_loss(
    network: Network, batch: Batch, configuration: Configuration, explorer: Explorer | None = None
) -> Tensor:
    """Return the weighted sum of all losses of a batch; without an explorer, paths are those of the static oracle.

    With teachers, each part is the weighted mean of the loss of the treebank's labels and of that of the teachers'.
    """
    output = network(batch.arrays)
    scores, share = output.transitions, configuration.teacher_weight

    def mean(hard: Tensor, soft: Callable[[], Tensor]) -> Tensor:
        return (1 - share) * hard + share * soft() if batch.soft else hard

    paths_loss = transition_loss(scores, batch) if explorer is None else explored_loss(scores, batch, explorer)
    loss = configuration.transition_weight * mean(paths_loss, lambda: soft_transition_loss(scores, batch))
    if isinstance(network.scorer, FactoredScorer):
        relations = arc_relation_logits(network.scorer, scores, batch)
        hard = cross_entropy(relations, batch.arc_relations, reduction="sum")
        loss = loss + configuration.relation_weight * mean(hard, lambda: soft_label_loss(relations, batch, "relations"))
    if configuration.head_weight:
        loss = loss + configuration.head_weight * head_loss(scores, batch)
    for name, logits in output.columns.items():
        hard = tagging_loss(logits, batch.labels[name])
        is_taught = f"{name}_numbers" in batch.soft
        part = mean(hard, partial(soft_label_loss, logits, batch, name)) if is_taught else hard
        loss = loss + configuration.tag_weight * part
    return loss
