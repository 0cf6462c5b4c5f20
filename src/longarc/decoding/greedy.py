"""Greedy search: in every sentence of a batch at once, the best legal transition, until all trees are complete."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.transitions.system import Ints, Scores, State, TransitionSystem


def usable(scores: Scores) -> Scores:
    """The scores with NaN as the lowest and infinities as the largest numbers, so that any of them can be compared."""
    if np.isfinite(scores).all():
        return scores
    limits = np.finfo(scores.dtype)
    low, high = float(limits.min), float(limits.max)
    return np.asarray(np.nan_to_num(scores, nan=low, posinf=high, neginf=low))


def best_choices(system: TransitionSystem[Any], state: State, scores: Scores) -> Ints:
    """[batch] the best legal transition by `scores` [batch, width], -1 in finished sentences; ties go to the first."""
    legal = system.legal(state)
    candidates = np.take_along_axis(scores, system.slots(state), axis=1)
    choice = np.where(legal, candidates, -np.inf).argmax(axis=1)
    return np.where(legal.any(axis=1), choice, -1)


def parse_greedily(
    system: TransitionSystem[Any],
    lengths: NDArray[np.integer[Any]],
    scores: Scores,
    *,
    single_root: bool = True,
) -> Ints:
    """The heads [batch, N] of the trees that greedy search finds; NO_HEAD for the root and beyond a sentence's end.

    lengths: [batch] in words. scores: [batch, width], see ScoreLayout; any values, NaN and infinities included. The
    result is always a tree, with exactly one child of node 0 if `single_root`.
    """
    scores = usable(scores)
    state: State = system.initial(lengths, single_root=single_root)
    while (choice := best_choices(system, state, scores)).max(initial=-1) >= 0:
        system.apply(state, choice)
    system.complete(state, scores)
    return state.heads
