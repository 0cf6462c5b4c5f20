"""The training loss equals its definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longarc import read_all
from longarc.model.scorers import FactoredScorer
from longarc.training.examples import training_trees
from longarc.training.loss import batch_loss, transition_loss
from longarc.transitions import SYSTEMS, get_system
from longarc.transitions.static_oracle import pad_heads
from tests.helpers.prepared_training import FACTORED, batch_of, prepared


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_loss_is_the_softmax_over_legal_transitions_summed_over_the_oracle_path(
    tmp_path: Path, name: str, factored: bool
) -> None:
    ready = prepared(tmp_path, name, **(FACTORED if factored else {}))
    system = get_system(name)
    sentences = read_all(tmp_path / "toy.conllu")
    trees = training_trees(ready.configuration, sentences)
    ready.network.eval()
    batch = batch_of(ready)
    with torch.no_grad():
        scores = ready.network(batch.inputs).transitions
        loss = float(transition_loss(scores, batch))
    expected = 0.0
    for row, (heads, relations) in enumerate(trees):
        # One sentence at a time, one configuration at a time, one transition at a time.
        lengths, gold = pad_heads([heads])
        state = system.initial(lengths, single_root=True)
        nodes = len(heads)
        arcs = scores.arcs[row].numpy().astype(np.float64)
        while (choice := system.oracle(state, gold))[0] >= 0:
            slots, legal = system.slots(state)[0], system.legal(state)[0]
            terms: list[float] = []
            for index in np.flatnonzero(legal):
                group, column = divmod(int(slots[index]), nodes)
                if group < nodes:
                    values = arcs[group, :, column]
                    right = 0 if factored else ready.vocabularies.relations.numbers([relations[column]])[0]
                    chosen_value = values[right]
                elif group == nodes:
                    values = np.array([float(scores.shift[row, column])])
                    chosen_value = values[0]
                elif group == nodes + 1:
                    assert scores.reduce is not None
                    values = np.array([float(scores.reduce[row, column])])
                    chosen_value = values[0]
                else:
                    assert scores.no_arc is not None
                    values = np.array([float(scores.no_arc[row, group - nodes - 2, column])])
                    chosen_value = values[0]
                terms.extend(np.exp(values))
                if index == choice[0]:
                    expected -= chosen_value
            expected += float(np.log(np.sum(terms)))
            system.apply(state, choice)
    assert loss == pytest.approx(expected, rel=1e-4)


def test_what_a_network_with_everything_learns_adds_up(tmp_path: Path) -> None:
    ready = prepared(tmp_path, "nl-covington", **FACTORED)
    ready.network.eval()
    batch = batch_of(ready)
    with torch.no_grad():
        scores = ready.network(batch.inputs)
        expected = float(transition_loss(scores.transitions, batch))
        for row, example in enumerate(ready.examples):
            for name, logits in scores.tags.items():
                chosen = torch.log_softmax(logits[row], dim=-1)[
                    np.arange(1, len(example.words)), example.tags[name][1:]
                ]
                expected -= float(chosen.sum())
        scorer = ready.network.scorer
        assert isinstance(scorer, FactoredScorer)
        heads, dependents = scores.transitions.relation_heads, scores.transitions.relation_dependents
        for sentence, head, dependent, relation in zip(
            batch.arc_sentences, batch.arc_heads, batch.arc_dependents, batch.arc_relations, strict=True
        ):
            own = scorer.relation_logits(heads[sentence, head], dependents[sentence, dependent])
            expected -= float(torch.log_softmax(own, dim=-1)[relation])
        assert float(batch_loss(ready.network, batch)) == pytest.approx(expected, rel=1e-4)
    assert len(batch.arc_relations) == batch.tokens
