"""What is compared and what is counted: punctuation, relation subtypes, features, content and function words.

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
from longarc.evaluation.corpus import Corpus, Mask

Punctuation = Literal["count", "ud", "penn", "conllx"]
Labels = Literal["universal", "whole"]

PENN_PUNCTUATION = frozenset({"``", "''", ",", ".", ":"})

PUNCTUATION_MEANINGS: dict[Punctuation, str] = {
    "count": "counted",
    "ud": "not counted where the gold relation is punct",
    "penn": f"not counted where the gold tag is one of {' '.join(sorted(PENN_PUNCTUATION))}",
    "conllx": "not counted where all characters of the form are punctuation in Unicode",
}
LABELS_MEANINGS: dict[Labels, str] = {
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
    """How two files are compared."""

    punctuation: Punctuation = "count"
    """Which words take no part in the measures of attachment."""
    labels: Labels = "universal"
    """Whether relations are compared without their subtypes, and features only where they are universal."""


def is_punctuation(corpus: Corpus, kind: Punctuation) -> Mask:
    """[words] whether each word is punctuation of a kind; with `count` none is."""
    if kind == "ud":
        return np.array([universal(relation) == "punct" for relation in corpus.column(DEPREL)], dtype=np.bool_)
    if kind == "penn":
        tags = zip(corpus.column(XPOS), corpus.tags, strict=True)
        return np.array([(tag if fine == "_" else fine) in PENN_PUNCTUATION for fine, tag in tags], dtype=np.bool_)
    if kind == "conllx":
        return np.array([_is_unicode_punctuation(form) for form in corpus.column(FORM)], dtype=np.bool_)
    return np.zeros(len(corpus), dtype=np.bool_)


def _is_unicode_punctuation(form: str) -> bool:
    """Whether there are only characters of the categories P*; symbols (S*), such as $ and +, are none."""
    return bool(form) and all(unicodedata.category(character).startswith("P") for character in form)


def universal(relation: str) -> str:
    """The relation without its subtype: `nsubj` for `nsubj:pass`."""
    return relation.partition(":")[0]


def compared_relations(corpus: Corpus, labels: Labels) -> list[str]:
    """[words] the relations as they are compared."""
    relations = corpus.column(DEPREL)
    return [universal(relation) for relation in relations] if labels == "universal" else relations


def compared_features(corpus: Corpus, labels: Labels) -> list[tuple[str, ...]]:
    """[words] the features as they are compared, whatever their order."""
    known: dict[str, tuple[str, ...]] = {}
    columns = corpus.column(FEATS)
    for column in set(columns):
        features = sorted(column.split("|"))
        if labels == "universal":
            features = [feature for feature in features if feature.partition("=")[0] in UNIVERSAL_FEATURES]
        known[column] = tuple(features)
    return [known[column] for column in columns]


def among(relations: Sequence[str], wanted: frozenset[str]) -> Mask:
    """[words] whether each relation, its subtype left aside, is one of the wanted ones."""
    return np.array([universal(relation) in wanted for relation in relations], dtype=np.bool_)
