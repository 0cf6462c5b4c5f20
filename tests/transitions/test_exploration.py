"""The dynamic oracle's correct transitions are those without cost, and explored paths go where they should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from longarc.transitions import SYSTEMS
from longarc.transitions.exploration import correct_transitions, explore
from longarc.transitions.oracle_paths import oracle_paths, positions_of
from longarc.transitions.static_oracle import pad_heads
from longarc.transitions.system import ScoreTable, State
from tests.helpers.systems import both_root_rules
from tests.helpers.tree_generators import Heads, all_trees, has_one_root, random_tree

MONOTONIC = ("covington", "nl-covington")
NON_MONOTONIC = ("non-monotonic-covington", "non-monotonic-nl-covington")

with_dynamic_oracle = pytest.mark.parametrize("name", MONOTONIC + NON_MONOTONIC)


def test_these_are_all_systems_with_a_dynamic_oracle() -> None:
    assert {name for name, system in SYSTEMS.items() if system.has_dynamic_oracle} == {*MONOTONIC, *NON_MONOTONIC}
    with pytest.raises(NotImplementedError):
        SYSTEMS["arc-swift"].loss(SYSTEMS["arc-swift"].initial(np.array([1])), np.array([[-1, 0]]))


# ---------------------------------------------------------------------------------------------------------------------
# Against all continuations.


def fewest_missing(name: str, single_root: bool, trees: NDArray[np.int64]) -> Callable[[State], NDArray[np.int64]]:
    """Return a function that finds the gold arcs missing at the end of the best continuation, by trying all of them:
    [trees] for the only configuration of a state."""
    system: Any = SYSTEMS[name]
    known: dict[tuple[Any, ...], NDArray[np.int64]] = {}

    def missing(state: State) -> NDArray[np.int64]:
        key = (*state.heads[0].tolist(), int(state.front[0]), *map(len, state.lists(0).values()))
        if key not in known:
            choices = np.flatnonzero(system.legal(state)[0])
            if len(choices):
                known[key] = np.min([missing(after(system, state, choice)) for choice in choices], axis=0)
            else:
                known[key] = (trees[:, 1:] != state.heads[0, 1:]).sum(axis=1)
        return known[key]

    return missing


def after(system: Any, state: State, choice: Any) -> Any:
    following = state.take(np.array([0]))
    system.apply(following, np.array([choice]))
    return following


def configurations(name: str, words: int, single_root: bool) -> list[Any]:
    """All that can be reached."""
    system: Any = SYSTEMS[name]
    agenda = [system.initial(np.array([words]), single_root=single_root)]
    found: dict[tuple[Any, ...], Any] = {}
    while agenda:
        state = agenda.pop()
        key = (*state.heads[0].tolist(), int(state.front[0]), int(state.left[0]))
        if key not in found:
            found[key] = state
            agenda += [after(system, state, choice) for choice in np.flatnonzero(system.legal(state)[0])]
    return list(found.values())


def gold_trees(words: int, single_root: bool) -> NDArray[np.int64]:
    return np.array([heads for heads in all_trees(words) if not single_root or has_one_root(heads)], dtype=np.int64)


@pytest.mark.parametrize("name", MONOTONIC)
@both_root_rules
@pytest.mark.parametrize("words", [2, 3, 4])
def test_correct_transitions_are_those_without_cost(name: str, single_root: bool, words: int) -> None:
    system: Any = SYSTEMS[name]
    trees = gold_trees(words, single_root)[:: 1 if words < 4 else 17]
    missing = fewest_missing(name, single_root, trees)
    checked = 0
    for state in configurations(name, words, single_root)[:: 1 if words < 4 else 11]:
        legal = system.legal(state)
        if not legal.any():
            continue
        np.testing.assert_array_equal(system.loss(state.take(np.zeros(len(trees), np.int64)), trees), missing(state))
        positions = system.gather(state, system.positions(state))
        choices = np.flatnonzero(legal[0])
        costs = {choice: missing(after(system, state, choice)) - missing(state) for choice in choices}
        for row, tree in enumerate(trees):
            correct = correct_transitions(system, state, tree[None], legal, positions)[0]
            head, dependent = np.divmod(positions[0], words + 1)
            allowed = (positions[0] >= (words + 1) ** 2) | (tree[np.where(dependent <= words, dependent, 0)] == head)
            expected = [choice for choice in choices if costs[choice][row] == 0 and allowed[choice]]
            assert np.flatnonzero(correct).tolist() == expected and expected
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("name", NON_MONOTONIC)
def test_the_loss_of_non_monotonic_systems_is_a_tight_upper_bound(name: str) -> None:
    system: Any = SYSTEMS[name]
    trees = gold_trees(3, False)
    missing = fewest_missing(name, False, trees)
    bounds, exact = [], []
    for state in configurations(name, 3, False):
        bounds.append(system.loss(state.take(np.zeros(len(trees), np.int64)), trees))
        exact.append(missing(state))
    assert (np.array(bounds) >= np.array(exact)).all()
    assert (np.array(bounds) == np.array(exact)).mean() > 0.95


# ---------------------------------------------------------------------------------------------------------------------
# Paths.


def random_scores(name: str, batch: int, nodes: int, rng: np.random.Generator) -> ScoreTable:
    arcs, no_arc = rng.normal(size=(2, batch, nodes, nodes))
    return ScoreTable(arcs, rng.normal(size=(batch, nodes)), None, no_arc)


def trees_of(count: int, rng: np.random.Generator) -> list[Heads]:
    return [random_tree(int(n), rng) for n in rng.integers(1, 12, size=count)]


@pytest.mark.parametrize("name", ["nl-covington", "non-monotonic-nl-covington"])
def test_without_exploration_the_path_is_the_static_oracles(name: str) -> None:
    """There is one correct transition in each configuration, and it is the static oracle's."""
    rng = np.random.default_rng(1)
    trees = trees_of(20, rng)
    lengths, gold = pad_heads(trees)
    nodes = gold.shape[1]
    scores = random_scores(name, 20, nodes, rng)
    paths = explore(SYSTEMS[name], lengths, gold, scores, single_root=False, probability=0.0, rng=rng)
    assert paths.correct_of.tolist() == list(range(len(paths.sentences)))
    for row, expected in enumerate(oracle_paths(SYSTEMS[name], trees, single_root=False)):
        own = np.flatnonzero(paths.sentences == row)
        assert paths.correct[own].tolist() == positions_of(expected.chosen, nodes).tolist()
        legal = np.concatenate([np.sort(paths.legal[paths.legal_of == number]) for number in own])
        static = np.split(positions_of(expected.legal, nodes), np.cumsum(expected.counts)[:-1])
        assert legal.tolist() == np.concatenate([np.sort(part) for part in static]).tolist()


