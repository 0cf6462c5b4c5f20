"""Pair the trees of a client with gold trees over the same words."""

from __future__ import annotations

from typing import NamedTuple

from longarc.data.document import Document
from longarc.data.sentence import Sentence
from longarc.drawing.tree_diff import TreeDiff, tree_diff
from longarc.errors import LongarcError
from longarc.server.limits import Limits
from longarc.server.problem import Problem
from longarc.server.read_input import check_lengths, read_conllu
from longarc.server.work import Cancellation
from longarc.trees.structure import require_acyclic


class TreePair(NamedTuple):
    """A tree, the gold tree over the same words, and where they differ."""

    tree: Sentence
    gold: Sentence
    diff: TreeDiff


def read_trees(conllu: str, limits: Limits, cancellation: Cancellation) -> Document:
    """Read trees that will not be parsed again; raise Problem for a cycle or a sentence that is too long."""
    sentences = read_conllu(conllu, cancellation, check=require_acyclic)
    check_lengths(sentences, limits)
    return sentences


def read_pairs(conllu: str, gold: str, limits: Limits, cancellation: Cancellation) -> list[TreePair]:
    """Read trees and their gold trees; raise Problem if they are not over the same words."""
    trees = read_trees(conllu, limits, cancellation)
    try:
        gold_trees = read_trees(gold, limits, cancellation)
    except Problem as problem:
        raise Problem(problem.status_code, f"gold: {problem.message}", problem.hint, problem.line) from None
    if len(trees) != len(gold_trees):
        raise Problem(
            422,
            f"the input has {len(trees):,} sentences, but the gold input {len(gold_trees):,}",
            "Both inputs need the same sentences in the same order.",
        )
    pairs = zip(trees, gold_trees, strict=True)
    return [_pair(tree, other, number) for number, (tree, other) in enumerate(cancellation.watch(pairs), 1)]


def _pair(tree: Sentence, gold: Sentence, number: int) -> TreePair:
    """Pair two trees; raise Problem with the number of the sentence if their words differ."""
    try:
        return TreePair(tree, gold, tree_diff(tree, gold))
    except LongarcError as error:
        raise Problem(422, f"sentence {number}: {error.message}", error.hint, tree.line or None) from None
