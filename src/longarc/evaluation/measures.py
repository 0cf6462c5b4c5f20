"""All measures, each defined once: counts for every sentence, and the scores computed from their sums.

A measure counts the correct items, the items in the gold file and the items in the system's file. Precision, recall and
F1 follow from the sums over any set of sentences: the whole file, or a bootstrap sample.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import FEATS, LEMMA, UPOS, XPOS, Sentence
from longarc.evaluation.alignment import UNALIGNED, Alignment, Units, align
from longarc.evaluation.conventions import (
    CONTENT_RELATIONS,
    FUNCTION_RELATIONS,
    Conventions,
    compared_features,
    compared_relations,
    is_among,
    is_punctuation,
)
from longarc.evaluation.corpus import ROOT, Corpus, common_numbers
from longarc.transitions.system import Ints
from longarc.trees.structure import Mask

CORRECT, GOLD, SYSTEM, ALIGNED = range(4)
"""The last axis of an array of counts."""


def percent(part: int, total: int) -> float:
    """Return a percentage, 0 if the total is 0."""
    return 100 * part / total if total else 0.0


@dataclass(frozen=True)
class Score:
    """The counts of one measure over some sentences, and its percentages."""

    correct: int
    gold: int
    system: int
    aligned: int
    """The gold items whose words have a partner in the system's file."""

    @property
    def precision(self) -> float:
        return percent(self.correct, self.system)

    @property
    def recall(self) -> float:
        return percent(self.correct, self.gold)

    @property
    def f1(self) -> float:
        return percent(2 * self.correct, self.gold + self.system)

    @property
    def aligned_accuracy(self) -> float:
        return percent(self.correct, self.aligned)


@dataclass(frozen=True)
class Judgement:
    """A word-by-word comparison of a system's file with the gold file. All masks are [gold words] unless noted."""

    gold: Corpus
    system: Corpus
    alignment: Alignment
    conventions: Conventions

    @cached_property
    def aligned(self) -> Mask:
        """The words that have a partner."""
        return np.asarray(self.alignment.system_of_gold != UNALIGNED)

    @cached_property
    def gold_relations(self) -> list[str]:
        """[gold words] the relations in the form in which they are compared."""
        return compared_relations(self.gold, self.conventions.labels)

    @cached_property
    def system_relations(self) -> list[str]:
        """[system words]"""
        return compared_relations(self.system, self.conventions.labels)

    @cached_property
    def gold_counted(self) -> Mask:
        """The words that count for attachment scores."""
        return ~is_punctuation(self.gold, self.conventions.punctuation)

    @cached_property
    def system_counted(self) -> Mask:
        """[system words] the partners of counted gold words, and words without partner that are not punctuation."""
        unaligned = self.alignment.gold_of_system == UNALIGNED
        not_punctuation = ~is_punctuation(self.system, self.conventions.punctuation)
        return np.where(unaligned, not_punctuation, self.on_system(self.gold_counted))

    @cached_property
    def chosen_heads(self) -> Ints:
        """[gold words] the gold word that the system chose as head, ROOT, or UNALIGNED if it chose no gold word."""
        heads = self.system.heads
        gold_heads = np.where(heads == ROOT, ROOT, self.alignment.gold_of_system[heads])
        return partners_value(gold_heads, self.alignment.system_of_gold, UNALIGNED)

    @cached_property
    def right_head(self) -> Mask:
        return np.asarray(self.chosen_heads == self.gold.heads)

    @cached_property
    def right_relation(self) -> Mask:
        """Whether the relation is right, regardless of the head."""
        return self.same(self.gold_relations, self.system_relations)

    @cached_property
    def right_arc(self) -> Mask:
        """Whether head and relation are right."""
        return self.right_head & self.right_relation

    @cached_property
    def right_upos(self) -> Mask:
        return self.same(self.gold.column(UPOS), self.system.column(UPOS))

    @cached_property
    def right_xpos(self) -> Mask:
        return self.same(self.gold.column(XPOS), self.system.column(XPOS))

    @cached_property
    def right_features(self) -> Mask:
        labels = self.conventions.labels
        return self.same(compared_features(self.gold, labels), compared_features(self.system, labels))

    @cached_property
    def right_lemma(self) -> Mask:
        """Whether the lemma is right. Any lemma is right where the gold file has none."""
        lemmas = self.gold.column(LEMMA)
        no_lemma = np.array([lemma == "_" for lemma in lemmas], dtype=np.bool_)
        return self.aligned & (no_lemma | self.same(lemmas, self.system.column(LEMMA)))

    @cached_property
    def right_morphology(self) -> Mask:
        """Whether arc, UPOS and features are right, and all of these also for the function words below the word."""
        right = self.right_arc & self.right_upos & self.right_features
        function = is_among(self.gold_relations, FUNCTION_RELATIONS)
        system_function = is_among(self.system_relations, FUNCTION_RELATIONS)
        gold_counts = _count_dependents(self.gold.heads[function], len(self.gold))
        right_counts = _count_dependents(self.gold.heads[function & right], len(self.gold))
        system_counts = _count_dependents(self.system.heads[system_function], len(self.system))
        # Right function words depend on the partner, so both have the same function words if all counts are equal.
        partner_counts = partners_value(system_counts, self.alignment.system_of_gold, UNALIGNED)
        return np.asarray(right & (gold_counts == right_counts) & (gold_counts == partner_counts))

    def same(self, gold: Sequence[Hashable], system: Sequence[Hashable]) -> Mask:
        """Return which gold words have a partner with the same value, from the values of all words of both files."""
        gold_values, system_values = common_numbers(gold, system)
        return np.asarray(partners_value(system_values, self.alignment.system_of_gold, UNALIGNED) == gold_values)

    def on_system(self, mask: Mask) -> Mask:
        """Return [system words]: the mask's value for each word's gold partner, False without partner."""
        return partners_value(mask, self.alignment.gold_of_system, False)


