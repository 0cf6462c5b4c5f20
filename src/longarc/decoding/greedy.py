"""Greedy search: in every sentence of a batch at once, the best legal transition, until all trees are complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.system import Ints, Mask, Scores, State, TransitionSystem


@dataclass(frozen=True)
class Parses:
    """The trees of a batch."""

    heads: Ints
    """[batch, N]; NO_HEAD for the root and beyond a sentence's end"""
    probabilities: NDArray[np.float64] | None
    """[batch, N] of the transition that made the arc into each word, relation included, among all transitions that were
    legal then; NaN where no transition made it: for the root, beyond the end, and for words attached at the end"""


def finite_scores(scores: Scores) -> Scores:
    """The scores with NaN as the lowest and infinities as the largest numbers, so that any of them can be compared."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = scores.sum(dtype=np.float64)  # finite only if all scores are; a mask would take much memory
    if np.isfinite(total):
        return scores
    limits = np.finfo(scores.dtype)
    low, high = float(limits.min), float(limits.max)
    return np.asarray(np.nan_to_num(scores, nan=low, posinf=high, neginf=low))


def arc_log_probabilities(legal: Mask, slots: Ints, scores: Scores, totals: Scores) -> NDArray[np.float64]:
    """[batch, K] the log-probability of each transition with its best relation; of illegal ones it means nothing."""
    values = np.where(legal, np.take_along_axis(totals, slots, axis=1).astype(np.float64), -np.inf)
    largest = values.max(axis=1, keepdims=True, initial=np.finfo(np.float64).min)
    with np.errstate(divide="ignore"):
        total = largest + np.log(np.exp(values - largest).sum(axis=1, keepdims=True))
    return np.asarray(np.minimum(np.take_along_axis(scores, slots, axis=1) - total, 0.0))


def parse_greedily(
    system: TransitionSystem[Any],
    lengths: NDArray[np.integer[Any]],
    scores: Scores,
    totals: Scores | None = None,
    *,
    single_root: bool = True,
) -> Parses:
    """The trees that greedy search finds; ties go to the first transition.

    lengths: [batch] in words. scores: [batch, width], see ScoreLayout, of each arc the best relation's; any values, NaN
    and infinities included. totals: the same with the log of the summed exponentials over an arc's relations, where
    probabilities are wanted. The result is always a tree, with exactly one child of node 0 if `single_root`.
    """
    scores = finite_scores(scores)
    state: State = system.initial(lengths, single_root=single_root)
    probabilities = None
    if totals is not None:
        totals = finite_scores(totals)
        probabilities = np.full(state.heads.shape, np.nan)
    while True:
        values = system.values(state, scores)
        choice = values.argmax(axis=1)
        choice[values[state.rows, choice] == -np.inf] = -1
        if choice.max(initial=-1) < 0:
            break
        if totals is None or probabilities is None:
            system.apply(state, choice)
            continue
        gains = arc_log_probabilities(system.legal(state), system.slots(state), scores, totals)[state.rows, choice]
        before = state.heads.copy()
        system.apply(state, choice)
        row, dependent = np.nonzero(state.heads != before)
        probabilities[row, dependent] = np.exp(gains[row])
    system.complete(state, scores)
    return Parses(state.heads, probabilities)
