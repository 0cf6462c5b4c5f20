"""What a tree is, how it crosses itself, and that pseudo-projective encoding can be undone."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longarc.errors import LongarcError
from longarc.trees.pseudo_projective import SCHEMES, Scheme, deprojectivize, detect_scheme, projectivize
from longarc.trees.structure import (
    crossing_arcs,
    dominance,
    find_cycle,
    gap_degree,
    is_projective,
    is_tree,
    projective_arcs,
    root_children,
)
from tests.tree_generators import (
    Heads,
    all_trees,
    all_trees_up_to,
    as_heads,
    has_one_root,
    labelled_trees,
    projective_trees,
    random_projective_tree,
    random_relations,
    random_tree,
    trees,
    unique_relations,
)

quickly = settings(max_examples=60, deadline=None)

# ---------------------------------------------------------------------------------------------------------------------
# The definitions, as plainly as they can be written.


def ancestors(heads: Heads, node: int) -> list[int]:
    """The node, its head, the head of that and so on; stops where a cycle closes."""
    chain: list[int] = []
    while node >= 0 and node not in chain:
        chain.append(node)
        node = int(heads[node])
    return chain


def arcs(heads: Heads) -> list[tuple[int, int]]:
    return [(int(head), dependent) for dependent, head in enumerate(heads) if head >= 0]


def is_projective_arc(heads: Heads, head: int, dependent: int) -> bool:
    inside = range(min(head, dependent) + 1, max(head, dependent))
    return all(head in ancestors(heads, word) for word in inside)


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
# Pseudo-projective encoding: examples by hand.

# "Wen hast du gestern gemeint , dass sie liebt ?": `Wen` belongs to `liebt`, over the words of the main clause.
GERMAN_HEADS = as_heads([9, 0, 2, 5, 2, 9, 9, 9, 5, 2])
GERMAN_RELATIONS = ["", "obj", "root", "nsubj", "advmod", "aux", "punct", "mark", "nsubj", "ccomp", "punct"]

# "A hearing is scheduled on the issue today": `on the issue` belongs to `hearing`.
ENGLISH_HEADS = as_heads([2, 4, 4, 0, 7, 7, 2, 4])
ENGLISH_RELATIONS = ["", "det", "nsubj:pass", "aux:pass", "root", "case", "det", "nmod", "obl:tmod"]


@pytest.mark.parametrize(
    ("scheme", "changed"),
    [
        ("head", {1: "obj|ccomp"}),
        ("path", {1: "obj|", 9: "ccomp%", 5: "aux%"}),
        ("head+path", {1: "obj|ccomp", 9: "ccomp%", 5: "aux%"}),
    ],
)
def test_a_question_word_is_lifted_out_of_its_clause(scheme: Scheme, changed: dict[int, str]) -> None:
    """From `liebt` to `gemeint` and from there to `hast`, since `hast` and `du` stand in between."""
    heads, relations = projectivize(GERMAN_HEADS, GERMAN_RELATIONS, scheme)
    assert heads.tolist() == [-1, 2, 0, 2, 5, 2, 9, 9, 9, 5, 2]
    assert relations == [changed.get(node, relation) for node, relation in enumerate(GERMAN_RELATIONS)]
    lowered, plain = deprojectivize(heads, relations, scheme)
    assert lowered.tolist() == GERMAN_HEADS.tolist()
    assert plain == GERMAN_RELATIONS


@pytest.mark.parametrize(
    ("scheme", "changed"),
    [
        ("head", {7: "nmod|nsubj:pass"}),
        ("path", {7: "nmod|", 2: "nsubj:pass%"}),
        ("head+path", {7: "nmod|nsubj:pass", 2: "nsubj:pass%"}),
    ],
)
def test_an_extraposed_phrase_is_lifted_to_the_verb(scheme: Scheme, changed: dict[int, str]) -> None:
    heads, relations = projectivize(ENGLISH_HEADS, ENGLISH_RELATIONS, scheme)
    assert heads.tolist() == [-1, 2, 4, 4, 0, 7, 7, 4, 4]
    assert relations == [changed.get(node, relation) for node, relation in enumerate(ENGLISH_RELATIONS)]
    lowered, plain = deprojectivize(heads, relations, scheme)
    assert lowered.tolist() == ENGLISH_HEADS.tolist()
    assert plain == ENGLISH_RELATIONS


@pytest.mark.parametrize(
    ("scheme", "decorated"),
    [
        ("head", ["", "amod|nmod", "nsubj", "root", "nmod|nsubj"]),
        ("path", ["", "amod|", "nsubj%", "root", "nmod|%"]),
        ("head+path", ["", "amod|nmod", "nsubj%", "root", "nmod|nsubj%"]),
    ],
)
def test_the_shorter_arc_is_lifted_first_and_may_be_on_the_path_of_the_longer(
    scheme: Scheme, decorated: list[str]
) -> None:
    """2 → 4 goes to 3 → 4 first, so that 1 ← 4 is lifted past 4 to 3; the other way round it would stop at 2."""
    heads, relations = as_heads([4, 3, 0, 2]), ["", "amod", "nsubj", "root", "nmod"]
    lifted, labels = projectivize(heads, relations, scheme)
    assert lifted.tolist() == [-1, 3, 3, 0, 3]
    assert labels == decorated
    if scheme != "path":  # marks alone cannot tell which of the two lifted words belongs where
        assert deprojectivize(lifted, labels, scheme)[0].tolist() == heads.tolist()


def test_the_nearest_node_with_the_label_of_the_head_wins() -> None:
    """Two subjects below the verb 3: 2 is nearer to the lifted 5 than 1."""
    heads, relations = as_heads([3, 3, 0, 3, 3]), ["", "nsubj", "nsubj", "root", "adv", "nmod|nsubj"]
    lowered, plain = deprojectivize(heads, relations, "head")
    assert lowered.tolist() == [-1, 3, 3, 0, 3, 2]
    assert plain[5] == "nmod"


def test_a_node_that_is_less_deep_wins_over_a_nearer_one() -> None:
    heads, relations = as_heads([2, 0, 4, 2, 2]), ["", "nsubj", "root", "nsubj", "obj", "nmod|nsubj"]
    lowered, _ = deprojectivize(heads, relations, "head")
    assert lowered[5] == 1


def test_a_lifted_word_stays_where_no_head_is_found() -> None:
    heads, relations = as_heads([2, 0, 2]), ["", "det", "root", "nmod|nsubj"]
    for scheme in SCHEMES:
        lowered, plain = deprojectivize(heads, relations, scheme)
        assert lowered.tolist() == heads.tolist()
        assert plain == ["", "det", "root", "nmod"]


def test_relations_that_look_decorated_are_refused_where_they_would_be_misread() -> None:
    heads = as_heads([3, 4, 0, 3])
    with pytest.raises(LongarcError, match=r"'a\|b'"):
        projectivize(heads, ["", "a|b", "c", "d", "e"], "head")
    with pytest.raises(LongarcError, match="'a%'"):
        projectivize(heads, ["", "a%", "c", "d", "e"], "path")


# ---------------------------------------------------------------------------------------------------------------------
# Pseudo-projective encoding: what holds for every tree.


def lifted_by_the_book(heads: Heads) -> tuple[Heads, set[int], set[int]]:
    """The lifted tree, the lifted words and those on their paths, one non-projective arc at a time."""
    current, lifted, on_path = heads.copy(), set(), set()
    while bad := [word for head, word in arcs(current) if not is_projective_arc(current, head, word)]:
        word = min(bad, key=lambda word: (abs(int(heads[word]) - word), word))
        lifted.add(word)
        on_path.add(int(current[word]))
        current[word] = current[current[word]]
    return current, lifted, on_path


def test_small_trees_are_lifted_by_the_book() -> None:
    for heads in [*all_trees_up_to(4), *all_trees(5)[::3]]:
        expected, lifted, on_path = lifted_by_the_book(heads)
        plain = unique_relations(heads)
        head_labels = [relation + (f"|{plain[heads[w]]}" if w in lifted else "") for w, relation in enumerate(plain)]
        marks = ["%" if word in on_path else "" for word in range(len(heads))]
        labels: dict[Scheme, list[str]] = {
            "head": head_labels,
            "path": [r + "|" * (w in lifted) + marks[w] for w, r in enumerate(plain)],
            "head+path": [label + mark for label, mark in zip(head_labels, marks, strict=True)],
        }
        for scheme in SCHEMES:
            found, decorated = projectivize(heads, plain, scheme)
            assert found.tolist() == expected.tolist()
            assert decorated == labels[scheme]


def assert_lifted_rightly(heads: Heads, relations: list[str], scheme: Scheme) -> tuple[Heads, list[str]]:
    """Encodes and decodes, checks what always holds, and returns what came back."""
    before = heads.copy()
    lifted, decorated = projectivize(heads, relations, scheme)
    assert heads.tolist() == before.tolist(), "the tree that was given has changed"
    assert is_tree(lifted)
    assert is_projective(lifted)
    for word in range(1, len(heads)):
        assert int(lifted[word]) in ancestors(heads, word)[1:], "words are lifted to ancestors only"
        assert ("|" in decorated[word]) == (lifted[word] != heads[word])
    lowered, plain = deprojectivize(lifted, decorated, scheme)
    assert is_tree(lowered)
    assert plain == relations
    return lowered, plain


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lifting_makes_any_small_tree_projective_and_back_a_tree(scheme: Scheme) -> None:
    rng = np.random.default_rng(1)
    for heads in [*all_trees_up_to(4), *all_trees(5)[::3]]:
        assert_lifted_rightly(heads, random_relations(heads, rng), scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
@quickly
@given(tree=labelled_trees(max_words=20))
def test_lifting_makes_any_tree_projective_and_back_a_tree(scheme: Scheme, tree: tuple[Heads, list[str]]) -> None:
    assert_lifted_rightly(*tree, scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
@quickly
@given(heads=projective_trees(max_words=20))
def test_a_projective_tree_comes_back_as_it_is(scheme: Scheme, heads: Heads) -> None:
    relations = unique_relations(heads)
    lifted, decorated = projectivize(heads, relations, scheme)
    assert lifted.tolist() == heads.tolist()
    assert decorated == relations
    lowered, plain = deprojectivize(heads, relations, scheme)
    assert lowered.tolist() == heads.tolist()
    assert plain == relations


@pytest.mark.parametrize("scheme", ["head", "head+path"])
def test_small_trees_come_back_exactly_when_every_word_has_its_own_relation(scheme: Scheme) -> None:
    for heads in all_trees_up_to(5):
        lowered, _ = deprojectivize(*projectivize(heads, unique_relations(heads), scheme), scheme)
        assert lowered.tolist() == heads.tolist()


@pytest.mark.parametrize("scheme", ["head", "head+path"])
def test_long_trees_come_back_exactly_when_every_word_has_its_own_relation(scheme: Scheme) -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        heads = random_tree(int(rng.integers(6, 30)), rng)
        lowered, _ = deprojectivize(*projectivize(heads, unique_relations(heads), scheme), scheme)
        assert lowered.tolist() == heads.tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_single_lifted_arc_comes_back_exactly_in_every_scheme(scheme: Scheme) -> None:
    """With one lifted word there is one path, and with unique relations one head: nothing to mistake."""
    single = 0
    for heads in all_trees_up_to(5):
        lifted, decorated = projectivize(heads, unique_relations(heads), scheme)
        if int((lifted != heads).sum()) == 1:
            single += 1
            assert deprojectivize(lifted, decorated, scheme)[0].tolist() == heads.tolist()
    assert single > 300


@pytest.mark.parametrize("scheme", SCHEMES)
@quickly
@given(heads=trees(min_words=3), labels=st.data())
def test_no_label_however_odd_breaks_the_tree_or_reaches_the_user(
    scheme: Scheme, heads: Heads, labels: st.DataObject
) -> None:
    """Marks in any order and number: a file to be converted may hold anything."""
    words = len(heads) - 1
    drawn = labels.draw(st.lists(st.text("ab|%", max_size=5), min_size=words, max_size=words))
    lowered, plain = deprojectivize(heads, ["", *drawn], scheme)
    assert is_tree(lowered)
    assert not any("|" in label or "%" in label for label in plain)


@pytest.mark.parametrize("scheme", SCHEMES)
@quickly
@given(heads=trees(min_words=3), labels=st.data())
def test_decorated_labels_on_the_wrong_arcs_still_give_a_tree_with_plain_labels(
    scheme: Scheme, heads: Heads, labels: st.DataObject
) -> None:
    """A parser puts any of the decorated labels that it knows on any arc."""
    words = len(heads) - 1
    well_formed = ["a", "b", "a|", "b|", "a|a", "a|b", "b|a", "a%", "b%", "a|%", "b|%", "a|b%", "b|a%", "b|b%"]
    drawn = labels.draw(st.lists(st.sampled_from(well_formed), min_size=words, max_size=words))
    lowered, plain = deprojectivize(heads, ["", *drawn], scheme)
    assert is_tree(lowered)
    assert plain == ["", *(label[0] for label in drawn)]
    for word in range(1, words + 1):
        if "|" not in drawn[word - 1]:
            assert lowered[word] == heads[word], "only lifted words move"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_scheme_shows_in_the_relations_of_every_lifted_tree(scheme: Scheme) -> None:
    rng = np.random.default_rng(3)
    for heads in [*all_trees_up_to(4), *(random_tree(12, rng) for _ in range(50))]:
        if not is_projective(heads):
            _, decorated = projectivize(heads, random_relations(heads, rng), scheme)
            assert detect_scheme(decorated) == scheme


def test_where_nothing_is_lifted_any_scheme_will_do() -> None:
    rng = np.random.default_rng(4)
    heads = random_projective_tree(8, rng)
    relations = random_relations(heads, rng)
    assert detect_scheme(relations) in SCHEMES
    assert deprojectivize(heads, relations, detect_scheme(relations))[1] == relations
