"""Tree properties equal their plain definitions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longarc.data.conll import RowError
from longarc.data.sentence import Sentence
from longarc.trees.structure import (
    crossing_arcs,
    describe_cycle,
    dominance,
    find_cycle,
    gap_degree,
    is_projective,
    is_tree,
    projective_arcs,
    require_acyclic,
    require_heads,
    require_tree,
    root_children,
)
from tests.helpers.generators import word
from tests.helpers.tree_definitions import ancestors, arcs, is_projective_arc, quickly
from tests.helpers.tree_generators import (
    Heads,
    all_trees,
    all_trees_up_to,
    as_heads,
    has_one_root,
    projective_trees,
    trees,
)

# ---------------------------------------------------------------------------------------------------------------------
# The definitions, as plainly as they can be written.


def cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    (a, b), (c, d) = sorted(one), sorted(other)
    return a < c < b < d or c < a < d < b


def gaps(heads: Heads, node: int) -> int:
    covered = [word for word in range(len(heads)) if node in ancestors(heads, word)]
    return sum(right - left > 1 for left, right in pairwise(covered))


def assert_described_rightly(heads: Heads) -> None:
    n = len(heads)
    expected = np.array([[a in ancestors(heads, d) for d in range(n)] for a in range(n)])
    np.testing.assert_array_equal(dominance(heads), expected)
    straight = [head < 0 or is_projective_arc(heads, int(head), word) for word, head in enumerate(heads)]
    assert projective_arcs(heads).tolist() == straight
    assert is_projective(heads) == all(straight)
    crossing = np.zeros((n, n), dtype=np.bool_)
    for one, other in combinations(arcs(heads), 2):
        crossing[one[1], other[1]] = crossing[other[1], one[1]] = cross(one, other)
    np.testing.assert_array_equal(crossing_arcs(heads), crossing)
    assert gap_degree(heads) == max(gaps(heads, node) for node in range(n))
    assert root_children(heads) == sum(head == 0 for head, _ in arcs(heads))


# ---------------------------------------------------------------------------------------------------------------------
# Trees and their structure.


@pytest.mark.parametrize(("words", "count"), [(1, 1), (2, 3), (3, 16), (4, 125), (5, 1296)])
def test_there_are_as_many_trees_as_cayley_says(words: int, count: int) -> None:
    assert len(all_trees(words)) == count


@pytest.mark.parametrize(("words", "count"), [(1, 1), (2, 3), (3, 12), (4, 55), (5, 273)])
def test_there_are_as_many_projective_trees_as_there_should_be(words: int, count: int) -> None:
    """Noncrossing trees on n + 1 vertices of a circle: A001764; the root at the left end covers nothing."""
    assert sum(is_projective(heads) for heads in all_trees(words)) == count


@pytest.mark.parametrize("words", range(5))
def test_heads_are_a_tree_exactly_when_every_word_leads_to_the_root(words: int) -> None:
    for heads in map(as_heads, product(range(-1, words + 1), repeat=words)):
        expected = all(0 in ancestors(heads, word) for word in range(words + 1))
        assert is_tree(heads) == expected, heads
        assert is_tree(heads, single_root=True) == (expected and has_one_root(heads)), heads


def test_a_head_beyond_the_sentence_makes_no_tree() -> None:
    assert not is_tree(as_heads([0, 3]))
    assert not is_tree(as_heads([0, -1]))


@pytest.mark.parametrize("words", range(5))
def test_the_cycle_that_is_found_is_one_and_is_found_if_there_is_one(words: int) -> None:
    for heads in map(as_heads, product(range(-1, words + 1), repeat=words)):
        on_cycle = [word for word in range(1, words + 1) if word in ancestors(heads, int(heads[word]))]
        cycle = find_cycle(heads)
        assert bool(cycle) == bool(on_cycle), heads
        for node, above in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True):
            assert node > 0
            assert heads[node] == above
        assert len(set(cycle)) == len(cycle)


def test_a_word_that_is_its_own_head_is_a_cycle() -> None:
    assert find_cycle(as_heads([0, 2])) == [2]


def test_of_two_cycles_the_one_that_is_reached_first_is_found() -> None:
    assert sorted(find_cycle(as_heads([5, 3, 2, 5, 4, 0]))) == [4, 5]


def test_small_trees_are_described_as_defined() -> None:
    for heads in all_trees_up_to(4):
        assert_described_rightly(heads)


def test_trees_of_five_words_are_described_as_defined() -> None:
    for heads in all_trees(5)[::3]:
        assert_described_rightly(heads)


@quickly
@given(trees(max_words=20))
def test_any_tree_is_described_as_defined(heads: Heads) -> None:
    assert is_tree(heads)
    assert_described_rightly(heads)


@quickly
@given(trees(max_words=10), st.sets(st.integers(1, 10)))
def test_words_without_a_head_are_nobodys_arcs(heads: Heads, headless: set[int]) -> None:
    heads[[word for word in headless if word < len(heads)]] = -1
    n = len(heads)
    np.testing.assert_array_equal(
        dominance(heads), np.array([[a in ancestors(heads, d) for d in range(n)] for a in range(n)])
    )
    assert projective_arcs(heads)[heads < 0].all()
    assert not crossing_arcs(heads)[heads < 0].any()
    assert not crossing_arcs(heads)[:, heads < 0].any()


@quickly
@given(projective_trees(max_words=20))
def test_a_projective_tree_has_no_gaps_and_no_crossings(heads: Heads) -> None:
    assert is_tree(heads)
    assert is_projective(heads)
    assert gap_degree(heads) == 0
    assert not crossing_arcs(heads).any()


def test_the_tree_of_no_words_is_projective() -> None:
    heads = as_heads([])
    assert is_tree(heads)
    assert is_projective(heads)
    assert gap_degree(heads) == 0


# ---------------------------------------------------------------------------------------------------------------------
# Checks of sentences


RANGE = word("1-2")


def test_a_cycle_is_described_from_its_first_word_round_to_it() -> None:
    assert describe_cycle(find_cycle(as_heads([2, 3, 2]))) == "the heads form a cycle: 2 → 3 → 2"


@pytest.mark.parametrize(
    ("check", "text", "row", "message"),
    [
        (require_heads, RANGE + word(1, 0) + word(2), 2, "HEAD is _: the word has no head"),
        (require_acyclic, RANGE + word(1, 0) + word(2, 2), 2, "the heads form a cycle: 2 → 2"),
        (require_tree, RANGE + word(1, 2) + word(2), 2, "HEAD is _: the word has no head"),
        (require_tree, RANGE + word(1, 2) + word(2, 1), 1, "the heads form a cycle: 1 → 2 → 1"),
    ],
)
def test_a_check_names_the_row_and_the_mistake(
    check: Callable[[Sentence], None], text: str, row: int, message: str
) -> None:
    with pytest.raises(RowError) as caught:
        check(Sentence.from_conll(text))
    assert (caught.value.row, caught.value.message) == (row, message)
    assert caught.value.hint and "--" not in caught.value.hint


def test_checks_pass_what_they_are_not_about() -> None:
    require_heads(Sentence.from_conll(word(1, 2) + word(2, 1)))
    require_acyclic(Sentence.from_conll(word(1, 2) + word(2)))
    require_tree(Sentence.from_conll(word(1, 2) + word(2, 0)))
