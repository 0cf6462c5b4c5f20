"""Evaluation conventions: which words count as punctuation, and which relations and features are compared.

Universal Dependencies: https://universaldependencies.org/conll18/evaluation.html (Zeman et al. 2018). CoNLL 2006 and
2007: Buchholz & Marsi (2006), Nivre et al. (2007) and their eval.pl. Penn Treebank: Chen & Manning (2014).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from longarc.data.sentence import DEPREL, FEATS, FORM, XPOS
from longarc.evaluation.corpus import Corpus
from longarc.trees.structure import Mask

Punctuation = Literal["count", "ud", "penn", "conllx"]
LabelStyle = Literal["universal", "whole"]

PENN_PUNCTUATION = frozenset({"``", "''", ",", ".", ":"})

PUNCTUATION_MEANINGS: dict[Punctuation, str] = {
    "count": "counted",
    "ud": "not counted where the gold relation is punct",
    "penn": f"not counted where the gold tag is one of {' '.join(sorted(PENN_PUNCTUATION))}",
    "conllx": "not counted where all characters of the form are punctuation in Unicode",
}
LABELS_MEANINGS: dict[LabelStyle, str] = {
    "universal": "relations without subtypes, universal features only",
    "whole": "whole relations, all features",
}

CONTENT_RELATIONS = frozenset(
    {
        *("nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl"),
        *("advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound"),
        *("list", "parataxis", "orphan", "goeswith", "reparandum", "root", "dep"),
    }
)
FUNCTION_RELATIONS = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})
UNIVERSAL_FEATURES = frozenset(
    {
        *("PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case"),
        *("Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person"),
        "Polite",
    }
)


@dataclass(frozen=True)
class Conventions:
    """How to compare two files."""

    punctuation: Punctuation = "count"
    """Which words to exclude from attachment scores."""
    labels: LabelStyle = "universal"
    """Whether to ignore relation subtypes and language-specific features."""


def is_punctuation(corpus: Corpus, kind: Punctuation) -> Mask:
    """Return [words]: which words are punctuation of a kind; none are with `count`."""
    if kind == "ud":
        return is_among(corpus.column(DEPREL), frozenset({"punct"}))
    if kind == "penn":
        tags = zip(corpus.column(XPOS), corpus.tags, strict=True)
        return np.array([(tag if xpos == "_" else xpos) in PENN_PUNCTUATION for xpos, tag in tags], dtype=np.bool_)
    if kind == "conllx":
        return np.array([_is_unicode_punctuation(form) for form in corpus.column(FORM)], dtype=np.bool_)
    return np.zeros(len(corpus), dtype=np.bool_)


def _is_unicode_punctuation(form: str) -> bool:
    """Return whether all characters are in a category P*. Symbols (S*) such as $ and + are not punctuation."""
    return bool(form) and all(unicodedata.category(character).startswith("P") for character in form)


def _without_subtype(relation: str) -> str:
    """Return `nsubj` for `nsubj:pass`."""
    return relation.partition(":")[0]


def compared_relations(corpus: Corpus, labels: LabelStyle) -> list[str]:
    """Return [words]: the relations in the form in which they are compared."""
    relations = corpus.column(DEPREL)
    return [_without_subtype(relation) for relation in relations] if labels == "universal" else relations


def compared_features(corpus: Corpus, labels: LabelStyle) -> list[tuple[str, ...]]:
    """Return [words]: the features in the form in which they are compared: sorted, since their order is irrelevant."""
    by_cell: dict[str, tuple[str, ...]] = {}
    cells = corpus.column(FEATS)
    for cell in set(cells):
        features = sorted(cell.split("|"))
        if labels == "universal":
            features = [feature for feature in features if feature.partition("=")[0] in UNIVERSAL_FEATURES]
        by_cell[cell] = tuple(features)
    return [by_cell[cell] for cell in cells]


def is_among(relations: Sequence[str], universal_relations: frozenset[str]) -> Mask:
    """Return [words]: which relations, without their subtypes, are in a set."""
    return np.array([_without_subtype(relation) in universal_relations for relation in relations], dtype=np.bool_)
