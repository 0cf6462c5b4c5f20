"""Greedy search gives a tree for any scores whatever, the tree that the definition of greedy search gives, and the gold
tree where the scores point to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from longarc.decoding.greedy import finite_scores, parse_greedily
from longarc.transitions import SYSTEMS, get_system, pointer
from longarc.transitions.static_oracle import pad_heads
from longarc.transitions.system import ScoreTable, TransitionSystem
from longarc.trees.structure import is_projective, is_tree
from tests.helpers.plain_systems import PLAIN_SYSTEMS, Move, parse_plainly
from tests.helpers.scores import longest, score_table, width
from tests.helpers.tree_generators import (
    Heads,
    all_trees,
    all_trees_up_to,
    has_one_root,
    random_projective_tree,
    random_tree,
)

Floats = NDArray[np.floating[Any]]

STACK_SYSTEMS = ("arc-swift", "arc-eager", "arc-standard", "arc-hybrid")
NO_HEAD = -1

every_system = pytest.mark.parametrize("name", SYSTEMS)
both_root_rules = pytest.mark.parametrize("single_root", [False, True], ids=["any-roots", "one-root"])
precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def greedy_heads(
    system: TransitionSystem[Any], lengths: NDArray[np.int64], flat: Floats, *, single_root: bool = True
) -> NDArray[np.int64]:
    return parse_greedily(system, lengths, score_table(system.name, flat), single_root=single_root).heads


# ---------------------------------------------------------------------------------------------------------------------
# Any scores.

KINDS = ("normal", "equal", "huge", "tiny", "nan", "infinite", "minus infinite", "mixed", "few values")


def odd_scores(kind: str, shape: tuple[int, int], dtype: type[np.floating[Any]], rng: np.random.Generator) -> Floats:
    normal = rng.normal(size=shape).astype(dtype)
    limits = np.finfo(dtype)
    if kind == "mixed":
        values = np.array([np.nan, np.inf, -np.inf, limits.max, limits.min, limits.tiny, 0, -0.0], dtype=dtype)
        return np.where(rng.random(shape) < 0.5, values[rng.integers(len(values), size=shape)], normal)
    constants = {"equal": 0.25, "nan": np.nan, "infinite": np.inf, "minus infinite": -np.inf}
    if kind in constants:
        return np.full(shape, constants[kind], dtype=dtype)
    if kind == "few values":
        return rng.integers(3, size=shape).astype(dtype)
    factors = {"normal": 1.0, "huge": float(limits.max) / 16, "tiny": float(limits.tiny)}
    return np.asarray(normal * dtype(factors[kind]))


def assert_trees(name: str, lengths: list[int], found: NDArray[np.int64], single_root: bool) -> None:
    assert found.shape == (len(lengths), max(lengths, default=0) + 1)
    for words, row in zip(lengths, found, strict=True):
        heads = row[: words + 1].astype(np.int32)
        assert heads[0] == NO_HEAD
        assert is_tree(heads, single_root=single_root and words > 0)
        assert (row[words + 1 :] == NO_HEAD).all(), "no heads beyond the end of the sentence"
        if name in STACK_SYSTEMS:
            assert is_projective(heads)


@every_system
@both_root_rules
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    kind=st.sampled_from(KINDS),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_any_scores_give_trees_in_the_steps_that_theory_allows(
    name: str, single_root: bool, lengths: list[int], kind: str, dtype: type[np.floating[Any]], seed: int
) -> None:
    system = SYSTEMS[name]
    scores = odd_scores(kind, (len(lengths), width(name, max(lengths) + 1)), dtype, np.random.default_rng(seed))
    given_scores = scores.copy()
    with mock.patch.object(system, "apply", wraps=system.apply) as apply:
        found = greedy_heads(system, np.array(lengths), scores, single_root=single_root)
    assert apply.call_count <= longest(name, max(lengths))
    assert_trees(name, lengths, found, single_root)
    np.testing.assert_array_equal(scores, given_scores)


@every_system
@both_root_rules
@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=6), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_a_transitions_score_is_at_its_position_in_a_flat_row(
    name: str, single_root: bool, lengths: list[int], seed: int
) -> None:
    system, rng = SYSTEMS[name], np.random.default_rng(seed)
    scores = rng.normal(size=(len(lengths), width(name, max(lengths) + 1))).astype(np.float32)
    table = score_table(name, scores)
    state = system.initial(np.array(lengths), single_root=single_root)
    while (legal := system.legal(state)).any():
        positions = system.gather(state, system.positions(state))
        expected = np.take_along_axis(scores, positions, axis=1)
        np.testing.assert_array_equal(system.gather(state, table)[legal], expected[legal])
        system.apply(state, np.where(legal.any(axis=1), (rng.random(legal.shape) * legal).argmax(axis=1), -1))


@every_system
@precisions
def test_nan_is_the_lowest_score_and_infinities_are_the_ends(name: str, dtype: type[np.floating[Any]]) -> None:
    rng = np.random.default_rng(21)
    lengths = np.array([8, 5, 8, 3])
    scores = odd_scores("normal", (4, width(name, 9)), dtype, rng)
    chance = rng.random(scores.shape)
    low, high = chance < 0.2, chance > 0.9
    limits = np.finfo(dtype)
    numbers = np.where(high, limits.max, np.where(low, limits.min, scores))
    symbols = np.where(high, dtype(np.inf), np.where(low, dtype(np.nan), scores))
    assert finite_scores(score_table(name, symbols)).arcs.dtype == dtype
    np.testing.assert_array_equal(
        greedy_heads(SYSTEMS[name], lengths, symbols), greedy_heads(SYSTEMS[name], lengths, numbers)
    )
    below = np.where(low, dtype(-np.inf), symbols)
    np.testing.assert_array_equal(
        greedy_heads(SYSTEMS[name], lengths, below), greedy_heads(SYSTEMS[name], lengths, numbers)
    )


@every_system
@both_root_rules
def test_a_long_sentence_of_nothing_but_nan_is_a_tree_too(name: str, single_root: bool) -> None:
    scores = np.full((1, width(name, 121)), np.nan, dtype=np.float32)
    found = greedy_heads(SYSTEMS[name], np.array([120]), scores, single_root=single_root)
    assert_trees(name, [120], found, single_root)


# ---------------------------------------------------------------------------------------------------------------------
# Small and empty batches.


@every_system
def test_an_empty_batch_has_no_trees(name: str) -> None:
    found = greedy_heads(SYSTEMS[name], np.zeros(0, dtype=np.int64), np.zeros((0, width(name, 1))))
    assert found.shape == (0, 1)


@every_system
def test_a_sentence_without_words_has_no_heads(name: str) -> None:
    assert greedy_heads(SYSTEMS[name], np.array([0, 0]), np.zeros((2, width(name, 1)))).tolist() == [[-1], [-1]]


@every_system
@both_root_rules
def test_one_word_hangs_on_the_root(name: str, single_root: bool) -> None:
    for seed in range(10):
        scores = np.random.default_rng(seed).normal(size=(1, width(name, 2)))
        found = greedy_heads(SYSTEMS[name], np.array([1]), scores, single_root=single_root)
        assert found.tolist() == [[-1, 0]]


# ---------------------------------------------------------------------------------------------------------------------
# The same as greedy search over the plain definitions.


@dataclass
class Parts:
    """The scores of a sentence by what they are for."""

    arc: Floats
    """[N, N] by head and dependent"""
    shift: Floats
    reduce: Floats
    no_arc: Floats
    """[N, N] by left and right word"""

    @classmethod
    def random(cls, nodes: int, rng: np.random.Generator, dtype: type[np.floating[Any]] = np.float64) -> Parts:
        # Shift and No-Arc compete with many arcs: they are raised a little so that all transitions have their share.
        shapes = {"arc": (nodes, nodes), "shift": (nodes,), "reduce": (nodes,), "no_arc": (nodes, nodes)}
        raised = {"arc": 0.0, "shift": 0.8, "reduce": 0.0, "no_arc": 0.5}
        return cls(**{part: (rng.normal(size=shape) + raised[part]).astype(dtype) for part, shape in shapes.items()})

    def row(self, name: str) -> Floats:
        """Laid out as longarc wants it."""
        system = SYSTEMS[name]
        parts = [self.arc.ravel(), self.shift]
        parts += [self.reduce] if system.has_reduce else []
        parts += [self.no_arc.ravel()] if system.has_no_arc else []
        return np.concatenate(parts)

    def first(self, nodes: int) -> Parts:
        """The scores of the first nodes alone."""
        return Parts(self.arc[:nodes, :nodes], self.shift[:nodes], self.reduce[:nodes], self.no_arc[:nodes, :nodes])

    def __call__(self, move: Move) -> float:
        if move.is_arc:
            return float(self.arc[move.first, move.second])
        if move.kind == "No-Arc":
            return float(self.no_arc[move.first, move.second])
        return float((self.shift if move.kind == "Shift" else self.reduce)[move.first])


LENGTHS = [12, 1, 7, 0, 9, 2, 12, 5, 3, 10]


def random_batch(seed: int, dtype: type[np.floating[Any]] = np.float64) -> list[Parts]:
    rng = np.random.default_rng(seed)
    return [Parts.random(max(LENGTHS) + 1, rng, dtype) for _ in LENGTHS]


@every_system
@both_root_rules
@precisions
@pytest.mark.parametrize("seed", range(8))
def test_a_batch_is_parsed_as_the_definition_of_greedy_search_says(
    name: str, single_root: bool, dtype: type[np.floating[Any]], seed: int
) -> None:
    batch = random_batch(seed, dtype)
    scores = np.stack([parts.row(name) for parts in batch])
    found = greedy_heads(SYSTEMS[name], np.array(LENGTHS), scores, single_root=single_root)
    for words, parts, heads in zip(LENGTHS, batch, found, strict=True):
        plain = PLAIN_SYSTEMS[name](words, single_root)
        assert heads[: words + 1].tolist() == parse_plainly(plain, parts)


@every_system
@both_root_rules
def test_a_sentence_alone_gets_the_tree_that_it_gets_in_a_batch(name: str, single_root: bool) -> None:
    batch = random_batch(31)
    scores = np.stack([parts.row(name) for parts in batch])
    together = greedy_heads(SYSTEMS[name], np.array(LENGTHS), scores, single_root=single_root)
    for words, parts, heads in zip(LENGTHS, batch, together, strict=True):
        row = parts.first(words + 1).row(name)[None]
        alone = greedy_heads(SYSTEMS[name], np.array([words]), row, single_root=single_root)
        assert alone[0].tolist() == heads[: words + 1].tolist()


@every_system
def test_the_order_of_the_batch_does_not_matter(name: str) -> None:
    scores = np.stack([parts.row(name) for parts in random_batch(32)])
    lengths, order = np.array(LENGTHS), np.random.default_rng(33).permutation(len(LENGTHS))
    np.testing.assert_array_equal(
        greedy_heads(SYSTEMS[name], lengths[order], scores[order]),
        greedy_heads(SYSTEMS[name], lengths, scores)[order],
    )


# ---------------------------------------------------------------------------------------------------------------------
# Scores that point to the gold tree.

WRONG, RIGHT = -1000.0, 1000.0


def pointing_to(name: str, heads: Heads, nodes: int) -> Floats:
    """A row of scores under which greedy search has to build the tree `heads`.

    Gold arcs are high and other arcs low; what lies between says when an arc must wait or a word must go.
    """
    arc, no_arc = np.full((nodes, nodes), WRONG), np.full((nodes, nodes), WRONG)
    shift, reduce = np.zeros(nodes), np.zeros(nodes)
    words = range(1, len(heads))
    # Of several arcs with one word the shortest comes first: a longer one passes over the others.
    for word in words:
        arc[heads[word], word] = RIGHT - abs(word - int(heads[word]))
    for word in words:
        children = [child for child in words if heads[child] == word]
        farthest = min([*children, int(heads[word])])
        if name in ("covington", "non-monotonic-covington"):  # go on to the left as long as an arc is waiting there
            no_arc[farthest + 1 : word, word] = 1.0
        elif name == "arc-eager":  # a word goes when it lies above one that the next word has an arc with
            reduce[word], shift[word] = word, farthest + 0.5
        elif name in ("arc-standard", "arc-hybrid"):  # a right arc waits until its dependent has all its own
            shift[word] = 0.5 - word
            if heads[word] < word:
                arc[heads[word], word] = -max([word, *children])
    return Parts(arc, shift, reduce, no_arc).row(name)


@every_system
@both_root_rules
def test_scores_that_point_to_a_tree_give_it(name: str, single_root: bool) -> None:
    rng = np.random.default_rng(41)
    make = random_projective_tree if name in STACK_SYSTEMS else random_tree
    trees = [*all_trees_up_to(4), *all_trees(5)[::5], *(make(int(n), rng) for n in rng.integers(6, 14, size=100))]
    if name in STACK_SYSTEMS:
        trees = [heads for heads in trees if is_projective(heads)]
    if single_root:
        trees = [heads for heads in trees if has_one_root(heads)]
    assert len(trees) > 70
    lengths, gold = pad_heads(trees)
    scores = np.stack([pointing_to(name, heads, gold.shape[1]) for heads in trees])
    np.testing.assert_array_equal(greedy_heads(SYSTEMS[name], lengths, scores, single_root=single_root), gold)


def test_high_arcs_and_low_shifts_are_all_that_nl_covington_needs() -> None:
    """The simplest scores that a network could learn, on every tree of five words."""
    lengths, gold = pad_heads(all_trees(5))
    rows = []
    for heads in all_trees(5):
        arc = np.full((6, 6), -1.0)
        arc[heads[1:], range(1, 6)] = 2 - np.abs(heads[1:] - np.arange(1, 6)) / 10
        rows.append(np.concatenate([arc.ravel(), np.zeros(6)]))
    found = greedy_heads(SYSTEMS["nl-covington"], lengths, np.stack(rows), single_root=False)
    np.testing.assert_array_equal(found, gold)


def test_with_one_root_only_the_best_candidate_is_taken_when_none_was_chosen() -> None:
    """NL-Covington shifts everything; 0 → 2 is then the best of the root's arcs, and 1 and 3 prefer 2."""
    arc = np.full((4, 4), -5.0)
    arc[0] = [0, -3, -2, -4]
    arc[2, 1] = arc[2, 3] = -1
    scores = np.concatenate([arc.ravel(), np.zeros(4)])[None]
    found = greedy_heads(SYSTEMS["nl-covington"], np.array([3]), scores, single_root=True)
    assert found.tolist() == [[-1, 2, 0, 2]]