@with_dynamic_oracle
@both_root_rules
def test_explored_paths_end_and_every_configuration_has_a_correct_transition(name: str, single_root: bool) -> None:
    rng = np.random.default_rng(2)
    trees = [heads for heads in trees_of(60, rng) if not single_root or has_one_root(heads)]
    lengths, gold = pad_heads(trees)
    scores = random_scores(name, len(trees), gold.shape[1], rng)

    def run(probability: float, seed: int) -> Any:
        generator = np.random.default_rng(seed)
        return explore(
            SYSTEMS[name], lengths, gold, scores, single_root=single_root, probability=probability, rng=generator
        )

    paths = run(0.5, 3)
    count = len(paths.sentences)
    assert np.unique(paths.correct_of).tolist() == np.unique(paths.legal_of).tolist() == list(range(count))
    pairs = set(zip(paths.legal_of.tolist(), paths.legal.tolist(), strict=True))
    assert set(zip(paths.correct_of.tolist(), paths.correct.tolist(), strict=True)) <= pairs
    assert all(
        np.array_equal(one, other) for one, other in zip(vars(paths).values(), vars(run(0.5, 3)).values(), strict=True)
    )
    assert not np.array_equal(paths.legal, run(0.5, 4).legal)
    assert not np.array_equal(paths.legal, run(0.0, 3).legal)


def test_an_empty_batch_has_no_path() -> None:
    rng = np.random.default_rng(5)
    scores = random_scores("covington", 0, 1, rng)
    nothing = np.zeros((0, 1), dtype=np.int64)
    paths = explore(SYSTEMS["covington"], nothing[:, 0], nothing, scores, single_root=True, probability=0.5, rng=rng)
    assert not len(paths.sentences) and not len(paths.legal)
