"""The texts that a drawing shows for a word, apart from its form."""

from __future__ import annotations

from longarc.data.sentence import FEATS, UPOS, XPOS, Sentence
from longarc.drawing.text_width import printable


def tag_of(word: list[str]) -> str:
    """Return UPOS, or XPOS if UPOS is empty; "" if both are."""
    tag = word[XPOS] if word[UPOS] == "_" else word[UPOS]
    return "" if tag == "_" else printable(tag)


def features_of(word: list[str]) -> list[str]:
    """Return the morphological features, such as `Case=Nom`."""
    return [] if word[FEATS] == "_" else [printable(feature) for feature in word[FEATS].split("|")]


def arc_in_words(sentence: Sentence, node: int) -> str:
    """Describe the arc into a node: `nsubj of reads (2)`, or just `root`."""
    head, relation = int(sentence.node_heads[node]), sentence.node_relations[node]
    if head < 0:
        return "no head"
    return printable(f"{relation} of {sentence.forms[head - 1]} ({head})" if head else relation)
