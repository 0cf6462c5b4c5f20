"""Plain definitions of tree properties to test the fast ones against."""

from __future__ import annotations

from hypothesis import settings

from tests.helpers.tree_generators import (
    Heads,
)

quickly = settings(max_examples=60, deadline=None)


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
