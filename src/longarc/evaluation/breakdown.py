"""Where a parser is right and where it is wrong: by relation, arc length, depth, projectivity …, and its confusions.

As in McDonald & Nivre (2007), recall is about gold arcs of a kind and precision about the system's arcs of that kind.
The rows of every table add up to the UAS and LAS of the whole, because the same words are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from longarc.data.sentence import FORM
from longarc.evaluation.alignment import UNALIGNED
from longarc.evaluation.corpus import ROOT, Corpus, Mask, Numbers, common_numbers
from longarc.evaluation.measures import Judgement
from longarc.trees.structure import projective_arcs

LENGTHS = (1, 2, 3, 7, 13, 21)
"""The first length of every bin of arc lengths."""
SENTENCE_LENGTHS = (1, 11, 21, 31, 41)
DEPTHS = (1, 2, 3, 4, 5, 6, 7)
TIMES_SEEN = (0, 1, 2, 3, 10, 100)

TABLES: dict[str, str] = {
    "relation": "relation",
    "arc_length": "arc length in words (left: the dependent stands before its head)",
    "sentence_length": "words in the gold sentence",
    "root_distance": "arcs between the root and the word",
    "projectivity": "projectivity of the arc",
    "tag": "gold tag of the dependent",
    "seen": "how often the training data has the word",
}
"""The tables' keys and what their rows are; the last is there only where the training data is."""


@dataclass(frozen=True)
class Row:
    """The words of one kind; shares are percentages."""

    name: str
    gold: int
    """Words that are of this kind in the gold file, …"""
    gold_heads: int
    """… of these the ones with the right head, …"""
    gold_arcs: int
    """… and with the right head and relation."""
    system: int
    """Words that are of this kind in the system's file, …"""
    system_heads: int
    system_arcs: int

    def as_dict(self) -> dict[str, Any]:
        """Counts, and precision, recall and F1 of heads (uas_…) and of heads with relations (las_…)."""
        result: dict[str, Any] = {"name": self.name, "gold": self.gold, "system": self.system}
        for key, recalled, precise in (
            ("uas", self.gold_heads, self.system_heads),
            ("las", self.gold_arcs, self.system_arcs),
        ):
            recall, precision = _percent(recalled, self.gold), _percent(precise, self.system)
            result[f"{key}_recall"], result[f"{key}_precision"] = recall, precision
            result[f"{key}_f1"] = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        return result


@dataclass(frozen=True)
class Breakdown:
    """All tables, by the keys of TABLES, and the most frequent mistakes."""

    tables: dict[str, list[Row]]
    relation_confusions: list[dict[str, Any]]
    """Relations that were taken for others."""
    head_confusions: list[dict[str, Any]]
    """Wrong heads by the tags of dependent, right head and chosen head."""

    def as_dict(self) -> dict[str, Any]:
        tables = {name: [row.as_dict() for row in rows] for name, rows in self.tables.items()}
        confusions = {"relation": self.relation_confusions, "head": self.head_confusions}
        return {**tables, "confusions": confusions}


def break_down(
    judgement: Judgement, confusions: int = 20, training_forms: Mapping[str, int] | None = None
) -> Breakdown:
    """All tables of a comparison; of each kind of mistake the given number of most frequent ones.

    `training_forms`: how often the data that the system was trained on has each form.
    """
    gold, system = judgement.gold, judgement.system
    of_gold, of_system = gold.sentence, judgement.alignment.system_sentence
    length_bins = [_bins(lengths, SENTENCE_LENGTHS) for lengths in (gold.lengths[of_gold], gold.lengths[of_system])]
    projectivity = ["projective", "non-projective"]
    tables = {
        "relation": _by_name(judgement, judgement.gold_relations, judgement.system_relations),
        "arc_length": _rows(judgement, _length_names(), _arc_lengths(gold), _arc_lengths(system)),
        "sentence_length": _rows(judgement, _bin_names(SENTENCE_LENGTHS), *length_bins),
        "root_distance": _rows(judgement, [*_bin_names(DEPTHS), "cycle"], _depths(gold), _depths(system)),
        "projectivity": _rows(judgement, projectivity, _nonprojective(gold), _nonprojective(system)),
        "tag": _by_name(judgement, gold.tags, _gold_tags_of_system(judgement)),
    }
    if training_forms is not None:
        seen = [_times_seen(corpus, training_forms) for corpus in (gold, system)]
        tables["seen"] = _rows(judgement, _bin_names(TIMES_SEEN), *seen)
    return Breakdown(tables, _relation_confusions(judgement, confusions), _head_confusions(judgement, confusions))


def _rows(judgement: Judgement, names: Sequence[str], gold: Numbers, system: Numbers) -> list[Row]:
    """A row per kind that occurs, from the kinds [gold words] and [system words], which number the names."""

    def counts(kinds: Numbers, *masks: Mask) -> list[list[int]]:
        return [np.bincount(kinds[mask], minlength=len(names)).tolist() for mask in masks]

    counted, system_counted = judgement.gold_counted, judgement.system_counted
    heads, arcs = judgement.right_head & counted, judgement.right_arc & counted
    columns = [
        *counts(gold, counted, heads, arcs),
        *counts(system, system_counted, judgement.on_system(heads), judgement.on_system(arcs)),
    ]
    rows = [Row(*row) for row in zip(names, *columns, strict=True)]
    return [row for row in rows if row.gold or row.system]


