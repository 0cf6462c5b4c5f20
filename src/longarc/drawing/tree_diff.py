"""A system's tree beside the gold tree over the same words: which arcs differ."""

from __future__ import annotations

from dataclasses import dataclass

from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.trees.structure import Mask


@dataclass(frozen=True)
class Difference:
    """[n + 1] Where a tree has another head than the gold tree, and where another relation; False for the root."""

    heads: Mask
    relations: Mask

    @property
    def arcs(self) -> Mask:
        """[n + 1] Where the head or the relation differs."""
        return self.heads | self.relations

    def summary(self) -> str:
        """How many words have their head right, and how many their relation as well."""
        words = len(self.heads) - 1
        heads, arcs = words - int(self.heads.sum()), words - int(self.arcs.sum())
        return f"{heads} of {words} heads right, {arcs} with the right relation"


def compare(sentence: Sentence, gold: Sentence) -> Difference:
    """What is different in `sentence`; an error if the words are not the same."""
    if len(sentence) != len(gold):
        raise LongarcError(
            f"the trees have different words: {len(sentence)} in the system's, {len(gold)} in the gold one",
            f"They begin with {' '.join(sentence.forms[:8])!r} and with {' '.join(gold.forms[:8])!r}.",
        )
    for number, (form, wanted) in enumerate(zip(sentence.forms, gold.forms, strict=True), 1):
        if form != wanted:
            raise LongarcError(f"the trees have different words: word {number} is {form!r}, in the gold one {wanted!r}")
    heads = sentence.heads != gold.heads
    relations = heads.copy()
    relations[:] = [mine != theirs for mine, theirs in zip(sentence.relations, gold.relations, strict=True)]
    return Difference(heads, relations)
