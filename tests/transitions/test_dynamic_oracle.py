"""The loss of Covington and NL-Covington configurations is exact: found again by trying all continuations."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from longarc.transitions import SYSTEMS
from longarc.transitions.covington_state import CovingtonState
from longarc.transitions.dynamic_oracle import count_cycles, loss
from longarc.transitions.static_oracle import pad_heads
from tests.helpers.tree_generators import Heads, all_trees, as_heads, random_tree

Configuration = tuple[tuple[int, ...], int, int]
"""The heads by node (-1 for none), the last word of λ1 (-1 when it is empty), the first word of the buffer."""

both_systems = pytest.mark.parametrize("name", ["covington", "nl-covington"])

# ---------------------------------------------------------------------------------------------------------------------
# The search: all configurations, and from the last to the first the fewest gold arcs that must be missing at the end.


def reaches(heads: tuple[int, ...], ancestor: int, word: int) -> bool:
    while word not in (ancestor, -1):
        word = heads[word]
    return word == ancestor


def arcs_with(configuration: Configuration, i: int) -> list[Configuration]:
    """Where the arcs between i and j lead that the two constraints allow."""
    heads, _, j = configuration
    found = []
    for head, dependent in ((j, i), (i, j)):
        if dependent > 0 and heads[dependent] < 0 and not reaches(heads, dependent, head):
            found.append(((*heads[:dependent], head, *heads[dependent + 1 :]), i - 1, j))
    return found


def successors(name: str, configuration: Configuration) -> list[Configuration]:
    heads, i, j = configuration
    if j == len(heads):
        return []
    found = [(heads, j, j + 1)]
    if name == "nl-covington":
        for k in range(i + 1):
            found += arcs_with(configuration, k)
    elif i >= 0:
        found += [(heads, i - 1, j), *arcs_with(configuration, i)]
    return found


@cache
def reachable(name: str, words: int) -> tuple[list[Configuration], list[list[int]]]:
    """All configurations that the system can get into, none before one that leads to it, and the places of those that
    each leads to."""
    start = ((-1,) * (words + 1), 0, 1)
    leads_to = {start: successors(name, start)}
    agenda = [start]
    while agenda:
        for following in leads_to[agenda.pop()]:
            if following not in leads_to:
                leads_to[following] = successors(name, following)
                agenda.append(following)
    ordered = sorted(leads_to, key=lambda configuration: (configuration[2], -configuration[1]))
    places = {configuration: place for place, configuration in enumerate(ordered)}
    return ordered, [[places[following] for following in leads_to[configuration]] for configuration in ordered]


def fewest_missing(name: str, trees: NDArray[np.int64]) -> NDArray[np.int64]:
    """[configurations, trees] gold arcs that are missing at the end of the best continuation; trees [trees, N]."""
    configurations, leads_to = reachable(name, trees.shape[1] - 1)
    missing = np.zeros((len(configurations), len(trees)), dtype=np.int64)
    for place in reversed(range(len(configurations))):
        if leads_to[place]:
            missing[place] = missing[leads_to[place]].min(axis=0)
        else:
            missing[place] = (trees[:, 1:] != configurations[place][0][1:]).sum(axis=1)
    return missing


def losses(name: str, trees: NDArray[np.int64]) -> NDArray[np.int64]:
    """[configurations, trees] what longarc says, all configurations in one batch."""
    configurations, _ = reachable(name, trees.shape[1] - 1)
    words = trees.shape[1] - 1
    system: Any = SYSTEMS[name]
    state: CovingtonState = system.initial(np.full(len(configurations), words), single_root=False)
    state.heads[:] = [heads for heads, _, _ in configurations]
    state.left[:] = [i for _, i, _ in configurations]
    state.front[:] = [j for _, _, j in configurations]
    return np.stack([loss(state, np.tile(tree, (len(configurations), 1))) for tree in trees], axis=1)


def as_rows(trees: list[Heads] | tuple[Heads, ...]) -> NDArray[np.int64]:
    return np.array(trees, dtype=np.int64)


@both_systems
@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_the_loss_is_exact_for_all_small_trees_in_all_configurations(name: str, words: int) -> None:
    trees = as_rows(all_trees(words))
    np.testing.assert_array_equal(losses(name, trees), fewest_missing(name, trees))


@both_systems
def test_the_loss_is_exact_for_some_trees_of_five_words_in_all_configurations(name: str) -> None:
    trees = as_rows(all_trees(5)[7::20])
    assert len(trees) > 60
    np.testing.assert_array_equal(losses(name, trees), fewest_missing(name, trees))


def test_there_are_many_configurations_to_be_wrong_in() -> None:
    """So that the two tests above cannot pass for want of cases."""
    for name in ("covington", "nl-covington"):
        assert len(reachable(name, 4)[0]) > 900
    trees = as_rows(all_trees(4))
    expected = fewest_missing("covington", trees)
    assert set(np.unique(expected)) == {0, 1, 2, 3, 4}


# ---------------------------------------------------------------------------------------------------------------------
# What the loss says about transitions.


@both_systems
def test_the_static_oracle_never_loses_an_arc(name: str) -> None:
    system: Any = SYSTEMS[name]
    lengths, gold = pad_heads(all_trees(5))
    state = system.initial(lengths, single_root=False)
    assert not loss(state, gold).any()
    while (choice := system.oracle(state, gold)).max() >= 0:
        system.apply(state, choice)
        assert not loss(state, gold).any()


def test_an_arc_that_closes_a_cycle_with_gold_arcs_to_come_costs_two() -> None:
    """Gold 0 → 1 → 4 → 2. The arc 2 → 1 takes the place of 0 → 1, and only one of 1 → 4 and 4 → 2 can follow it."""
    gold = as_heads([0, 4, 4, 1]).astype(np.int64)[None]
    system: Any = SYSTEMS["nl-covington"]
    state = system.initial(np.array([4]), single_root=False)
    take(system, state, "Right-Arc_1")
    take(system, state, "Shift")
    assert loss(state, gold).tolist() == [0]
    state = system.initial(np.array([4]), single_root=False)
    take(system, state, "Shift")
    assert loss(state, gold).tolist() == [1]
    take(system, state, "Left-Arc_1")
    assert loss(state, gold).tolist() == [2]


def take(system: Any, state: CovingtonState, name: str) -> None:
    """The legal transition of that name, in a batch of one."""
    legal = np.flatnonzero(system.legal(state)[0])
    (choice,) = (index for index in legal if system.names(state, np.array([index])) == [name])
    system.apply(state, np.array([choice]))


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_no_transition_wins_an_arc_back_and_some_transition_keeps_them_all(words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold = random_tree(words, rng).astype(np.int64)[None]
    system: Any = SYSTEMS["nl-covington"]
    state = system.initial(np.array([words]), single_root=False)
    while (legal := np.flatnonzero(system.legal(state)[0])).size:
        before = int(loss(state, gold)[0])
        after = []
        for choice in legal:
            copy = system.initial(np.array([words]), single_root=False)
            for part in ("heads", "left", "front", "tree"):
                getattr(copy, part)[:] = getattr(state, part)
            system.apply(copy, np.array([choice]))
            after.append(int(loss(copy, gold)[0]))
        assert min(after) == before
        system.apply(state, np.array([rng.choice(legal)]))
    assert int(loss(state, gold)[0]) == int((state.heads != gold).sum())


# ---------------------------------------------------------------------------------------------------------------------
# Cycles.


def cycles(heads: tuple[int, ...]) -> int:
    """The number of cycles, heads by node with the root's own being 0."""
    found = set()
    for start in range(1, len(heads)):
        chain = [start]
        while heads[chain[-1]] not in (0, *chain):
            chain.append(heads[chain[-1]])
        if heads[chain[-1]] != 0:
            found.add(frozenset(chain[chain.index(heads[chain[-1]]) :]))
    return len(found)


@pytest.mark.parametrize("words", range(1, 6))
def test_cycles_are_counted_rightly_in_all_small_graphs(words: int) -> None:
    graphs = [(0, *heads) for heads in product(range(words + 1), repeat=words)]
    expected = [cycles(heads) for heads in graphs]
    assert count_cycles(np.array(graphs)).tolist() == expected
    assert max(expected) == words, "words that are their own heads"


@given(st.integers(1, 40).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
@settings(max_examples=100, deadline=None)
def test_cycles_are_counted_rightly_in_any_graph(heads: list[int]) -> None:
    assert count_cycles(np.array([[0, *heads]])).tolist() == [cycles((0, *heads))]


def test_the_longest_cycle_there_can_be_is_one_cycle() -> None:
    for words in range(1, 70):
        ring = [0, *range(2, words + 1), 1]
        assert count_cycles(np.array([ring])).tolist() == [1]


def test_an_empty_batch_has_no_losses() -> None:
    state = CovingtonState(np.zeros(0, dtype=np.int64), single_root=False, with_root=True)
    assert loss(state, np.zeros((0, 1), dtype=np.int64)).shape == (0,)