def partners_value(values: NDArray[Any], partner: Ints, default: int | bool) -> NDArray[Any]:
    """Return [words]: the value of each word's partner, from the values of the other file's words."""
    return np.asarray(np.where(partner == UNALIGNED, default, values[np.maximum(partner, 0)]))


def _count_dependents(heads: Ints, words: int) -> Ints:
    """Return [words]: how often each word is a head."""
    return np.bincount(heads[heads != ROOT], minlength=words)


def judge(gold: Corpus, system: Corpus, conventions: Conventions) -> Judgement:
    """Align two files and compare them word by word."""
    return Judgement(gold, system, align(gold, system), conventions)


# ---------------------------------------------------------------------------------------------------------------------
# Counts: [gold sentences, 4], with the axis CORRECT, GOLD, SYSTEM, ALIGNED.


def count_words(judgement: Judgement, right: Mask, gold: Mask | None = None, system: Mask | None = None) -> Ints:
    """Count right words [gold words] among the relevant words of both files (default: all of them)."""
    sentence, system_sentence = judgement.gold.sentence, judgement.alignment.system_sentence
    gold = np.ones_like(sentence, dtype=np.bool_) if gold is None else gold
    system = np.ones_like(system_sentence, dtype=np.bool_) if system is None else system
    aligned = sentence[gold & judgement.aligned]
    return _count(judgement, sentence[right & gold], sentence[gold], system_sentence[system], aligned)


def count_attachments(judgement: Judgement, right: Mask) -> Ints:
    """Count right words [gold words] among those that count for attachment scores."""
    return count_words(judgement, right, judgement.gold_counted, judgement.system_counted)


def _count_content_words(judgement: Judgement, right: Mask) -> Ints:
    relations = judgement.gold_relations, judgement.system_relations
    return count_words(judgement, right, *(is_among(side, CONTENT_RELATIONS) for side in relations))


def _count_roots(judgement: Judgement) -> Ints:
    gold = judgement.gold_counted & (judgement.gold.heads == ROOT)
    system = judgement.system_counted & (judgement.system.heads == ROOT)
    return count_words(judgement, judgement.right_head, gold, system)


def _count_complete(judgement: Judgement, right: Mask) -> Ints:
    """Count sentences whose words are all right. Sentences without a word that counts are excluded."""
    correct, gold, system, _ = count_attachments(judgement, right).T
    eligible = gold > 0
    complete = eligible & (correct == gold) & (system == gold)
    return np.stack([complete, eligible, eligible, eligible], axis=1).astype(np.int64)


def _count_units(judgement: Judgement, units: Units) -> Ints:
    sentence = units.gold_sentence
    return _count(judgement, sentence[np.isin(units.gold, units.system)], sentence, units.system_sentence, sentence)


def _count(judgement: Judgement, *sentences: Ints) -> Ints:
    """Count how often each gold sentence occurs in each array."""
    return np.stack([np.bincount(numbers, minlength=len(judgement.gold.sentences)) for numbers in sentences], axis=1)