@pytest.mark.parametrize("cost", [0.0, 0.7])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("name", ["pointer", "mst"])
def test_a_shortcut_gives_the_trees_of_the_search(
    monkeypatch: pytest.MonkeyPatch, name: str, single_root: bool, cost: float
) -> None:
    rng = np.random.default_rng(0)
    system = get_system(name)
    lengths = rng.integers(1, 12, size=400)
    arcs = rng.normal(size=(len(lengths), 12, 12)).astype(np.float32)
    for row, length in enumerate(lengths.tolist()):  # a random tree, not always with one root, that is not always best
        for position, word in enumerate(order := rng.permutation(length) + 1):
            arcs[row, rng.choice([0, *order[:position]]), word] += rng.choice([2, 5])
    table = ScoreTable(arcs, np.zeros(arcs.shape[:2], np.float32), crossing_cost=cost)
    state = system.initial(lengths, single_root=single_root)
    system.shortcut(state, table)
    shares = (state.front - 1) / lengths
    assert (name == "mst") == bool((shares == 1).all())
    assert np.mean(shares == 1) > 0.02 and np.mean(shares) > 0.2
    trees = []
    for least_gain in (0, pointer.LEAST_GAIN, 1000):  # the shortcut is always, sometimes and never repeated
        monkeypatch.setattr(pointer, "LEAST_GAIN", least_gain)
        trees.append(parse_greedily(system, lengths, table, single_root=single_root).heads)
    monkeypatch.setattr(type(system), "shortcut", TransitionSystem.shortcut)
    for heads in trees:
        np.testing.assert_array_equal(heads, parse_greedily(system, lengths, table, single_root=single_root).heads)
