"""Parsing with the torch network itself, to compare packaged models with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from longarc import Sentence
from longarc.data.columns import COLUMNS
from longarc.decoding.greedy import parse_greedily
from longarc.model.scorers import FactoredScorer
from longarc.runtime.features import lengths_in_nodes
from longarc.runtime.parser import Parser
from longarc.training.trained_model import TrainedModel
from longarc.transitions import get_system
from longarc.trees.pseudo_projective import deprojectivize


@torch.no_grad()
def parse_with_torch(model: TrainedModel, sentence: Sentence) -> tuple[list[int], list[str], dict[str, list[str]]]:
    """Heads, relations and predicted columns of one sentence, indexed by node."""
    model.network.eval()
    description, system = model.description, get_system(model.description.system)
    arrays = description.features.featurise([sentence.forms])
    output = model.network({name: torch.from_numpy(array) for name, array in arrays.items()})
    scores = output.transitions
    mask = torch.from_numpy(model.relation_mask)
    by_head = mask[(torch.arange(len(sentence) + 1) > 0).long()]
    scorer = model.network.scorer
    factored = isinstance(scorer, FactoredScorer)
    masked = scores.arcs if factored else scores.arcs + by_head.unsqueeze(-1)
    arcs = masked.logsumexp(dim=2) if description.arc_score == "total" else masked.amax(dim=2)
    table = replace(scores.table(), arcs=arcs.numpy(), crossing_cost=description.crossing_cost)
    lengths = lengths_in_nodes([sentence.forms]) - 1
    heads = parse_greedily(system, lengths, table, single_root=description.single_root).heads[0]
    relations = [""]
    for dependent in range(1, len(heads)):
        head = int(heads[dependent])
        if isinstance(scorer, FactoredScorer):
            assert scores.relation_heads is not None and scores.relation_dependents is not None
            logits = scorer.relation_logits(scores.relation_heads[0, head], scores.relation_dependents[0, dependent])
        else:
            logits = scores.arcs[0, head, :, dependent]
        relations.append(description.relations.names[int((logits + by_head[head]).argmax())])
    if system.projective and description.scheme != "none":
        lowered, relations = deprojectivize(heads.astype(np.int32), relations, description.scheme)
        heads = lowered.astype(np.int64)
    columns: dict[str, list[str]] = {}
    for name, column in description.columns.items():
        labels = output.columns[name][0, 1:].argmax(dim=-1).numpy()
        columns[name] = column.decode(sentence.forms, labels, columns)
    return heads.tolist(), relations, columns


def assert_parses_as_with_torch(model: TrainedModel, parser: Parser, sentences: Sequence[Sentence]) -> None:
    """The parser of a packaged model predicts what the network predicts."""
    for sentence, parsed in zip(sentences, parser.stream([s.copy() for s in sentences]), strict=True):
        heads, relations, columns = parse_with_torch(model, sentence)
        assert parsed.node_heads.tolist() == heads
        assert parsed.node_relations == relations
        for name, cells in columns.items():
            assert parsed.node_column(COLUMNS[name].index)[1:] == cells