def _by_name(judgement: Judgement, gold: Sequence[str], system: Sequence[str]) -> list[Row]:
    """A row per name, the most frequent in the gold file first."""
    names = sorted({*gold, *system})
    _, of_gold, of_system = common_numbers(names, gold, system)
    return sorted(_rows(judgement, names, of_gold, of_system), key=lambda row: -row.gold)


def _bins(values: Numbers, firsts: Sequence[int]) -> Numbers:
    return np.searchsorted(firsts, values, side="right") - 1


def _bin_names(firsts: Sequence[int]) -> list[str]:
    """1, 2, 3-6, 7+ for (1, 2, 3, 7)."""
    names = [str(first) if after == first + 1 else f"{first}-{after - 1}" for first, after in pairwise(firsts)]
    return [*names, f"{firsts[-1]}+"]


def _length_names() -> list[str]:
    names = _bin_names(LENGTHS)
    return ["root", *(f"left {name}" for name in names), *(f"right {name}" for name in names)]


def _arc_lengths(corpus: Corpus) -> Numbers:
    """[words] numbers of `_length_names`; a word that is its own head, which a system may say, counts as right 1."""
    distance = corpus.heads - np.arange(len(corpus))
    bins = _bins(np.maximum(np.abs(distance), 1), LENGTHS)
    return np.where(corpus.heads == ROOT, 0, 1 + bins + np.where(distance > 0, 0, len(LENGTHS)))


def _depths(corpus: Corpus) -> Numbers:
    """[words] the bin of each word's distance to the root; the last one is for words that do not lead there."""
    depths = np.zeros(len(corpus), dtype=np.int64)
    nodes = np.arange(len(corpus))
    for _ in range(int(corpus.lengths.max())):
        below = nodes != ROOT
        if not below.any():
            break
        depths[below] += 1
        nodes[below] = corpus.heads[nodes[below]]
    return np.where(nodes == ROOT, _bins(depths, DEPTHS), len(DEPTHS))


def _nonprojective(corpus: Corpus) -> Numbers:
    """[words] 1 if the arc into the word is non-projective."""
    arcs = [~projective_arcs(sentence.heads)[1:] for sentence in corpus.sentences]
    return np.concatenate(arcs).astype(np.int64)


def _times_seen(corpus: Corpus, training_forms: Mapping[str, int]) -> Numbers:
    """[words] the bin of how often the training data has the form."""
    counts = [training_forms.get(form, 0) for form in corpus.column(FORM)]
    return _bins(np.array(counts, dtype=np.int64), TIMES_SEEN)


def _gold_tags_of_system(judgement: Judgement) -> list[str]:
    """[system words] the tag of each one's partner, or its own if it has none."""
    gold, own = judgement.gold.tags, judgement.system.tags
    partners = judgement.alignment.gold_of_system.tolist()
    return [own[word] if partner == UNALIGNED else gold[partner] for word, partner in enumerate(partners)]


def _relation_confusions(judgement: Judgement, most: int) -> list[dict[str, Any]]:
    wrong = np.flatnonzero(judgement.gold_counted & judgement.aligned & ~judgement.right_relation)
    partners = judgement.alignment.system_of_gold[wrong]
    found: Counter[tuple[str, str]] = Counter()
    right_heads: Counter[tuple[str, str]] = Counter()
    for word, partner in zip(wrong.tolist(), partners.tolist(), strict=True):
        pair = judgement.gold_relations[word], judgement.system_relations[partner]
        found[pair] += 1
        right_heads[pair] += bool(judgement.right_head[word])
    return [
        {"gold": pair[0], "system": pair[1], "count": count, "right_heads": right_heads[pair]}
        for pair, count in _most_common(found, most)
    ]


def _head_confusions(judgement: Judgement, most: int) -> list[dict[str, Any]]:
    wrong = np.flatnonzero(judgement.gold_counted & judgement.aligned & ~judgement.right_head)
    tags = judgement.gold.tags
    gold_heads, system_heads = judgement.gold.heads, judgement.chosen_heads

    def tag(head: int) -> str:
        return {ROOT: "ROOT", UNALIGNED: "(not a gold word)"}.get(head) or tags[head]

    found = Counter((tags[word], tag(int(gold_heads[word])), tag(int(system_heads[word]))) for word in wrong.tolist())
    return [
        {"tag": key[0], "gold_head": key[1], "system_head": key[2], "count": count}
        for key, count in _most_common(found, most)
    ]


def _most_common(found: Counter[Any], most: int) -> list[tuple[Any, int]]:
    """The most frequent, those of equal count in alphabetical order."""
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most]


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
