"""Beam search: equal to greedy at width 1, exact when wide enough, always a tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longarc.decoding.beam import parse_with_beam
from longarc.decoding.greedy import parse_greedily
from longarc.transitions import SYSTEMS
from longarc.trees.structure import is_tree
from tests.helpers.scores import score_table, width


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("single_root", [True, False])
def test_a_beam_of_one_is_greedy_search(name: str, single_root: bool) -> None:
    generator = np.random.default_rng(3)
    lengths = np.array([5, 3, 7, 1])
    flat = generator.normal(size=(4, width(name, 8))).astype(np.float32)
    scores = score_table(name, flat)
    totals = score_table(name, flat + generator.random(flat.shape).astype(np.float32))
    greedy = parse_greedily(SYSTEMS[name], lengths, scores, totals, single_root=single_root)
    beam = parse_with_beam(SYSTEMS[name], lengths, scores, totals, beam=1, single_root=single_root)
    np.testing.assert_array_equal(greedy.heads, beam.heads)
    assert greedy.probabilities is not None and beam.probabilities is not None
    np.testing.assert_allclose(greedy.probabilities, beam.probabilities)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_wide_beam_finds_the_best_of_all_sequences(name: str) -> None:
    system = SYSTEMS[name]
    generator = np.random.default_rng(4)
    for _ in range(6):
        scores = score_table(name, generator.normal(size=(1, width(name, 4))) * 3)
        found = parse_with_beam(system, np.array([3]), scores, scores, beam=5000, single_root=False)
        best_worth, best_heads = -np.inf, None
        agenda = [(system.initial(np.array([3]), single_root=False), 0.0)]
        while agenda:  # every sequence of transitions there is
            state, worth = agenda.pop()
            legal = system.legal(state)[0]
            if not legal.any():
                if worth > best_worth:
                    best_worth, best_heads = worth, state
                continue
            values = system.gather(state, scores)[0]
            normaliser = np.log(np.exp(values[legal]).sum())
            for choice in np.flatnonzero(legal):
                after = state.take(np.array([0]))
                system.apply(after, np.array([choice]))
                agenda.append((after, worth + values[choice] - normaliser))
        assert best_heads is not None
        system.complete(best_heads, scores)
        np.testing.assert_array_equal(found.heads, best_heads.heads)


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_beam_over_any_scores_gives_trees(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(SYSTEMS)))
    lengths = np.array(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    size = width(name, int(lengths.max()) + 1)
    values = st.sampled_from([0.0, 1.0, -3.5, np.nan, np.inf, -np.inf, 1e30])
    flat = data.draw(st.lists(values, min_size=size * len(lengths), max_size=size * len(lengths)))
    scores = score_table(name, np.array(flat, dtype=np.float32).reshape(len(lengths), size))
    found = parse_with_beam(SYSTEMS[name], lengths, scores, scores, beam=3)
    for row, length in enumerate(lengths):
        assert is_tree(found.heads[row, : length + 1].astype(np.int32), single_root=True)
