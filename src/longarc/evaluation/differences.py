"""The sentences on which systems differ most, laid side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longarc.data.sentence import FORM
from longarc.evaluation.alignment import UNALIGNED
from longarc.evaluation.corpus import ROOT, Corpus
from longarc.evaluation.measures import Judgement


@dataclass(frozen=True)
class Arc:
    """What a file says of a word."""

    head: int
    """The head's number within its sentence and file; 0 is the root."""
    head_form: str
    relation: str
    right: bool

    def as_dict(self) -> dict[str, Any]:
        return {"head": self.head, "head_form": self.head_form, "relation": self.relation, "right": self.right}


@dataclass(frozen=True)
class DifferingWord:
    """A gold word that some system has right and another has not."""

    number: int
    form: str
    gold: Arc
    systems: list[Arc | None]
    """None where a system has no such word."""


@dataclass(frozen=True)
class DifferingSentence:
    """A sentence and its words on which the systems differ."""

    number: int
    """In the gold file, counted from 1."""
    line: int
    text: str
    words: list[DifferingWord]

    def as_dict(self) -> dict[str, Any]:
        words = [
            {
                "number": word.number,
                "form": word.form,
                "gold": word.gold.as_dict(),
                "systems": [arc and arc.as_dict() for arc in word.systems],
            }
            for word in self.words
        ]
        return {"sentence": self.number, "line": self.line, "text": self.text, "words": words}


def largest_differences(judgements: Sequence[Judgement], most: int) -> list[DifferingSentence]:
    """The sentences with most counted words whose arc some systems have right and others not, at most `most`."""
    gold = judgements[0].gold
    right = np.stack([judgement.right_arc for judgement in judgements])
    differs = (right.any(axis=0) != right.all(axis=0)) & judgements[0].gold_counted
    counts = np.bincount(gold.sentence[differs], minlength=len(gold.sentences))
    order = np.argsort(-counts, kind="stable")[:most]
    chosen = [int(number) for number in order if counts[number]]
    return [_sentence(judgements, number, differs[gold.sentence == number].nonzero()[0].tolist()) for number in chosen]


def _sentence(judgements: Sequence[Judgement], number: int, differing: list[int]) -> DifferingSentence:
    gold = judgements[0].gold
    sentence = gold.sentences[number]
    words = []
    for within in differing:
        word = int(gold.starts[number]) + within
        arcs = [_system_arc(judgement, word) for judgement in judgements]
        own = _arc(gold, word, judgements[0].gold_relations[word], right=True)
        words.append(DifferingWord(within + 1, sentence.words[within][FORM], own, arcs))
    return DifferingSentence(number + 1, gold.line(number), " ".join(sentence.forms), words)


def _system_arc(judgement: Judgement, word: int) -> Arc | None:
    """What the system says of a gold word."""
    partner = int(judgement.alignment.system_of_gold[word])
    if partner == UNALIGNED:
        return None
    return _arc(judgement.system, partner, judgement.system_relations[partner], bool(judgement.right_arc[word]))


def _arc(corpus: Corpus, word: int, relation: str, right: bool) -> Arc:
    head = int(corpus.heads[word])
    if head == ROOT:
        return Arc(0, "", relation, right)
    number = int(corpus.sentence[head])
    within = head - int(corpus.starts[number])
    return Arc(within + 1, corpus.sentences[number].words[within][FORM], relation, right)
