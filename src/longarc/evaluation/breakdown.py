"""Break attachment scores down by relation, arc length, depth, projectivity and more, and list frequent confusions.

As in McDonald & Nivre (2007), recall refers to gold arcs of a kind and precision to the system's arcs of that kind.
The rows of every table add up to the UAS and LAS of the file, because the same words are counted.
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
from longarc.evaluation.corpus import ROOT, Corpus, common_numbers
from longarc.evaluation.measures import Judgement, percent
from longarc.transitions.system import Ints
from longarc.trees.structure import Mask, projective_arcs

LENGTHS = (1, 2, 3, 7, 13, 21)
"""The lower bound of every bin of arc lengths, as in the other tuples."""
SENTENCE_LENGTHS = (1, 11, 21, 31, 41)
DEPTHS = (1, 2, 3, 4, 5, 6, 7)
TIMES_SEEN = (0, 1, 2, 3, 10, 100)
NON_PROJECTIVE = "non-projective"

TABLES: dict[str, str] = {
    "relation": "relation",
    "arc_length": "arc length in words (left: the dependent stands before its head)",
    "sentence_length": "words in the gold sentence",
    "root_distance": "arcs between the root and the word",
    "projectivity": "projectivity of the arc",
    "tag": "gold tag of the dependent",
    "seen": "how often the training data has the word",
}
"""The keys of the tables, and the meaning of their rows. The last one needs training data."""


@dataclass(frozen=True)
class Row:
    """The counts of words of one kind."""

    name: str
    gold: int
    """Words of this kind in the gold file."""
    gold_heads: int
    """Those of them with the right head."""
    gold_arcs: int
    """Those of them with the right head and relation."""
    system: int
    """Words of this kind in the system's file."""
    system_heads: int
    system_arcs: int

    def as_dict(self) -> dict[str, Any]:
        """Return counts, and precision, recall and F1 of heads (uas_…) and of labelled arcs (las_…) in percent."""
        result: dict[str, Any] = {"name": self.name, "gold": self.gold, "system": self.system}
        for key, gold_correct, system_correct in (
            ("uas", self.gold_heads, self.system_heads),
            ("las", self.gold_arcs, self.system_arcs),
        ):
            recall, precision = percent(gold_correct, self.gold), percent(system_correct, self.system)
            result[f"{key}_recall"], result[f"{key}_precision"] = recall, precision
            result[f"{key}_f1"] = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        return result


@dataclass(frozen=True)
class Breakdown:
    """All tables, by the keys of TABLES, and the most frequent confusions."""

    tables: dict[str, list[Row]]
    relation_confusions: list[dict[str, Any]]
    """Pairs of gold relation and predicted relation."""
    head_confusions: list[dict[str, Any]]
    """Wrong heads, by the tags of the dependent, the gold head and the predicted head."""

    def as_dict(self) -> dict[str, Any]:
        tables = {name: [row.as_dict() for row in rows] for name, rows in self.tables.items()}
        confusions = {"relation": self.relation_confusions, "head": self.head_confusions}
        return {**tables, "confusions": confusions}


def break_down(
    judgement: Judgement, confusions: int = 20, training_forms: Mapping[str, int] | None = None
) -> Breakdown:
    """Return all tables, and the most frequent confusions: at most `confusions` of each kind.

    `training_forms` maps forms to their counts in the training data.
    """
    gold, system = judgement.gold, judgement.system
    of_gold, of_system = gold.sentence, judgement.alignment.system_sentence
    length_bins = [_bins(lengths, SENTENCE_LENGTHS) for lengths in (gold.lengths[of_gold], gold.lengths[of_system])]
    projectivity = ["projective", NON_PROJECTIVE]
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


def nonprojective_row(breakdown: Breakdown) -> Row:
    """Return the row of the non-projective arcs, with zeros if there are none."""
    rows = {row.name: row for row in breakdown.tables["projectivity"]}
    return rows.get(NON_PROJECTIVE) or Row(NON_PROJECTIVE, 0, 0, 0, 0, 0, 0)


def _rows(judgement: Judgement, names: Sequence[str], gold: Ints, system: Ints) -> list[Row]:
    """Return a row for each kind that occurs. `gold` and `system` are the kinds of all words, as indices of `names`."""

    def counts(kinds: Ints, *masks: Mask) -> list[list[int]]:
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
    """Return a row for each name, the most frequent in the gold file first."""
    names = sorted({*gold, *system})
    _, of_gold, of_system = common_numbers(names, gold, system)
    return sorted(_rows(judgement, names, of_gold, of_system), key=lambda row: -row.gold)


