"""Static oracles build every tree that the system can represent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from longarc.transitions import SYSTEMS
from longarc.transitions.static_oracle import pad_heads, run_oracle
from longarc.transitions.system import TransitionSystem
from longarc.trees.structure import is_projective
from tests.helpers.scores import longest
from tests.helpers.systems import STACK_SYSTEMS, both_root_rules, every_system
from tests.helpers.tree_generators import (
    Heads,
    all_trees_up_to,
    as_heads,
    has_one_root,
    random_projective_tree,
    random_tree,
)


@dataclass
class Replay:
    """What came of following an oracle over some trees at once."""

    heads: NDArray[np.int64]
    gold: NDArray[np.int64]
    steps: NDArray[np.int64]
    always_legal: bool
    finished: bool


def replay(system: TransitionSystem[Any], trees: list[Heads], single_root: bool) -> Replay:
    lengths, gold = pad_heads(trees)
    state = system.initial(lengths, single_root=single_root)
    steps = np.zeros(len(trees), dtype=np.int64)
    always_legal = True
    while (choice := system.oracle(state, gold)).max() >= 0:
        going = np.flatnonzero(choice >= 0)
        always_legal &= bool(system.legal(state)[going, choice[going]].all())
        system.apply(state, choice)
        steps[going] += 1
        assert steps.max() <= 1000, "the oracle does not come to an end"
    return Replay(state.heads, gold, steps, always_legal, bool(system.finished(state).all()))


def small_trees(*, projective: bool, single_root: bool) -> list[Heads]:
    return [
        heads
        for heads in all_trees_up_to(5)
        if (not single_root or has_one_root(heads)) and (not projective or is_projective(heads))
    ]


@every_system
@both_root_rules
def test_the_oracle_builds_every_small_tree_that_the_system_can_represent(name: str, single_root: bool) -> None:
    system = SYSTEMS[name]
    trees = small_trees(projective=name in STACK_SYSTEMS, single_root=single_root)
    run = replay(system, trees, single_root)
    np.testing.assert_array_equal(run.heads, run.gold)
    assert run.always_legal
    assert run.finished
    lengths = np.array([len(heads) - 1 for heads in trees])
    assert (run.steps <= [longest(name, int(n)) for n in lengths]).all()
    if name in ("nl-covington", "arc-standard", "arc-hybrid"):
        np.testing.assert_array_equal(run.steps, 2 * lengths)


@every_system
def test_the_oracle_builds_long_trees_that_the_system_can_represent(name: str) -> None:
    rng = np.random.default_rng(5)
    make = random_projective_tree if name in STACK_SYSTEMS else random_tree
    trees = [make(int(rng.integers(1, 60)), rng) for _ in range(30)]
    run = replay(SYSTEMS[name], trees, single_root=False)
    np.testing.assert_array_equal(run.heads, run.gold)
    assert run.always_legal
    assert run.finished


@pytest.mark.parametrize("name", STACK_SYSTEMS)
@both_root_rules
def test_the_oracle_goes_on_legally_with_trees_that_cannot_be_built(name: str, single_root: bool) -> None:
    trees = small_trees(projective=False, single_root=single_root)
    run = replay(SYSTEMS[name], trees, single_root)
    assert run.always_legal
    assert run.finished
    whole = (run.heads == run.gold).all(axis=1)
    assert whole.tolist() == [is_projective(heads) for heads in trees], "built exactly if projective"


@every_system
def test_the_oracle_goes_on_legally_where_the_tree_has_more_roots_than_allowed(name: str) -> None:
    trees = [heads for heads in all_trees_up_to(4) if not has_one_root(heads)]
    run = replay(SYSTEMS[name], trees, single_root=True)
    assert run.always_legal
    assert run.finished


def test_covington_visits_all_pairs_when_every_word_hangs_on_the_root() -> None:
    system = SYSTEMS["covington"]
    for words in range(1, 8):
        run = replay(system, [as_heads([0] * words)], single_root=False)
        assert run.steps.tolist() == [longest("covington", words)]


@every_system
def test_running_the_oracle_keeps_track_of_the_sentences(name: str) -> None:
    """Sentences of mixed lengths come back under their own numbers, with their own counts."""
    system = SYSTEMS[name]
    rng = np.random.default_rng(6)
    trees = [random_projective_tree(int(n), rng) for n in rng.integers(1, 20, size=40)]
    seen = []
    for run in run_oracle(system, trees):
        for row, index in enumerate(run.indices.tolist()):
            seen.append(index)
            words = len(trees[index]) - 1
            assert run.state.heads[row, : words + 1].tolist() == trees[index].tolist()
            assert run.recovered[row] == words
            alone = replay(system, [trees[index]], single_root=False)
            assert run.transitions[row] == alone.steps[0]
    assert sorted(seen) == list(range(len(trees)))
