"""The training loss equals its definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from longarc import read_all
from longarc.model.scorers import FactoredScorer
from longarc.training.loss import Explorer, batch_loss, explored_loss, transition_loss
from longarc.training.training_data import training_trees
from longarc.transitions import SYSTEMS, get_system
from longarc.transitions.exploration import correct_transitions
from longarc.transitions.static_oracle import pad_heads
from longarc.transitions.system import ScoreTable
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


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("name", ["covington", "nl-covington", "non-monotonic-nl-covington"])
def test_the_loss_of_explored_paths_counts_every_correct_transition(tmp_path: Path, name: str, factored: bool) -> None:
    """One configuration at a time, along the same path: the one that always follows the model."""
    model, data = prepared(tmp_path, name, **(FACTORED if factored else {}))
    system: Any = get_system(name)
    model.network.eval()
    batch = batch_of(model, data)
    sentences = read_all(tmp_path / "toy.conllu")
    with torch.no_grad():
        scores = model.network(batch.arrays).transitions
        explorer = Explorer(model.description, 1.0, np.random.default_rng(1))
        loss = float(explored_loss(scores, batch, explorer))
    table, expected, mistakes = scores.table(), 0.0, 0
    for row, sentence in enumerate(sentences):
        lengths, gold = pad_heads([sentence.node_heads])
        nodes = len(sentence) + 1
        state = system.initial(lengths, single_root=True)
        cells = {name: array[row : row + 1, :nodes] for name, array in table.arrays.items()}
        own: Any = {name: array[..., :nodes] for name, array in cells.items()}
        relations = model.description.relations.numbers(sentence.node_relations)
        arcs = scores.arcs[row].numpy().astype(np.float64)
        while (legal := system.legal(state)).any():
            positions = system.gather(state, system.positions(state))
            correct = correct_transitions(system, state, gold, legal, positions)
            sums = [0.0, 0.0]
            for index in np.flatnonzero(legal[0]):
                group, column = divmod(int(positions[0, index]), nodes)
                if group < nodes:
                    values = np.exp(arcs[group, :, column])
                    right = values[0 if factored else relations[column]]
                elif group == nodes:
                    right = values = np.exp(float(scores.shift[row, column]))
                else:
                    assert scores.no_arc is not None
                    right = values = np.exp(float(scores.no_arc[row, group - nodes - 1, column]))
                sums[0] += float(np.sum(values))
                sums[1] += float(right) if correct[0, index] else 0.0
            expected += float(np.log(sums[0]) - np.log(sums[1]))
            choice = np.where(legal, system.gather(state, ScoreTable(**own)), -np.inf).argmax(axis=1)
            mistakes += not correct[0, choice[0]]
            system.apply(state, choice)
    assert mistakes > 10, "the path is not the static oracle's"
    assert loss == pytest.approx(expected, rel=1e-4)


def test_the_authors_no_arc_competes_with_every_relation_and_shares_the_weights_of_one(tmp_path: Path) -> None:
    model, data = prepared(tmp_path, "covington", no_arc="authors")
    model.network.eval()
    scores = model.network(batch_of(model, data).arrays).transitions
    assert scores.no_arc is not None and scores.no_arc_target is not None and scores.no_arc_best is not None
    for left, right in ((0, 1), (2, 1), (2, 3)):
        loops = scores.arcs[:, left, :, left]
        torch.testing.assert_close(scores.no_arc[:, left, right], loops.logsumexp(dim=1))
        torch.testing.assert_close(scores.no_arc_target[:, left, right], loops[:, 1])
        torch.testing.assert_close(scores.no_arc_best[:, left, right], loops.amax(dim=1))
    flat = scores.flat(scores.arcs.amax(dim=2))
    changed = (scores.target(flat) != flat).sum(dim=1)
    assert flat.shape == scores.target(flat).shape and (changed == scores.no_arc[0].numel()).all()


@pytest.mark.parametrize("factored", [False, True])
def test_the_parts_of_the_loss_have_weights(tmp_path: Path, factored: bool) -> None:
    model, data = prepared(tmp_path, "nl-covington", **(FACTORED if factored else {}))
    model.network.eval()
    batch = batch_of(model, data)

    def loss(**weights: float) -> float:
        configuration = model.configuration.updated(weights, "test")
        with torch.no_grad():
            return float(batch_loss(model.network, batch, configuration))

    nothing = {"transition_weight": 0.0, "relation_weight": 0.0, "tag_weight": 0.0}
    parts = [loss(**{**nothing, key: 1.0}) for key in nothing]
    assert loss() == pytest.approx(sum(parts))
    assert loss(transition_weight=2.5) == pytest.approx(sum(parts) + 1.5 * parts[0])
    assert (parts[1] > 0) == factored and parts[2] > 0
    heads = 0.0
    with torch.no_grad():
        arcs = model.network(batch.arrays).transitions.arcs.logsumexp(dim=2)
    for sentence, head, word in zip(batch.arc_sentences, batch.arc_heads, batch.arc_dependents, strict=True):
        nodes = [node for node in range(len(data.examples[int(sentence)])) if node != word]
        heads += float(arcs[sentence, nodes, word].logsumexp(dim=0) - arcs[sentence, head, word])
    assert loss(**nothing, head_weight=2.0) == pytest.approx(2 * heads, rel=1e-4)


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
        assert float(batch_loss(model.network, batch, model.configuration)) == pytest.approx(expected, rel=1e-4)
    assert len(batch.arc_relations) == batch.tokens
