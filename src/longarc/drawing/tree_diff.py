"""Compare a tree with the gold tree over the same words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.trees.structure import Mask


@dataclass(frozen=True)
class TreeDiff:
    """The differences between a tree and the gold tree over the same words."""

    heads: Mask
    """[n + 1] whether the head differs; False for the root."""
    relations: Mask
    """[n + 1] whether the relation differs; False for the root."""

    @property
    def arcs(self) -> Mask:
        """[n + 1] whether the head or the relation differs."""
        return self.heads | self.relations

    def summary(self) -> str:
        """Return how many words have the right head, and how many of them the right relation."""
        words = len(self.heads) - 1
        heads, arcs = words - int(self.heads.sum()), words - int(self.arcs.sum())
        return f"{heads} of {words} heads right, {arcs} with the right relation"


def tree_diff(sentence: Sentence, gold: Sentence) -> TreeDiff:
    """Compare a tree with the gold tree; raise LongarcError if the words differ."""
    if len(sentence) != len(gold):
        raise LongarcError(
            f"the trees have different words: {len(sentence)} words, but {len(gold)} in the gold tree",
            f"They begin with {' '.join(sentence.forms[:8])!r} and {' '.join(gold.forms[:8])!r}.",
        )
    for number, (form, gold_form) in enumerate(zip(sentence.forms, gold.forms, strict=True), 1):
        if form != gold_form:
            raise LongarcError(
                f"the trees have different words: word {number} is {form!r}, but {gold_form!r} in the gold tree"
            )
    pairs = zip(sentence.node_relations, gold.node_relations, strict=True)
    return TreeDiff(sentence.node_heads != gold.node_heads, np.array([relation != other for relation, other in pairs]))
