"""Packaged models as teachers: their scores are targets of another model's training (Hinton et al. 2015)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longarc.cores import available_cores
from longarc.data.batches import batches_by_length
from longarc.data.sentence import NO_HEAD, Sentence
from longarc.data.vocabulary import NOT_KNOWN, Labels
from longarc.errors import LongarcError
from longarc.runtime.description import Description
from longarc.runtime.ensemble import log_softmax
from longarc.runtime.parser import BATCH_WORDS, Parser
from longarc.trees.structure import Heads

LABELS_KEPT = 8
"""Labels of a word whose probabilities are kept; the others are hardly ever possible."""
LONGEST_SENTENCE = 120
"""Longer sentences of raw text are left out: most of them are tables and lists, and their cost is high."""
HALF = np.finfo(np.float16)

Progress = Callable[[int, int], None]
"""Receives how many of how many words are done."""


@dataclass(frozen=True)
class SoftLabels:
    """The most probable labels of each node."""

    numbers: NDArray[np.int16]
    """[N, LABELS_KEPT] in the student's vocabulary"""
    probabilities: NDArray[np.float16]
    """[N, LABELS_KEPT]; 0 for the root and for labels that the student does not know"""


@dataclass(frozen=True)
class SoftTargets:
    """What teachers think of a sentence of N nodes."""

    tables: dict[str, NDArray[np.float16]]
    """The arrays of a ScoreTable, without the axis of the batch"""
    relations: SoftLabels
    """Of the arcs in the student's training tree"""
    columns: dict[str, SoftLabels]


class Teacher:
    """One packaged model or several, whose mean scores are the targets."""

    def __init__(self, models: Sequence[Path], threads: int | None = None) -> None:
        self.parser = Parser(models, threads=threads)
        self._threads = threads or available_cores()
        self._models = models

    def digest(self) -> bytes:
        """Return bytes that differ if the models differ."""
        return b"".join(hashlib.sha256(model.read_bytes()).digest() for model in self._models)

    def parse_text(self, text: str, progress: Progress = lambda *_: None) -> Iterator[Sentence]:
        """Yield the parsed sentences of a text, as further training data."""
        sentences = [sentence for sentence in self.parser.split(text) if len(sentence) <= LONGEST_SENTENCE]
        words, done = sum(map(len, sentences)), 0
        for sentence in self.parser.stream(sentences):
            done += len(sentence)
            progress(done, words)
            yield sentence

    def require_fit(self, description: Description) -> None:
        """Raise unless a student with this description can learn from the teacher."""
        if self.parser.description.system != description.system:
            message = f"the student uses {description.system}, its teacher {self.parser.description.system}"
            raise LongarcError(message, f"Add --system {self.parser.description.system}.")

    def targets(
        self,
        description: Description,
        sentences: Sequence[Sequence[str]],
        heads: Sequence[Heads],
        progress: Progress = lambda *_: None,
    ) -> list[SoftTargets]:
        """Return the targets for each sentence, given its words and the student's training tree."""
        self.require_fit(description)
        batches = batches_by_length([len(forms) + 1 for forms in sentences], BATCH_WORDS)
        targets: dict[int, SoftTargets] = {}
        words, done = sum(map(len, sentences)), 0

        def run(indices: NDArray[np.int64]) -> tuple[list[int], list[SoftTargets]]:
            rows = indices.tolist()
            return rows, self._batch_targets(description, [sentences[i] for i in rows], [heads[i] for i in rows])

        with ThreadPoolExecutor(self._threads) as pool:
            for rows, results in pool.map(run, batches):
                targets.update(zip(rows, results, strict=True))
                done += sum(len(sentences[row]) for row in rows)
                progress(done, words)
        return [targets[index] for index in range(len(sentences))]

    def _batch_targets(
        self, description: Description, sentences: Sequence[Sequence[str]], heads: Sequence[Heads]
    ) -> list[SoftTargets]:
        session, ours = self.parser.session, self.parser.description
        scores = session.run(sentences, totals=True, logits=True)
        assert scores.totals is not None
        padded = np.full(scores.scores.arcs.shape[:2], NO_HEAD, dtype=np.int64)
        for row, tree in enumerate(heads):
            padded[row, : len(tree)] = tree
        relation_logits = np.zeros((*padded.shape, len(ours.relations)), np.float32)
        relation_logits[padded != NO_HEAD] = session.relation_scores(scores, padded)
        relations = _soft_labels(relation_logits, ours.relations, description.relations)
        columns = {
            name: _soft_labels(scores.logits[name], ours.columns[name].labels, column.labels)
            for name, column in description.columns.items()
            if name in ours.columns
        }
        return [
            SoftTargets(
                {name: _half(array[row][(slice(len(tree)),) * (array.ndim - 1)]) for name, array in tables.items()},
                _of_sentence(relations, row, len(tree)),
                {name: _of_sentence(labels, row, len(tree)) for name, labels in columns.items()},
            )
            for tables in [scores.totals.arrays]
            for row, tree in enumerate(heads)
        ]


def _soft_labels(logits: NDArray[np.float32], theirs: Labels, student: Labels) -> SoftLabels:
    """[batch, N, LABELS_KEPT] Return the most probable labels for logits [batch, N, labels]."""
    count = min(LABELS_KEPT, len(theirs))
    best = np.argpartition(-logits, count - 1, axis=-1)[..., :count]
    probabilities = np.exp(np.take_along_axis(log_softmax(logits), best, axis=-1))
    numbers = student.numbers(theirs.names)[best]
    is_known = numbers != NOT_KNOWN
    padding = [(0, 0), (0, 0), (0, LABELS_KEPT - count)]
    return SoftLabels(
        np.pad(np.where(is_known, numbers, 0), padding).astype(np.int16),
        np.pad(np.where(is_known, probabilities, 0), padding).astype(np.float16),
    )


def _of_sentence(labels: SoftLabels, row: int, nodes: int) -> SoftLabels:
    probabilities = labels.probabilities[row, :nodes].copy()
    probabilities[0] = 0
    return SoftLabels(labels.numbers[row, :nodes].copy(), probabilities)


def _half(scores: NDArray[np.float32]) -> NDArray[np.float16]:
    return np.clip(scores, HALF.min, HALF.max).astype(np.float16)
