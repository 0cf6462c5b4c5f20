"""Pseudo-projective encoding: examples by hand and properties of all trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longarc.errors import LongarcError
from longarc.trees.pseudo_projective import SCHEMES, Scheme, deprojectivize, detect_scheme, projectivize
from longarc.trees.structure import (
    is_projective,
    is_tree,
)
from tests.helpers.tree_definitions import ancestors, arcs, is_projective_arc, quickly
from tests.helpers.tree_generators import (
    Heads,
    all_trees,
    all_trees_up_to,
    as_heads,
    labelled_trees,
    projective_trees,
    random_projective_tree,
    random_relations,
    random_tree,
    trees,
    unique_relations,
)

# ---------------------------------------------------------------------------------------------------------------------
# Examples by hand.

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
# What holds for every tree.


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
