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
    totals = None if totals is None else finite_scores(totals)
    state: State = system.initial(lengths, single_root=single_root)
    heads = np.empty_like(state.heads)
    probabilities = None if totals is None else np.full(state.heads.shape, np.nan)
    lowest = scores.arcs.dtype.type(-np.inf)
    if totals is None:  # probabilities are those of each step
        system.shortcut(state, scores)
    while len(state.rows):
        legal = system.legal(state)
        gathered = system.gather(state, scores)
        values = np.where(legal, gathered, lowest)
        choice = values.argmax(axis=1)
        finished = values[state.rows, choice] == lowest
        count = np.count_nonzero(finished)
        if 2 * count >= len(finished):  # drop them: the cost of a step grows with its sentences
            done, going = state.take(finished.nonzero()[0]), (~finished).nonzero()[0]
            changes = system.complete(done, scores)
            heads[done.sentence] = done.heads
            if probabilities is not None:
                probabilities[done.sentence[changes.rows], changes.dependents] = np.nan
            if not len(going):
                break
            state, choice, legal, gathered = state.take(going), choice[going], legal[going], gathered[going]
        elif count:
            choice[finished] = -1
        if totals is None or probabilities is None:
            system.apply(state, choice)
            system.shortcut(state, scores)
            continue
        gains = log_probabilities(legal, gathered, system.gather(state, totals))[state.rows, choice]
        changes = system.apply(state, choice)
        probabilities[state.sentence[changes.removed_rows], changes.removed_dependents] = np.nan
        probabilities[state.sentence[changes.rows], changes.dependents] = np.exp(gains[changes.rows])
    return Parses(heads, probabilities)
