"""The measures, each defined once: which words are right, the counts of every sentence, the scores from their sums.

A measure is a count of right things, of the gold file's things and of the system's things, so that precision, recall
and F1 come from sums over any choice of sentences: all of them, or a bootstrap sample. With the same words on both
sides the three agree for all measures but CLAS, MLAS, BLEX and roots, where each file says what is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import LEMMA, UPOS, XPOS
from longarc.evaluation.alignment import UNALIGNED, Alignment, Units, align
from longarc.evaluation.conventions import (
    CONTENT_RELATIONS,
    FUNCTION_RELATIONS,
    Conventions,
    among,
    compared_features,
    compared_relations,
    is_punctuation,
)
from longarc.evaluation.corpus import ROOT, Corpus, Mask, Numbers, common_numbers

MEASURES: dict[str, str] = {
    "tokens": "tokens",
    "sentences": "sentences",
    "words": "words",
    "upos": "UPOS",
    "xpos": "XPOS",
    "features": "features",
    "all_tags": "all tags",
    "lemmas": "lemmas",
    "uas": "UAS",
    "las": "LAS",
    "label_accuracy": "label accuracy",
    "clas": "CLAS",
    "mlas": "MLAS",
    "blex": "BLEX",
    "root": "roots",
    "complete_unlabelled": "complete, unlabelled",
    "complete_labelled": "complete, labelled",
}
"""The measures' keys, in the order of the arrays of counts, and their names for people."""

TOKENISATION = ("tokens", "sentences", "words")
"""The measures that say nothing when both files have the same words."""

UNIVERSAL = ("clas", "mlas", "blex")
"""The measures that tell content words by the relations of Universal Dependencies."""

CORRECT, GOLD, SYSTEM, ALIGNED = range(4)


@dataclass(frozen=True)
class Score:
    """One measure over some sentences; shares are percentages, 0 where there is nothing to be right or wrong."""

    correct: int
    gold: int
    system: int
    aligned: int
    """Of the gold file's things, those whose words have a partner in the system's file."""

    @property
    def precision(self) -> float:
        return 100 * self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return 100 * self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 200 * self.correct / (self.gold + self.system) if self.gold + self.system else 0.0

    @property
    def aligned_accuracy(self) -> float:
        return 100 * self.correct / self.aligned if self.aligned else 0.0


@dataclass(frozen=True)
class Judgement:
    """A system's file held against the gold file, word by word."""

    gold: Corpus
    system: Corpus
    alignment: Alignment
    conventions: Conventions
    gold_relations: list[str]
    """[gold words] as they are compared."""
    system_relations: list[str]
    """[system words]"""
    gold_counted: Mask
    """[gold words] those that take part in the measures of attachment."""
    system_counted: Mask
    """[system words] the partners of those, and the words without partner that are not punctuation by themselves."""
    chosen_heads: Numbers
    """[gold words] the gold word that the system chose as head; ROOT, or UNALIGNED if it is not a gold word."""
    right_head: Mask
    """[gold words] whether the partner's head is the partner of the head."""
    right_relation: Mask
    """[gold words] whether the relation is the same, whatever the head."""

    @property
    def aligned(self) -> Mask:
        """[gold words] those that have a partner."""
        return np.asarray(self.alignment.system_of_gold != UNALIGNED)

    @property
    def right_arc(self) -> Mask:
        """[gold words] whether head and relation are right."""
        return self.right_head & self.right_relation

    def on_system(self, right: Mask) -> Mask:
        """[system words] whether the gold word that each is the partner of is `right` [gold words]."""
        return np.asarray(partners_value(right, self.alignment.gold_of_system, False))


def partners_value(values: NDArray[Any], partner: Numbers, otherwise: int | bool) -> NDArray[Any]:
    """[words] the values [words of the other file] of each word's partner, `otherwise` for a word that has none."""
    found: NDArray[Any] = np.where(partner == UNALIGNED, otherwise, values[np.maximum(partner, 0)])
    return found


def judge(gold: Corpus, system: Corpus, conventions: Conventions) -> Judgement:
    """Aligns two files and finds which words are right."""
    alignment = align(gold, system)
    partner = alignment.system_of_gold
    gold_relations = compared_relations(gold, conventions.labels)
    system_relations = compared_relations(system, conventions.labels)
    gold_counted = ~is_punctuation(gold, conventions.punctuation)
    by_itself = ~is_punctuation(system, conventions.punctuation)
    of_system = alignment.gold_of_system
    system_heads = np.where(system.heads == ROOT, ROOT, of_system[system.heads])
    chosen_heads = partners_value(system_heads, partner, UNALIGNED)
    return Judgement(
        gold=gold,
        system=system,
        alignment=alignment,
        conventions=conventions,
        gold_relations=gold_relations,
        system_relations=system_relations,
        gold_counted=gold_counted,
        system_counted=np.where(of_system == UNALIGNED, by_itself, partners_value(gold_counted, of_system, False)),
        chosen_heads=chosen_heads,
        right_head=chosen_heads == gold.heads,
        right_relation=_same(gold_relations, system_relations, partner),
    )


def _same(gold: list[str] | list[tuple[str, ...]], system: list[str] | list[tuple[str, ...]], partner: Numbers) -> Mask:
    """[gold words] whether there is a partner with the same value."""
    ours, theirs = common_numbers(gold, system)
    return np.asarray(partners_value(theirs, partner, UNALIGNED) == ours)


