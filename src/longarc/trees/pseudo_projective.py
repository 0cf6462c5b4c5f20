"""Pseudo-projective parsing (Nivre & Nilsson 2005): non-projective arcs are lifted until the tree is projective, and
the relation labels say enough to lower most of them again. The three schemes are those of MaltParser.
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

LIFTED, ON_PATH = "|", "%"


def projectivize(heads: Heads, relations: Sequence[str], scheme: Scheme) -> tuple[Heads, list[str]]:
    """The projective tree and its decorated relations; a projective tree comes back as it is.

    The shortest non-projective arc (by its length in the original tree, ties to the left) is lifted to the head of
    its head, again and again until none is left.
    """
    lowered = heads
    heads = heads.copy()
    lifted: set[int] = set()
    on_path: set[int] = set()
    length = np.abs(np.arange(len(heads)) - lowered)
    while (crossing := np.flatnonzero(~projective_arcs(heads))).size:
        dependent = int(crossing[np.argmin(length[crossing])])
        lifted.add(dependent)
        on_path.add(int(heads[dependent]))
        heads[dependent] = heads[heads[dependent]]
    decorated = list(relations)
    if not lifted:
        return heads, decorated
    for relation in relations:
        if LIFTED in relation or ON_PATH in relation:
            raise LongarcError(
                f"the relation {relation!r} contains {LIFTED} or {ON_PATH}, which mark lifted arcs",
                "Rename the relation, or use a non-projective system such as nl-covington.",
            )
    for node in range(1, len(heads)):
        if node in lifted:
            decorated[node] += LIFTED
            if scheme != "path":
                decorated[node] += relations[lowered[node]]
        if scheme != "head" and node in on_path:
            decorated[node] += ON_PATH
    return heads, decorated


def detect_scheme(relations: Sequence[str]) -> Scheme:
    """The scheme that the decorated relations of a sentence were made by: a lifted arc shows it."""
    names_heads = any(relation.partition(LIFTED)[2].removesuffix(ON_PATH) for relation in relations)
    marks_paths = any(relation.endswith(ON_PATH) for relation in relations)
    return ("head+path" if names_heads else "path") if marks_paths else "head"


def deprojectivize(heads: Heads, relations: Sequence[str], scheme: Scheme) -> tuple[Heads, list[str]]:
    """The tree with its lifted arcs lowered, as far as the labels allow, and plain relations.

    Lowering one arc can bring the head of another within reach, so the search is repeated while it finds anything.
    """
    plain = [relation.partition(LIFTED)[0].partition(ON_PATH)[0] for relation in relations]
    heads = heads.copy()
    if all(relation == label for relation, label in zip(plain, relations, strict=True)):
        return heads, plain
    children: list[list[int]] = [[] for _ in heads]
    for node in range(1, len(heads)):
        children[heads[node]].append(node)
    waiting = [node for node in _top_down(children) if LIFTED in relations[node]]
    found_some = True
    while waiting and found_some:
        found_some = False
        for node in waiting.copy():
            target = _find_head(node, int(heads[node]), children, relations, plain, scheme)
            if target is not None:
                children[heads[node]].remove(node)
                children[target].append(node)
                heads[node] = target
                waiting.remove(node)
                found_some = True
    return heads, plain


def _top_down(children: list[list[int]]) -> list[int]:
    """All nodes, each after its head."""
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
    """Searches breadth-first below `start`, nearest to the dependent first, for the head that its label tells of.

    head: the first node with the label of the head. path: the first node at which a path of marked nodes ends.
    head+path: the first node for which both hold, else the first marked one with that label.
    """
    wanted = relations[dependent].partition(LIFTED)[2].removesuffix(ON_PATH)
    second_chance = None
    agenda = deque([start])
    while agenda:
        node = agenda.popleft()
        below = [
            child
            for child in children[node]
            if child != dependent and (scheme == "head" or relations[child].endswith(ON_PATH))
        ]
        agenda.extend(sorted(below, key=lambda child: (abs(child - dependent), child)))
        if node == start or (scheme != "path" and plain[node] != wanted):
            continue
        if scheme == "head" or not below:
            return node
        if scheme == "head+path" and second_chance is None:
            second_chance = node
    return second_chance
