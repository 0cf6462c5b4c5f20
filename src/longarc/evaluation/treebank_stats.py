"""Statistics of a treebank: size, non-projectivity, and how well each transition system can represent its trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from longarc.data.sentence import Sentence, is_empty_node, is_multiword
from longarc.transitions import SYSTEMS
from longarc.transitions.static_oracle import run_oracle
from longarc.trees.structure import Heads, crossing_arcs, gap_degree, projective_arcs, root_children

BLOCK = 2000
"""Number of sentences in memory at a time."""


@dataclass
class SystemStats:
    """The result of replaying a transition system's oracle over a treebank."""

    transitions: list[int] = field(default_factory=list)
    """Number of transitions for each sentence."""
    representable: int = 0
    """Number of sentences whose arcs are all recovered."""
    recovered: int = 0
    """Number of arcs recovered."""


@dataclass
class TreebankStats:
    """Counts over a treebank."""

    words: list[int] = field(default_factory=list)
    """Number of words of each sentence, in the order of SystemStats.transitions."""
    relations: Counter[str] = field(default_factory=Counter)
    nonprojective_arcs: int = 0
    nonprojective_sentences: int = 0
    crossing_arcs: int = 0
    gap_degrees: Counter[int] = field(default_factory=Counter)
    several_roots: int = 0
    multiword_tokens: int = 0
    empty_nodes: int = 0
    systems: dict[str, SystemStats] = field(default_factory=lambda: {name: SystemStats() for name in SYSTEMS})

    def as_dict(self) -> dict[str, Any]:
        """Return counts, averages and percentages, for JSON output."""
        sentences, words = len(self.words), sum(self.words)
        return {
            "sentences": sentences,
            "words": words,
            "words_per_sentence": _ratio(words, sentences),
            "longest_sentence": max(self.words, default=0),
            "relations": len(self.relations),
            "relation_counts": dict(self.relations.most_common()),
            "nonprojective_arcs": self.nonprojective_arcs,
            "nonprojective_arcs_percent": _ratio(100 * self.nonprojective_arcs, words),
            "nonprojective_sentences": self.nonprojective_sentences,
            "nonprojective_sentences_percent": _ratio(100 * self.nonprojective_sentences, sentences),
            "crossing_arcs_percent": _ratio(100 * self.crossing_arcs, words),
            "gap_degrees": {str(degree): count for degree, count in sorted(self.gap_degrees.items())},
            "several_roots": self.several_roots,
            "several_roots_percent": _ratio(100 * self.several_roots, sentences),
            "multiword_tokens": self.multiword_tokens,
            "empty_nodes": self.empty_nodes,
            "systems": {
                name: {
                    "transitions_per_sentence": _ratio(sum(system.transitions), sentences),
                    "representable_sentences": system.representable,
                    "representable_sentences_percent": _ratio(100 * system.representable, sentences),
                    "arcs_recovered_percent": _ratio(100 * system.recovered, words),
                }
                for name, system in self.systems.items()
            },
        }


def _ratio(part: int, total: int) -> float:
    return round(part / total, 4) if total else 0.0


def treebank_stats(sentences: Iterable[Sentence]) -> TreebankStats:
    """Compute the statistics of a stream of sentences that have trees."""
    stats = TreebankStats()
    for block in _blocks(sentences):
        trees = [sentence.node_heads for sentence in block]
        for sentence, heads in zip(block, trees, strict=True):
            _add_sentence(stats, sentence, heads)
        for name, system in stats.systems.items():
            _add_system(system, name, trees)
    return stats


def _blocks(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    iterator = iter(sentences)
    while block := list(islice(iterator, BLOCK)):
        yield block


def _add_sentence(stats: TreebankStats, sentence: Sentence, heads: Heads) -> None:
    stats.words.append(len(sentence))
    stats.relations.update(sentence.node_relations[1:])
    nonprojective = int((~projective_arcs(heads)).sum())
    stats.nonprojective_arcs += nonprojective
    stats.nonprojective_sentences += nonprojective > 0
    if nonprojective:
        stats.crossing_arcs += int(crossing_arcs(heads).any(axis=1).sum())
        stats.gap_degrees[gap_degree(heads)] += 1
    else:
        stats.gap_degrees[0] += 1
    stats.several_roots += root_children(heads) > 1
    if sentence.word_rows is not sentence.rows:
        stats.multiword_tokens += sum(map(is_multiword, sentence.rows))
        stats.empty_nodes += sum(map(is_empty_node, sentence.rows))


def _add_system(stats: SystemStats, name: str, trees: list[Heads]) -> None:
    transitions = np.zeros(len(trees), dtype=np.int64)
    words = np.array([len(heads) - 1 for heads in trees])
    for run in run_oracle(SYSTEMS[name], trees):
        transitions[run.indices] = run.transitions
        stats.recovered += int(run.recovered.sum())
        stats.representable += int((run.recovered == words[run.indices]).sum())
    stats.transitions += transitions.tolist()
