"""A cost for crossing arcs: it is counted rightly, every search obeys it, and a high one gives projective trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from longarc import Sentence
from longarc.decoding.beam import parse_with_beam
from longarc.decoding.greedy import parse_greedily
from longarc.runtime.parser import Parser
from longarc.runtime.steps import model_steps
from longarc.transitions import SYSTEMS
from longarc.transitions.crossing import crossed_arcs
from longarc.transitions.system import ArcChanges, ScoreTable
from longarc.trees.structure import crossing_arcs
from tests.helpers.plain_systems import HEADLESS, PLAIN_SYSTEMS, Move, PlainSystem, parse_plainly
from tests.helpers.systems import both_root_rules
from tests.helpers.tree_generators import random_tree

with_a_cost = pytest.mark.parametrize("name", [name for name, system in SYSTEMS.items() if system.has_crossing_cost])

LENGTHS = [12, 1, 7, 0, 9, 2, 12, 5, 3, 10]


def random_table(seed: int, cost: float) -> ScoreTable:
    rng = np.random.default_rng(seed)
    batch, nodes = len(LENGTHS), max(LENGTHS) + 1
    arcs, no_arc = rng.normal(size=(2, batch, nodes, nodes))
    return ScoreTable(arcs, rng.normal(size=(batch, nodes)) + 0.5, None, no_arc + 0.5, cost)


def test_crossed_arcs_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        words = int(rng.integers(1, 9))
        heads = random_tree(words, rng)
        heads[rng.random(words + 1) < 0.4] = -1
        for word in range(1, words + 1):
            others = heads.copy()
            others[word] = -1
            expected = []
            for node in range(words + 1):
                with_arc = others.copy()
                with_arc[word] = node
                expected.append(int(crossing_arcs(with_arc)[word].sum()) if node != word else 0)
            counts = crossed_arcs(others[None].astype(np.int64), np.array([word]))[0]
            assert [count for node, count in enumerate(counts) if node != word] == [
                count for node, count in enumerate(expected) if node != word
            ]


def charged(system: PlainSystem, score: Callable[[Move], float], cost: float) -> Callable[[Move], float]:
    """The scores of moves less the cost of the arcs that they cross; the search of a Covington system also pays for
    headless words inside an arc."""

    def crosses(move: Move, head: int, dependent: int) -> bool:
        (a, b), (c, d) = sorted((move.first, move.second)), sorted((head, dependent))
        return a < c < b < d or c < a < d < b

    def charged_score(move: Move) -> float:
        if not move.is_arc:
            return score(move)
        built = [(head, word) for word, head in enumerate(system.heads) if head != HEADLESS]
        count = sum(crosses(move, *arc) for arc in built)
        if system.buffer and "covington" in system.name:
            inside = range(min(move.first, move.second) + 1, max(move.first, move.second))
            count += sum(system.heads[word] == HEADLESS for word in inside)
        return score(move) - cost * count

    return charged_score


@with_a_cost
@both_root_rules
@pytest.mark.parametrize("cost", [0.0, 0.3, 1.5])
def test_greedy_search_with_a_cost_follows_the_definition(name: str, single_root: bool, cost: float) -> None:
    table = random_table(3, cost)
    heads = parse_greedily(SYSTEMS[name], np.array(LENGTHS), table, single_root=single_root).heads
    for row, words in enumerate(LENGTHS):
        plain = PLAIN_SYSTEMS[name](words, single_root)
        score = charged(plain, plain_scores(table, row), cost)
        assert heads[row, : words + 1].tolist() == parse_plainly(plain, score)


def plain_scores(table: ScoreTable, row: int) -> Callable[[Move], float]:
    assert table.no_arc is not None
    no_arc = table.no_arc

    def score(move: Move) -> float:
        if move.kind == "Shift":
            return float(table.shift[row, move.first])
        return float((table.arcs if move.is_arc else no_arc)[row, move.first, move.second])

    return score


def crossings(heads: NDArray[np.int64]) -> int:
    trees = [row[: words + 1].astype(np.int32) for words, row in zip(LENGTHS, heads, strict=True)]
    return sum(int(crossing_arcs(tree).sum()) for tree in trees)


@with_a_cost
def test_search_and_beam_cross_less_if_crossing_costs_more(name: str) -> None:
    counts = []
    for cost in (0.0, 0.5, 2.0):
        table = random_table(4, cost)
        greedy = parse_greedily(SYSTEMS[name], np.array(LENGTHS), table, table).heads
        beam = parse_with_beam(SYSTEMS[name], np.array(LENGTHS), table, table, beam=4).heads
        counts.append((crossings(greedy), crossings(beam)))
    (free, free_beam), (less, less_beam), (least, least_beam) = counts
    assert free > less > least and free_beam > less_beam > least_beam


@pytest.mark.parametrize("name", ["covington", "nl-covington"])
@pytest.mark.parametrize("seed", range(5))
@both_root_rules
def test_search_crosses_nothing_and_passes_no_headless_word_if_that_costs_a_lot(
    name: str, seed: int, single_root: bool
) -> None:
    system = SYSTEMS[name]
    with mock.patch.object(system, "complete", return_value=ArcChanges.of([])):  # which may have to cross arcs
        heads = parse_greedily(system, np.array(LENGTHS), random_table(seed, 1000.0), single_root=single_root).heads
    assert crossings(heads) == 0 and (heads >= 0).sum() > 12
    for words, row in zip(LENGTHS, heads, strict=True):
        for dependent in np.flatnonzero(row >= 0).tolist():
            low, high = sorted((dependent, int(row[dependent])))
            assert (row[low + 1 : min(high, words)] >= 0).all()


def test_systems_without_the_cost_ignore_it() -> None:
    table = random_table(5, 3.0)
    for name in ("mst", "arc-standard", "arc-hybrid", "arc-swift"):
        costly, free = (
            parse_greedily(SYSTEMS[name], np.array(LENGTHS), replace(table, crossing_cost=cost)).heads
            for cost in (3.0, 0.0)
        )
        np.testing.assert_array_equal(costly, free)


def test_the_stepper_obeys_the_cost_of_the_model(monkeypatch: pytest.MonkeyPatch, english: Parser) -> None:
    """A relative clause far from its noun is attached to it only if that costs little."""
    sentence = Sentence.from_forms(["I", "met", "a", "man", "yesterday", "who", "speaks", "nine", "languages", "."])
    free = model_steps(english, sentence)
    monkeypatch.setattr(english.session, "_description", replace(english.description, crossing_cost=50.0))
    assert model_steps(english, sentence) != free
    (parsed,) = english.stream([sentence.copy()])
    steps = model_steps(english, sentence)
    arcs = [step.taken.arc for step in steps.steps if step.taken.arc] + list(steps.attached)
    assert {(arc.dependent, arc.head) for arc in arcs} == set(enumerate(parsed.node_heads.tolist()[1:], 1))
