"""Pseudo-projective parsing (Nivre & Nilsson 2005): lift non-projective arcs until the tree is projective, and mark the
relations so that most arcs can be lowered again. The three marking schemes are those of MaltParser.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from longarc.errors import LongarcError
from longarc.trees.structure import Heads, projective_arcs

Scheme = Literal["head", "path", "head+path"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
Projectivization = Literal["head", "path", "head+path", "none"]
"""A marking scheme, or none: lifted arcs are not marked and stay lifted."""
PROJECTIVIZATIONS: tuple[Projectivization, ...] = get_args(Projectivization)

LIFTED, ON_PATH = "|", "%"


def projectivize(heads: Heads, relations: Sequence[str], scheme: Scheme) -> tuple[Heads, list[str]]:
    """Return a projective tree and its marked relations; a tree that is projective already is returned unchanged."""
    original = heads
    heads, lifted, on_path = lift(heads)
    marked = list(relations)
    if not lifted:
        return heads, marked
    for relation in relations:
        if LIFTED in relation or ON_PATH in relation:
            raise LongarcError(
                f"the relation {relation!r} contains {LIFTED} or {ON_PATH}, which mark lifted arcs",
                "Rename the relation, or use a non-projective system such as nl-covington.",
            )
    for node in range(1, len(heads)):
        if node in lifted:
            marked[node] += LIFTED
            if scheme != "path":
                marked[node] += relations[original[node]]
        if scheme != "head" and node in on_path:
            marked[node] += ON_PATH
    return heads, marked


def lift(heads: Heads) -> tuple[Heads, set[int], set[int]]:
    """Return a projective tree, the dependents of lifted arcs, and the words from which they were lifted.

    While there are non-projective arcs, the shortest one (measured in the original tree, leftmost first) is attached
    to the head of its head.
    """
    lifted: set[int] = set()
    on_path: set[int] = set()
    length = np.abs(np.arange(len(heads)) - heads)
    heads = heads.copy()
    while (non_projective := np.flatnonzero(~projective_arcs(heads))).size:
        dependent = int(non_projective[np.argmin(length[non_projective])])
        lifted.add(dependent)
        on_path.add(int(heads[dependent]))
        heads[dependent] = heads[heads[dependent]]
    return heads, lifted, on_path


def detect_scheme(relations: Sequence[str]) -> Scheme:
    """Return the scheme by which the relations of a sentence were marked."""
    names_heads = any(relation.partition(LIFTED)[2].removesuffix(ON_PATH) for relation in relations)
    marks_paths = any(relation.endswith(ON_PATH) for relation in relations)
    return ("head+path" if names_heads else "path") if marks_paths else "head"


def deprojectivize(heads: Heads, relations: Sequence[str], scheme: Scheme) -> tuple[Heads, list[str]]:
    """Return the tree with lifted arcs lowered, as far as the marks allow, and the relations without marks.

    Lowering one arc can make the head of another reachable, so the search is repeated until it finds none.
    """
    plain = [relation.partition(LIFTED)[0].partition(ON_PATH)[0] for relation in relations]
    heads = heads.copy()
    if all(relation == label for relation, label in zip(plain, relations, strict=True)):
        return heads, plain
    children: list[list[int]] = [[] for _ in heads]
    for node in range(1, len(heads)):
        children[heads[node]].append(node)
    lifted = [node for node in _top_down(children) if LIFTED in relations[node]]
    progress = True
    while lifted and progress:
        progress = False
        for node in lifted.copy():
            target = _find_head(node, int(heads[node]), children, relations, plain, scheme)
            if target is not None:
                children[heads[node]].remove(node)
                children[target].append(node)
                heads[node] = target
                lifted.remove(node)
                progress = True
    return heads, plain


def _top_down(children: list[list[int]]) -> list[int]:
    """Return all nodes, each after its head."""
    order = [0]
    for node in order:
        order.extend(children[node])
    return order


def _find_head(
    dependent: int,
    start: int,
    children: list[list[int]],
    relations: Sequence[str],
    plain: Sequence[str],
    scheme: Scheme,
) -> int | None:
    """Search breadth-first below `start`, nearest to the dependent first, for the original head of a lifted arc.

    head: return the first node with the relation that the mark names. path: the first node that ends a path of marked
    nodes. head+path: the first node for which both hold, else the first marked node with that relation.
    """
    head_relation = relations[dependent].partition(LIFTED)[2].removesuffix(ON_PATH)
    fallback = None
    agenda = deque([start])
    while agenda:
        node = agenda.popleft()
        below = [
            child
            for child in children[node]
            if child != dependent and (scheme == "head" or relations[child].endswith(ON_PATH))
        ]
        agenda.extend(sorted(below, key=lambda child: (abs(child - dependent), child)))
        if node == start or (scheme != "path" and plain[node] != head_relation):
            continue
        if scheme == "head" or not below:
            return node
        if scheme == "head+path" and fallback is None:
            fallback = node
    return fallback
