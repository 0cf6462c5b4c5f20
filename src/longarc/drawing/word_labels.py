"""What a drawing says about a word beside its form."""

from __future__ import annotations

from longarc.data.sentence import FEATS, UPOS, XPOS, Sentence
from longarc.drawing.text_width import printable


def tag_of(word: list[str]) -> str:
    """The universal tag, or where there is none the treebank's own; "" where there is neither."""
    tag = word[XPOS] if word[UPOS] == "_" else word[UPOS]
    return "" if tag == "_" else printable(tag)


def features_of(word: list[str]) -> list[str]:
    """The morphological features, such as `Case=Nom`."""
    return [] if word[FEATS] == "_" else [printable(feature) for feature in word[FEATS].split("|")]


def arc_in_words(sentence: Sentence, node: int) -> str:
    """The arc into a node as one would say it: `nsubj of reads (2)`, or just `root`."""
    head, relation = int(sentence.heads[node]), sentence.relations[node]
    if head < 0:
        return "no head"
    return printable(f"{relation} of {sentence.forms[head - 1]} ({head})" if head else relation)
