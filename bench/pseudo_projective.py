"""How well pseudo-projective encoding can be undone on real trees: python bench/pseudo_projective.py > table.md

For each treebank and each marking scheme the training trees are encoded and decoded again, without any parser between.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from longarc import read_all
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.trees.pseudo_projective import SCHEMES, Scheme, deprojectivize, projectivize
from longarc.trees.structure import is_tree, projective_arcs

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LATIN_1 = {"es_cast3lb_conll2007", "eu_3lb_conll2007"}

COLUMNS = (
    *("treebank", "sentences", "arcs", "non-proj. arcs %", "non-proj. sentences %"),
    *("scheme", "labels", "labels encoded"),
    *("whole sentences back %", "all heads right %", "lifted words back %"),
)


@dataclass
class Recovery:
    """Counts of one scheme on one treebank."""

    labels: set[str] = field(default_factory=set)
    whole_sentences: int = 0
    """Of the non-projective sentences, those whose heads all come back."""
    right_heads: int = 0
    """Of all words."""
    lifted: int = 0
    lifted_back: int = 0
    """Of the lifted words, those that get their own head back."""
    refused: int = 0
    """Sentences whose relations contain the marks already."""

    def add(self, sentence: Sentence, scheme: Scheme) -> None:
        heads, relations = sentence.heads, sentence.relations
        try:
            lifted_heads, encoded = projectivize(heads, relations, scheme)
        except LongarcError:
            self.refused += 1
            return
        decoded, plain = deprojectivize(lifted_heads, encoded, scheme)
        assert is_tree(decoded)
        assert plain == relations
        self.labels.update(encoded[1:])
        right = (decoded == heads)[1:]
        lifted = (lifted_heads != heads)[1:]
        self.right_heads += int(right.sum())
        self.lifted += int(lifted.sum())
        self.lifted_back += int(right[lifted].sum())
        self.whole_sentences += bool(lifted.any() and right.all())


def measure(name: str, sentences: Sequence[Sentence]) -> Iterable[list[str]]:
    """The rows of one treebank."""
    words = sum(len(sentence) for sentence in sentences)
    bad_arcs = np.array([np.count_nonzero(~projective_arcs(sentence.heads)) for sentence in sentences])
    labels = {relation for sentence in sentences for relation in sentence.relations[1:]}
    crossing = int(np.count_nonzero(bad_arcs))
    for scheme in SCHEMES:
        found = Recovery()
        for sentence in sentences:
            found.add(sentence, scheme)
        if found.refused:
            print(f"{name}, {scheme}: {found.refused} sentences refused for their relations", file=sys.stderr)
        yield [
            *(name, f"{len(sentences):,}", f"{words:,}"),
            *(percent(int(bad_arcs.sum()), words), percent(crossing, len(sentences))),
            *(scheme, str(len(labels)), str(len(found.labels))),
            percent(found.whole_sentences, crossing),
            percent(found.right_heads, words, digits=3),
            percent(found.lifted_back, found.lifted),
        ]


def percent(part: int, whole: int, digits: int = 2) -> str:
    return f"{100 * part / whole:.{digits}f}" if whole else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", nargs="*", help="names of folders of the shared data; all of them unless given")
    chosen = parser.parse_args().treebanks
    files = sorted(path for path in DATA.glob("*/train.*.xz") if not chosen or path.parent.name in chosen)
    if not files:
        raise SystemExit(f"no treebanks in {DATA}")
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---|" + "---:|" * 4 + "---|" + "---:|" * (len(COLUMNS) - 6))
    for path in files:
        name = path.parent.name
        encoding = "latin-1" if name in LATIN_1 else "utf-8"
        for row in measure(name, read_all(path, encoding=encoding)):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