def count(judgement: Judgement) -> Numbers:
    """[gold sentences, measures, 4] for each measure right things, the gold's, the system's, and the aligned ones."""
    gold, system = judgement.gold, judgement.system
    partner = judgement.alignment.system_of_gold
    upos = _same(gold.column(UPOS), system.column(UPOS), partner)
    xpos = _same(gold.column(XPOS), system.column(XPOS), partner)
    labels = judgement.conventions.labels
    features = _same(compared_features(gold, labels), compared_features(system, labels), partner)
    lemmas = gold.column(LEMMA)
    no_lemma = np.array([lemma == "_" for lemma in lemmas], dtype=np.bool_)
    same_lemma = judgement.aligned & (no_lemma | _same(lemmas, system.column(LEMMA), partner))
    every, every_system = np.ones(len(gold), dtype=np.bool_), np.ones(len(system), dtype=np.bool_)
    content = among(judgement.gold_relations, CONTENT_RELATIONS)
    system_content = among(judgement.system_relations, CONTENT_RELATIONS)
    counted, system_counted = judgement.gold_counted, judgement.system_counted
    right_head, right_arc = judgement.right_head, judgement.right_arc
    same_children = _same_function_words(judgement, upos & features)
    at_root, system_at_root = gold.heads == ROOT, system.heads == ROOT
    masks = {
        "words": (judgement.aligned, every, every_system),
        "upos": (upos, every, every_system),
        "xpos": (xpos, every, every_system),
        "features": (features, every, every_system),
        "all_tags": (upos & xpos & features, every, every_system),
        "lemmas": (same_lemma, every, every_system),
        "uas": (right_head, counted, system_counted),
        "las": (right_arc, counted, system_counted),
        "label_accuracy": (judgement.right_relation, counted, system_counted),
        "clas": (right_arc, content, system_content),
        "mlas": (right_arc & upos & features & same_children, content, system_content),
        "blex": (right_arc & same_lemma, content, system_content),
        "root": (right_head, counted & at_root, system_counted & system_at_root),
    }
    by_measure = {name: _count_words(judgement, *triple) for name, triple in masks.items()}
    by_measure["tokens"] = _count_units(judgement, judgement.alignment.tokens)
    by_measure["sentences"] = _count_units(judgement, judgement.alignment.sentences)
    by_measure["complete_unlabelled"] = _complete(by_measure["uas"])
    by_measure["complete_labelled"] = _complete(by_measure["las"])
    return np.stack([by_measure[name] for name in MEASURES], axis=1)


def _count_words(judgement: Judgement, right: Mask, gold: Mask, system: Mask) -> Numbers:
    """[gold sentences, 4] of masks over the words of both files."""
    own, attributed = judgement.gold.sentence, judgement.alignment.system_sentence
    places = (own[right & gold], own[gold], attributed[system], own[gold & judgement.aligned])
    return np.stack([np.bincount(place, minlength=len(judgement.gold.sentences)) for place in places], axis=1)


def _count_units(judgement: Judgement, units: Units) -> Numbers:
    """[gold sentences, 4] of tokens or sentences."""
    right = np.isin(units.gold, units.system)
    places = (units.gold_sentence[right], units.gold_sentence, units.system_sentence, units.gold_sentence)
    return np.stack([np.bincount(place, minlength=len(judgement.gold.sentences)) for place in places], axis=1)


def _complete(counts: Numbers) -> Numbers:
    """[gold sentences, 4] 1 or 0 each, from the counts of words; a sentence with no word that counts is left out."""
    correct, gold, system = counts[:, CORRECT], counts[:, GOLD], counts[:, SYSTEM]
    there = gold > 0
    complete = there & (correct == gold) & (system == gold)
    return np.stack([complete, there, there, there], axis=1).astype(np.int64)


def _same_function_words(judgement: Judgement, same_tag: Mask) -> Mask:
    """[gold words] whether the function words that depend on a word and on its partner are the same, in all respects.

    `same_tag` [gold words] says of each word whether tag and features are right.
    """
    gold, system = judgement.gold, judgement.system
    function = among(judgement.gold_relations, FUNCTION_RELATIONS)
    right = function & judgement.right_arc & same_tag
    wanted = _children(gold.heads[function], len(gold))
    found = _children(system.heads[among(judgement.system_relations, FUNCTION_RELATIONS)], len(system))
    # Every function word that is right depends on the partner, so equal numbers mean that there are no others.
    matched = _children(gold.heads[right], len(gold))
    of_partner = partners_value(found, judgement.alignment.system_of_gold, UNALIGNED)
    return np.asarray((wanted == matched) & (wanted == of_partner))


def _children(heads: Numbers, words: int) -> Numbers:
    """[words] how often each word is among the heads."""
    return np.bincount(heads[heads != ROOT], minlength=words)


def meaningful_measures(gold: Corpus, conventions: Conventions) -> list[str]:
    """The keys of the measures that make sense: none of UD's for a CoNLL-X file with relations of its own."""
    foreign = gold.sentences[0].format == "conllx" and conventions.labels == "whole"
    return [name for name in MEASURES if not (foreign and name in UNIVERSAL)]


def total(counts: Numbers) -> dict[str, Score]:
    """The scores over sentences, from their counts [sentences, measures, 4]."""
    sums = counts.sum(axis=0).tolist()
    return {name: Score(*row) for name, row in zip(MEASURES, sums, strict=True)}
