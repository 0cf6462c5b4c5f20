"""Measure how many arcs pseudo-projective encoding loses: python bench/pseudo_projective.py > table.md

Encodes and decodes the gold trees of each training file with each marking scheme; no parser is involved. The treebanks
are those that `longarc fetch-treebank` has fetched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from longarc import read_all
from longarc.data.sentence import Sentence
from longarc.data.treebank_sources import data_folder, treebank_sources
from longarc.errors import LongarcError
from longarc.trees.pseudo_projective import SCHEMES, Scheme, deprojectivize, projectivize
from longarc.trees.structure import is_tree, projective_arcs

LATIN_1 = {"es_cast3lb_conll2007", "eu_3lb_conll2007"}

COLUMNS = (
    *("treebank", "sentences", "arcs", "non-proj. arcs %", "non-proj. sentences %"),
    *("scheme", "labels", "labels encoded"),
    *("sentences recovered %", "heads right %", "lifted words recovered %"),
)


@dataclass
class Recovery:
    """Counts of one scheme on one treebank."""

    labels: set[str] = field(default_factory=set)
    sentences: int = 0
    """Non-projective sentences with all heads recovered."""
    right_heads: int = 0
    """Words with the right head after decoding."""
    lifted: int = 0
    lifted_right: int = 0
    """Lifted words with the right head after decoding."""
    rejected: int = 0
    """Sentences that cannot be encoded because their relations contain the marks."""

    def add(self, sentence: Sentence, scheme: Scheme) -> None:
        """Encode and decode a sentence, and count the result."""
        heads, relations = sentence.node_heads, sentence.node_relations
        try:
            lifted_heads, encoded = projectivize(heads, relations, scheme)
        except LongarcError:
            self.rejected += 1
            return
        decoded, plain = deprojectivize(lifted_heads, encoded, scheme)
        assert is_tree(decoded)
        assert plain == relations
        self.labels.update(encoded[1:])
        right = (decoded == heads)[1:]
        lifted = (lifted_heads != heads)[1:]
        self.right_heads += int(right.sum())
        self.lifted += int(lifted.sum())
        self.lifted_right += int(right[lifted].sum())
        self.sentences += bool(lifted.any() and right.all())


def measure(name: str, sentences: Sequence[Sentence]) -> Iterable[list[str]]:
    """Yield the table rows of one treebank, one per scheme."""
    words = sum(len(sentence) for sentence in sentences)
    nonprojective = np.array([np.count_nonzero(~projective_arcs(sentence.node_heads)) for sentence in sentences])
    labels = {relation for sentence in sentences for relation in sentence.node_relations[1:]}
    crossing = int(np.count_nonzero(nonprojective))
    for scheme in SCHEMES:
        recovery = Recovery()
        for sentence in sentences:
            recovery.add(sentence, scheme)
        if recovery.rejected:
            print(f"{name}, {scheme}: {recovery.rejected} sentences contain the marks", file=sys.stderr)
        yield [
            *(name, f"{len(sentences):,}", f"{words:,}"),
            *(percent(int(nonprojective.sum()), words), percent(crossing, len(sentences))),
            *(scheme, str(len(labels)), str(len(recovery.labels))),
            percent(recovery.sentences, crossing),
            percent(recovery.right_heads, words, digits=3),
            percent(recovery.lifted_right, recovery.lifted),
        ]


def percent(part: int, total: int, digits: int = 2) -> str:
    return f"{100 * part / total:.{digits}f}" if total else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", nargs="*", help="names of treebanks, for example en_ewt (default: all)")
    names = parser.parse_args().treebanks or sorted(treebank_sources())
    files = [path for name in names for path in sorted((data_folder() / name).glob("train.conll*"))[:1]]
    if not files:
        raise SystemExit(f"no treebanks in {data_folder()}")
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---|" + "---:|" * 4 + "---|" + "---:|" * (len(COLUMNS) - 6))
    for path in files:
        name = path.parent.name
        encoding = "latin-1" if name in LATIN_1 else "utf-8"
        for row in measure(name, read_all(path, encoding=encoding)):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
