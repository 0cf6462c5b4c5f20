"""Attachment scores of trees over the same words, every word counted, punctuation too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longarc.trees.structure import Heads

Tree = tuple[Heads, Sequence[str]]
"""Heads and relations, indexed by node."""


@dataclass(frozen=True)
class AttachmentScores:
    """Percentages."""

    uas: float
    las: float


def attachment_scores(gold: Iterable[Tree], system: Iterable[Tree]) -> AttachmentScores:
    """How many words have the right head, and how many the right head and relation."""
    words = heads = both = 0
    for (gold_heads, gold_relations), (system_heads, system_relations) in zip(gold, system, strict=True):
        right = (gold_heads == system_heads)[1:]
        words += len(right)
        heads += int(right.sum())
        pairs = zip(right, gold_relations[1:], system_relations[1:], strict=True)
        both += sum(1 for is_right, wanted, found in pairs if is_right and wanted == found)
    return AttachmentScores(100 * heads / max(words, 1), 100 * both / max(words, 1))