# ---------------------------------------------------------------------------------------------------------------------
# Measures.


@dataclass(frozen=True)
class Measure:
    """A measure: how to count it, and how to show it."""

    title: str
    count: Callable[[Judgement], Ints]
    """Return [gold sentences, 4]: the counts of every gold sentence."""
    needs_ud: bool = False
    """Whether the measure is only defined for the relations of Universal Dependencies."""
    columns: tuple[str, ...] = ()
    """The names (see data.columns) of the columns that it compares besides HEAD and DEPREL."""


MEASURES: dict[str, Measure] = {
    "tokens": Measure("tokens", lambda j: _count_units(j, j.alignment.tokens)),
    "sentences": Measure("sentences", lambda j: _count_units(j, j.alignment.sentences)),
    "words": Measure("words", lambda j: count_words(j, j.aligned)),
    "upos": Measure("UPOS", lambda j: count_words(j, j.right_upos), columns=("upos",)),
    "xpos": Measure("XPOS", lambda j: count_words(j, j.right_xpos), columns=("xpos",)),
    "features": Measure("features", lambda j: count_words(j, j.right_features), columns=("feats",)),
    "all_tags": Measure(
        "all tags",
        lambda j: count_words(j, j.right_upos & j.right_xpos & j.right_features),
        columns=("upos", "xpos", "feats"),
    ),
    "lemmas": Measure("lemmas", lambda j: count_words(j, j.right_lemma), columns=("lemma",)),
    "uas": Measure("UAS", lambda j: count_attachments(j, j.right_head)),
    "las": Measure("LAS", lambda j: count_attachments(j, j.right_arc)),
    "label_accuracy": Measure("label accuracy", lambda j: count_attachments(j, j.right_relation)),
    "clas": Measure("CLAS", lambda j: _count_content_words(j, j.right_arc), needs_ud=True),
    "mlas": Measure(
        "MLAS", lambda j: _count_content_words(j, j.right_morphology), needs_ud=True, columns=("upos", "feats")
    ),
    "blex": Measure(
        "BLEX", lambda j: _count_content_words(j, j.right_arc & j.right_lemma), needs_ud=True, columns=("lemma",)
    ),
    "root": Measure("roots", _count_roots),
    "complete_unlabelled": Measure("complete, unlabelled", lambda j: _count_complete(j, j.right_head)),
    "complete_labelled": Measure("complete, labelled", lambda j: _count_complete(j, j.right_arc)),
}
"""All measures by key. A new measure is one more entry."""

TOKENISATION = ("tokens", "sentences", "words")
"""The measures that are only informative if the files have different words."""


def count(judgement: Judgement) -> Ints:
    """Return [gold sentences, measures, 4]: the counts of all measures."""
    return np.stack([measure.count(judgement) for measure in MEASURES.values()], axis=1)


def total(counts: Ints) -> dict[str, Score]:
    """Return the scores over all sentences, from the counts [sentences, measures, 4]."""
    return {name: Score(*row) for name, row in zip(MEASURES, counts.sum(axis=0).tolist(), strict=True)}


def score_sentences(gold: Sequence[Sentence], parsed: Sequence[Sentence], conventions: Conventions) -> dict[str, Score]:
    """Return the scores of parsed sentences, by the keys of MEASURES."""
    return total(count(judge(Corpus("gold", gold), Corpus("parsed", parsed), conventions)))


def columns_equal_to_gold(judgement: Judgement) -> set[str]:
    """Return the names of columns whose every cell equals gold although heads or relations differ.

    Such a column was probably copied from the gold file, not predicted. A column without any value is not reported.
    """
    gold, system = judgement.gold, judgement.system
    if judgement.right_arc.all() or not judgement.aligned.all() or len(gold) != len(system):
        return set()
    indices = {"lemma": LEMMA, "upos": UPOS, "xpos": XPOS, "feats": FEATS}
    cells = {name: gold.column(index) for name, index in indices.items()}
    return {name for name, column in cells.items() if set(column) != {"_"} and column == system.column(indices[name])}


def meaningful_measures(gold: Corpus, conventions: Conventions) -> list[str]:
    """Return the keys of the measures that make sense: UD measures need a UD file or universal labels."""
    without_ud = gold.sentences[0].format == "conllx" and conventions.labels == "whole"
    return [name for name, measure in MEASURES.items() if not (without_ud and measure.needs_ud)]
