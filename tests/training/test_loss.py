"""The training loss equals its definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longarc import read_all
from longarc.model.scorers import FactoredScorer
from longarc.training.loss import batch_loss, transition_loss
from longarc.training.training_data import training_trees
from longarc.transitions import SYSTEMS, get_system
from longarc.transitions.static_oracle import pad_heads
from tests.helpers.prepared_training import FACTORED, batch_of, prepared


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_loss_is_the_softmax_over_legal_transitions_summed_over_the_oracle_path(
    tmp_path: Path, name: str, factored: bool
) -> None:
    model, data = prepared(tmp_path, name, **(FACTORED if factored else {}))
    system = get_system(name)
    sentences = read_all(tmp_path / "toy.conllu")
    trees = training_trees(model.configuration, sentences)
    model.network.eval()
    batch = batch_of(model, data)
    with torch.no_grad():
        scores = model.network(batch.arrays).transitions
        loss = float(transition_loss(scores, batch))
    expected = 0.0
    for row, (heads, relations) in enumerate(trees):
        # One sentence at a time, one configuration at a time, one transition at a time.
        lengths, gold = pad_heads([heads])
        state = system.initial(lengths, single_root=True)
        nodes = len(heads)
        arcs = scores.arcs[row].numpy().astype(np.float64)
        while (choice := system.oracle(state, gold))[0] >= 0:
            positions, legal = system.gather(state, system.positions(state))[0], system.legal(state)[0]
            terms: list[float] = []
            for index in np.flatnonzero(legal):
                group, column = divmod(int(positions[index]), nodes)
                if group < nodes:
                    values = arcs[group, :, column]
                    right = 0 if factored else model.description.relations.numbers([relations[column]])[0]
                    chosen_value = values[right]
                elif group == nodes:
                    values = np.array([float(scores.shift[row, column])])
                    chosen_value = values[0]
                elif scores.reduce is not None:
                    assert group == nodes + 1
                    values = np.array([float(scores.reduce[row, column])])
                    chosen_value = values[0]
                else:
                    assert scores.no_arc is not None
                    values = np.array([float(scores.no_arc[row, group - nodes - 1, column])])
                    chosen_value = values[0]
                terms.extend(np.exp(values))
                if index == choice[0]:
                    expected -= chosen_value
            expected += float(np.log(np.sum(terms)))
            system.apply(state, choice)
    assert loss == pytest.approx(expected, rel=1e-4)


def test_what_a_network_with_everything_learns_adds_up(tmp_path: Path) -> None:
    model, data = prepared(tmp_path, "nl-covington", **FACTORED)
    model.network.eval()
    batch = batch_of(model, data)
    with torch.no_grad():
        scores = model.network(batch.arrays)
        expected = float(transition_loss(scores.transitions, batch))
        for row, example in enumerate(data.examples):
            for name, logits in scores.columns.items():
                chosen = torch.log_softmax(logits[row], dim=-1)[np.arange(1, len(example)), example.labels[name][1:]]
                expected -= float(chosen.sum())
        scorer = model.network.scorer
        assert isinstance(scorer, FactoredScorer)
        heads, dependents = scores.transitions.relation_heads, scores.transitions.relation_dependents
        for sentence, head, dependent, relation in zip(
            batch.arc_sentences, batch.arc_heads, batch.arc_dependents, batch.arc_relations, strict=True
        ):
            own = scorer.relation_logits(heads[sentence, head], dependents[sentence, dependent])
            expected -= float(torch.log_softmax(own, dim=-1)[relation])
        assert float(batch_loss(model.network, batch)) == pytest.approx(expected, rel=1e-4)
    assert len(batch.arc_relations) == batch.tokens
