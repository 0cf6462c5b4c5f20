"""Find the sentences on which systems differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from longarc.data.sentence import FORM
from longarc.evaluation.alignment import UNALIGNED
from longarc.evaluation.corpus import ROOT, Corpus
from longarc.evaluation.measures import Judgement


@dataclass(frozen=True)
class WordArc:
    """Head and relation of a word in one file."""

    head: int
    """The head's number within its sentence in that file; 0 is the root."""
    head_form: str
    relation: str
    right: bool


@dataclass(frozen=True)
class DifferingWord:
    """A gold word that some systems attach correctly and others do not."""

    number: int
    form: str
    gold: WordArc
    systems: list[WordArc | None]
    """None for a system that has no such word."""


@dataclass(frozen=True)
class DifferingSentence:
    """A sentence, and the words on which the systems differ."""

    number: int
    """The sentence's number in the gold file, from 1."""
    line: int
    text: str
    words: list[DifferingWord]

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        return {"sentence": fields.pop("number"), **fields}


def largest_differences(judgements: Sequence[Judgement], most: int) -> list[DifferingSentence]:
    """Return the sentences, at most `most`, with the most words that only some systems attach correctly."""
    gold = judgements[0].gold
    right = np.stack([judgement.right_arc for judgement in judgements])
    differs = (right.any(axis=0) != right.all(axis=0)) & judgements[0].gold_counted
    counts = np.bincount(gold.sentence[differs], minlength=len(gold.sentences))
    order = np.argsort(-counts, kind="stable")[:most]
    return [
        _differing_sentence(judgements, number, np.flatnonzero(differs[gold.sentence == number]).tolist())
        for number in order[counts[order] > 0].tolist()
    ]


def _differing_sentence(judgements: Sequence[Judgement], number: int, positions: list[int]) -> DifferingSentence:
    gold = judgements[0].gold
    sentence = gold.sentences[number]
    words = []
    for position in positions:
        word = int(gold.starts[number]) + position
        systems = [_system_arc(judgement, word) for judgement in judgements]
        gold_arc = _word_arc(gold, word, judgements[0].gold_relations[word], right=True)
        words.append(DifferingWord(position + 1, sentence.word_rows[position][FORM], gold_arc, systems))
    return DifferingSentence(number + 1, gold.line(number), " ".join(sentence.forms), words)


def _system_arc(judgement: Judgement, word: int) -> WordArc | None:
    """Return the arc that the system chose for a gold word."""
    partner = int(judgement.alignment.system_of_gold[word])
    if partner == UNALIGNED:
        return None
    relation = judgement.system_relations[partner]
    return _word_arc(judgement.system, partner, relation, right=bool(judgement.right_arc[word]))


def _word_arc(corpus: Corpus, word: int, relation: str, *, right: bool) -> WordArc:
    head = int(corpus.heads[word])
    if head == ROOT:
        return WordArc(0, "", relation, right)
    number = int(corpus.sentence[head])
    position = head - int(corpus.starts[number])
    return WordArc(position + 1, corpus.sentences[number].word_rows[position][FORM], relation, right)
