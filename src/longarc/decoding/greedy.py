"""Greedy search: take the best legal transition in every sentence of a batch at once until all trees are complete."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.system import Ints, Mask, ScoreTable, State, TransitionSystem


@dataclass(frozen=True)
class Parses:
    """The trees of a batch."""

    heads: Ints
    """[batch, N]; NO_HEAD for the root and for padding"""
    probabilities: NDArray[np.float64] | None
    """[batch, N] the probability, among the transitions that were legal, of the transition that added the arc into each
    word; NaN for the root, for padding and for words that no transition attached"""


def finite_scores(table: ScoreTable) -> ScoreTable:
    """Replace NaN by the lowest number and infinities by the largest ones, so that all scores can be compared."""
    finite: dict[str, Any] = {name: _finite(array) for name, array in table.arrays.items()}
    return replace(table, **finite)


def _finite(scores: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(invalid="ignore", over="ignore"):
        total = scores.sum(dtype=np.float64)  # finite only if all scores are, and cheaper in memory than a mask
    if np.isfinite(total):
        return scores
    limits = np.finfo(scores.dtype)
    low, high = float(limits.min), float(limits.max)
    return np.asarray(np.nan_to_num(scores, nan=low, posinf=high, neginf=low))


def log_probabilities(legal: Mask, scores: NDArray[Any], totals: NDArray[Any]) -> NDArray[np.float64]:
    """[batch, K] The log-probability of each transition with its best relation; arbitrary for illegal transitions.

    `scores` and `totals` [batch, K]: the score with the best relation, and summed (in log space) over all relations.
    """
    values = np.where(legal, totals.astype(np.float64), -np.inf)
    largest = values.max(axis=1, keepdims=True, initial=np.finfo(np.float64).min)
    with np.errstate(divide="ignore"):
        total = largest + np.log(np.exp(values - largest).sum(axis=1, keepdims=True))
    return np.asarray(np.minimum(scores - total, 0.0))


def parse_greedily(
    system: TransitionSystem[Any],
    lengths: NDArray[np.integer[Any]],
    scores: ScoreTable,
    totals: ScoreTable | None = None,
    *,
    single_root: bool = True,
) -> Parses:
    """Return the trees that greedy search builds; ties go to the first transition.

    lengths: [batch] in words. scores: the score of each transition with its best relation; NaN and infinities are
    allowed. totals: the same summed (in log space) over relations; pass it to get probabilities. The result is always a
    tree, with exactly one child of node 0 if `single_root`.
    """
    scores = finite_scores(scores)
    state: State = system.initial(lengths, single_root=single_root)
    lowest = scores.arcs.dtype.type(-np.inf)
    probabilities = None
    if totals is not None:
        totals = finite_scores(totals)
        probabilities = np.full(state.heads.shape, np.nan)
    while True:
        legal = system.legal(state)
        gathered = system.gather(state, scores)
        values = np.where(legal, gathered, lowest)
        choice = values.argmax(axis=1)
        choice[values[state.rows, choice] == lowest] = -1
        if choice.max(initial=-1) < 0:
            break
        if totals is None or probabilities is None:
            system.apply(state, choice)
            continue
        gains = log_probabilities(legal, gathered, system.gather(state, totals))[state.rows, choice]
        changes = system.apply(state, choice)
        probabilities[changes.removed_rows, changes.removed_dependents] = np.nan
        probabilities[changes.rows, changes.dependents] = np.exp(gains[changes.rows])
    changes = system.complete(state, scores)
    if probabilities is not None:
        probabilities[changes.rows, changes.dependents] = np.nan
    return Parses(state.heads, probabilities)
