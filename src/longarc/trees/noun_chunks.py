"""Base noun phrases in trees of Universal Dependencies: a noun with its determiners, adjectives, numbers and the like.

A chunk contains no other chunk: prepositions, coordinated nouns and relative clauses are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

NOMINAL_TAGS = frozenset(["NOUN", "PROPN", "PRON"])
MODIFIERS = frozenset(["amod", "clf", "compound", "det", "fixed", "flat", "goeswith", "nmod:poss", "nummod"])
"""Relations to a noun inside its chunk"""
NO_HEADS = frozenset(["aux", "case", "cc", "cop", "discourse", "expl", "mark", "punct"])
"""Relations of words that head no chunk even if their tag is nominal"""


def noun_chunks(heads: Sequence[int], relations: Sequence[str], tags: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and last node of each noun chunk, from left to right.

    All arguments are indexed by node; the entries of node 0 are ignored. There may be several roots.
    """
    inside = _nodes_inside(heads, relations)
    chunks = []
    for node in range(1, len(heads)):
        if tags[node] in NOMINAL_TAGS and not _is_modifier(relations[node]) and _base(relations[node]) not in NO_HEADS:
            first = last = node
            while first - 1 in inside[node]:
                first -= 1
            while last + 1 in inside[node]:
                last += 1
            chunks.append((first, last))
    return _without_nested(chunks)


def _nodes_inside(heads: Sequence[int], relations: Sequence[str]) -> list[set[int]]:
    """Return for each node the nodes of the subtrees of its modifiers."""
    inside: list[set[int]] = [set() for _ in heads]
    for node in range(1, len(heads)):
        below = node
        while below:  # the chunk of every ancestor that is reached through one of its modifiers
            if _is_modifier(relations[below]):
                inside[heads[below]].add(node)
            below = heads[below]
    return inside


def _without_nested(chunks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for first, last in sorted(chunks, key=lambda chunk: (chunk[0], -chunk[1])):
        if not kept or first > kept[-1][1]:
            kept.append((first, last))
    return kept


def _base(relation: str) -> str:
    return relation.partition(":")[0]


def _is_modifier(relation: str) -> bool:
    return relation in MODIFIERS or _base(relation) in MODIFIERS
