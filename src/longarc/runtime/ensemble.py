"""Several models that parse together: the search uses the means of their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD
from longarc.data.vocabulary import Labels
from longarc.errors import LongarcError
from longarc.runtime.description import Description
from longarc.runtime.features import Forms
from longarc.runtime.session import BatchScores, Session
from longarc.transitions.system import Ints, ScoreTable

SAME = {"system": "transition system", "scheme": "encoding of non-projective trees", "single_root": "single-root rule"}
"""The parts of a description that all members share, and their names in messages."""


@dataclass(frozen=True)
class EnsembleScores(BatchScores):
    """The means of the members' scores."""

    members: Sequence[BatchScores] = ()


class Ensemble:
    """Sessions that act as one: the labels and their order are those of the first.

    The mean of scores is, but for a constant, the logarithm of the geometric mean of the members' probabilities.
    """

    def __init__(self, sessions: Sequence[Session], descriptions: Sequence[Description], names: Sequence[str]) -> None:
        """`names`: the names of the models, for errors."""
        self._sessions = sessions
        first = descriptions[0]
        self._columns = list(first.columns)
        self._orders: list[dict[str, Ints]] = []
        """For each member: the numbers of the first member's labels, by column; relations have an empty name"""
        for description, name in zip(descriptions, names, strict=True):
            for key, text in SAME.items():
                if getattr(description, key) != getattr(first, key):
                    hint = "The models of an ensemble are trained with the same transition system on the same treebank."
                    raise LongarcError(f"{name}: another {text} than {names[0]}", hint)
            ours, theirs = _labels(first), _labels(description)
            self._orders.append({key: _order(ours[key], theirs.get(key), name, names[0]) for key in ours})
        self.crossing_cost = float(np.mean([description.crossing_cost for description in descriptions]))

    def run(self, sentences: Forms, *, totals: bool, logits: bool = False) -> EnsembleScores:
        """Score the sentences of a batch; see Session.run."""
        members = [session.run(sentences, totals=totals, logits=True) for session in self._sessions]
        means = {
            name: _mean(
                [member.logits[name][..., order[name]] for member, order in zip(members, self._orders, strict=True)]
            )
            for name in self._columns
        }
        tables = [member.totals for member in members if member.totals is not None]
        return EnsembleScores(
            self._mean_table([member.scores for member in members]),
            self._mean_table(tables) if tables else None,
            {name: scores.argmax(axis=-1) for name, scores in means.items()},
            members[0].relation_heads,
            members[0].relation_dependents,
            means,
            members,
        )

    def relations(self, scores: BatchScores, heads: Ints) -> tuple[Ints, NDArray[np.float32]]:
        """[batch, N] Return the best relation of each word and its probability; see Session.relations."""
        values = self.relation_scores(scores, heads)
        words = np.nonzero(heads != NO_HEAD)
        numbers, probabilities = np.zeros(heads.shape, np.int64), np.zeros(heads.shape, np.float32)
        numbers[words] = values.argmax(axis=1)
        probabilities[words] = np.exp(values.max(axis=1, initial=-np.inf))
        return numbers, probabilities

    def relation_scores(self, scores: BatchScores, heads: Ints) -> NDArray[np.float32]:
        """[arcs, relations] Return the log-probabilities of the relations of the arcs in `heads` [batch, N]."""
        assert isinstance(scores, EnsembleScores)
        parts = [
            session.relation_scores(member, heads)[:, order[""]]
            for session, member, order in zip(self._sessions, scores.members, self._orders, strict=True)
        ]
        return log_softmax(_mean([log_softmax(part) for part in parts]))

    def _mean_table(self, tables: Sequence[ScoreTable]) -> ScoreTable:
        arrays: dict[str, Any] = {name: _mean([table.arrays[name] for table in tables]) for name in tables[0].arrays}
        return replace(tables[0], **arrays, crossing_cost=self.crossing_cost)


def log_softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the logarithms of the probabilities that scores […, labels] stand for."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def _mean(arrays: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total / np.float32(len(arrays))


def _labels(description: Description) -> Mapping[str, Labels]:
    """Return the labels of all columns, and the relations under an empty name."""
    return {"": description.relations, **{name: column.labels for name, column in description.columns.items()}}


def _order(ours: Labels, theirs: Labels | None, name: str, first: str) -> Ints:
    """Return the numbers that another model has for our labels."""
    if theirs is None or set(theirs.names) != set(ours.names):
        hint = "The models of an ensemble are trained on the same treebank and predict the same columns."
        raise LongarcError(f"{name}: other labels than {first}", hint)
    return theirs.numbers(ours.names)