def _bins(values: Ints, firsts: Sequence[int]) -> Ints:
    return np.searchsorted(firsts, values, side="right") - 1


def _bin_names(firsts: Sequence[int]) -> list[str]:
    """Return 1, 2, 3-6, 7+ for (1, 2, 3, 7)."""
    names = [str(first) if after == first + 1 else f"{first}-{after - 1}" for first, after in pairwise(firsts)]
    return [*names, f"{firsts[-1]}+"]


def _length_names() -> list[str]:
    names = _bin_names(LENGTHS)
    return ["root", *(f"left {name}" for name in names), *(f"right {name}" for name in names)]


def _arc_lengths(corpus: Corpus) -> Ints:
    """Return [words]: indices of `_length_names`. A word that is its own head (in a system's file) is "right 1"."""
    distance = corpus.heads - np.arange(len(corpus))
    bins = _bins(np.maximum(np.abs(distance), 1), LENGTHS)
    return np.where(corpus.heads == ROOT, 0, 1 + bins + np.where(distance > 0, 0, len(LENGTHS)))


def _depths(corpus: Corpus) -> Ints:
    """Return [words]: the bin of each word's distance to the root. The last bin is for words in or below a cycle."""
    depths = np.zeros(len(corpus), dtype=np.int64)
    nodes = np.arange(len(corpus))
    for _ in range(int(corpus.lengths.max())):
        below = nodes != ROOT
        if not below.any():
            break
        depths[below] += 1
        nodes[below] = corpus.heads[nodes[below]]
    return np.where(nodes == ROOT, _bins(depths, DEPTHS), len(DEPTHS))


def _nonprojective(corpus: Corpus) -> Ints:
    """Return [words]: 1 for words whose incoming arc is non-projective, else 0."""
    arcs = [~projective_arcs(sentence.node_heads)[1:] for sentence in corpus.sentences]
    return np.concatenate(arcs).astype(np.int64)


def _times_seen(corpus: Corpus, training_forms: Mapping[str, int]) -> Ints:
    """Return [words]: the bin of each form's count in the training data."""
    counts = [training_forms.get(form, 0) for form in corpus.column(FORM)]
    return _bins(np.array(counts, dtype=np.int64), TIMES_SEEN)


def _gold_tags_of_system(judgement: Judgement) -> list[str]:
    """Return [system words]: the tag of each word's gold partner, or the predicted tag if it has none."""
    gold_tags, system_tags = judgement.gold.tags, judgement.system.tags
    partners = judgement.alignment.gold_of_system.tolist()
    return [system_tags[word] if partner == UNALIGNED else gold_tags[partner] for word, partner in enumerate(partners)]


def _relation_confusions(judgement: Judgement, most: int) -> list[dict[str, Any]]:
    wrong = np.flatnonzero(judgement.gold_counted & judgement.aligned & ~judgement.right_relation)
    partners = judgement.alignment.system_of_gold[wrong]
    counts: Counter[tuple[str, str]] = Counter()
    right_heads: Counter[tuple[str, str]] = Counter()
    for word, partner in zip(wrong.tolist(), partners.tolist(), strict=True):
        pair = judgement.gold_relations[word], judgement.system_relations[partner]
        counts[pair] += 1
        right_heads[pair] += bool(judgement.right_head[word])
    return [
        {"gold": pair[0], "system": pair[1], "count": count, "right_heads": right_heads[pair]}
        for pair, count in _most_common(counts, most)
    ]


def _head_confusions(judgement: Judgement, most: int) -> list[dict[str, Any]]:
    wrong = np.flatnonzero(judgement.gold_counted & judgement.aligned & ~judgement.right_head)
    tags = judgement.gold.tags
    gold_heads, system_heads = judgement.gold.heads, judgement.chosen_heads

    def tag(head: int) -> str:
        return {ROOT: "ROOT", UNALIGNED: "(not a gold word)"}.get(head) or tags[head]

    counts = Counter((tags[word], tag(int(gold_heads[word])), tag(int(system_heads[word]))) for word in wrong.tolist())
    return [
        {"tag": key[0], "gold_head": key[1], "system_head": key[2], "count": count}
        for key, count in _most_common(counts, most)
    ]


def _most_common(counts: Counter[Any], most: int) -> list[tuple[Any, int]]:
    """Return the most frequent items, in alphabetical order where counts are equal."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
