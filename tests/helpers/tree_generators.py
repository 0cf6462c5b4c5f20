"""Trees for the tests: all of them over a few words, random ones by a seed, and hypothesis strategies that shrink.

Heads are arrays indexed by node with `heads[0]` = -1, as everywhere in longarc. Nothing here uses longarc.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Heads = NDArray[np.int32]

RELATIONS = ("nsubj", "obj", "nmod:poss", "punct")


def as_heads(heads: Sequence[int]) -> Heads:
    """The array for the heads of words 1…n."""
    return np.array([-1, *heads], dtype=np.int32)


def leads_to_root(heads: Sequence[int], word: int) -> bool:
    """Whether the heads that follow `word` end at node 0; `heads` is indexed by node."""
    for _ in heads:
        if word == 0:
            return True
        word = heads[word]
    return word == 0


@cache
def all_trees(n: int) -> tuple[Heads, ...]:
    """Every tree over n words: (n + 1) ** (n - 1) of them."""
    found = []
    for heads in product(range(n + 1), repeat=n):
        if all(leads_to_root((-1, *heads), word) for word in range(1, n + 1)):
            found.append(as_heads(heads))
    return tuple(found)


def all_trees_up_to(n: int) -> Iterator[Heads]:
    """Every tree over 1…n words."""
    for length in range(1, n + 1):
        yield from all_trees(length)


def has_one_root(heads: Heads) -> bool:
    """Whether one word hangs on node 0."""
    return int(np.count_nonzero(heads == 0)) == 1


def random_tree(n: int, rng: np.random.Generator) -> Heads:
    """A tree over n words, all equally likely: the first visits of a random walk (Aldous 1990, Broder 1989)."""
    heads = as_heads([-1] * n)
    here, missing = 0, n
    while missing:
        there = int(rng.integers(n + 1))
        if there and heads[there] < 0:
            heads[there] = here
            missing -= 1
        here = there
    return heads


def random_projective_tree(n: int, rng: np.random.Generator) -> Heads:
    """A projective tree over n words; every one of them can come."""
    heads = as_heads([-1] * n)
    spans = [(1, n, 0)]
    while spans:
        first, last, head = spans.pop()
        if first > last:
            continue
        # The words first…end are the subtree of one child of `head`; those after it belong to its next children.
        end = int(rng.integers(first, last + 1))
        child = int(rng.integers(first, end + 1))
        heads[child] = head
        spans += [(first, child - 1, child), (child + 1, end, child), (end + 1, last, head)]
    return heads


@st.composite
def trees(draw: st.DrawFn, min_words: int = 1, max_words: int = 12) -> Heads:
    """Trees of any shape: the words come in some order, each below one that came before it."""
    n = draw(st.integers(min_words, max_words))
    order = [0, *draw(st.permutations(range(1, n + 1)))]
    heads = as_heads([-1] * n)
    for place in range(1, n + 1):
        heads[order[place]] = order[draw(st.integers(0, place - 1))]
    return heads


@st.composite
def projective_trees(draw: st.DrawFn, min_words: int = 1, max_words: int = 12) -> Heads:
    """Projective trees of any shape."""
    n = draw(st.integers(min_words, max_words))
    return random_projective_tree(n, np.random.default_rng(draw(st.integers(0, 2**32 - 1))))


@st.composite
def labelled_trees(draw: st.DrawFn, min_words: int = 1, max_words: int = 12) -> tuple[Heads, list[str]]:
    """Trees with relations from a handful, so that labels repeat."""
    heads = draw(trees(min_words, max_words))
    return heads, draw(relations_for(heads))


def relations_for(heads: Heads) -> st.SearchStrategy[list[str]]:
    """Relations for the words of a tree, indexed by node; the root has an empty one."""
    words = len(heads) - 1
    return st.lists(st.sampled_from(RELATIONS), min_size=words, max_size=words).map(lambda labels: ["", *labels])


def unique_relations(heads: Heads) -> list[str]:
    """Another relation for every word."""
    return ["", *(f"r{word}" for word in range(1, len(heads)))]


def random_relations(heads: Heads, rng: np.random.Generator) -> list[str]:
    """Relations from a handful, indexed by node."""
    return ["", *(RELATIONS[label] for label in rng.integers(len(RELATIONS), size=len(heads) - 1))]
