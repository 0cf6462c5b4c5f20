"""Beam search: the best few transition sequences of every sentence at once, over the same scores as greedy search.

A sequence is worth the sum of the log-probabilities of its transitions, each under a softmax over the transitions that
are legal at that point. With a beam of one this is greedy search.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.decoding.greedy import Parses, finite_scores, log_probabilities
from longarc.transitions.system import Ints, Mask, ScoreTable, State, TransitionSystem


def parse_with_beam(
    system: TransitionSystem[Any],
    lengths: NDArray[np.integer[Any]],
    scores: ScoreTable,
    totals: ScoreTable,
    *,
    beam: int,
    single_root: bool = True,
) -> Parses:
    """Return the trees of the best sequences in a beam of this width; see `parse_greedily` for the arguments."""
    scores, totals = finite_scores(scores), finite_scores(totals)
    count = len(lengths)
    state: State = system.initial(lengths, single_root=single_root)
    worth = np.zeros(count)
    probabilities = np.full(state.heads.shape, np.nan)
    while True:
        legal = system.legal(state)
        going: Mask = np.asarray(legal.any(axis=1))
        if not going.any():
            break
        gains = log_probabilities(legal, system.gather(state, scores), system.gather(state, totals))
        # A finished hypothesis competes unchanged, in a column of its own.
        candidates = np.where(legal, worth[:, None] + gains, -np.inf)
        candidates = np.concatenate([candidates, np.where(going, -np.inf, worth)[:, None]], axis=1)
        chosen, choice = _best_of_each_sentence(state.sentence, candidates, count, beam)
        is_going = going[chosen]
        choice = np.where(is_going, choice, -1)
        gained = np.where(is_going, gains[chosen, np.maximum(choice, 0)], 0.0)
        state, probabilities = state.take(chosen), probabilities[chosen]
        worth = worth[chosen] + gained
        changes = system.apply(state, choice)
        probabilities[changes.removed_rows, changes.removed_dependents] = np.nan
        probabilities[changes.rows, changes.dependents] = np.exp(gained[changes.rows])
    if count:
        # The first of the best hypotheses of each sentence.
        best = np.lexsort((np.arange(len(worth)), -worth, state.sentence))
        best = best[np.searchsorted(state.sentence[best], np.arange(count))]
        state, probabilities = state.take(best), probabilities[best]
    changes = system.complete(state, scores)
    probabilities[changes.rows, changes.dependents] = np.nan
    return Parses(state.heads, probabilities)


def _best_of_each_sentence(sentence: Ints, candidates: NDArray[np.float64], count: int, beam: int) -> tuple[Ints, Ints]:
    """Return the hypotheses to extend and the choice in each, at most `beam` per sentence, in sentence order."""
    hypothesis, choice = np.nonzero(candidates > -np.inf)
    value = candidates[hypothesis, choice]
    owner = sentence[hypothesis]
    order = np.lexsort((choice, hypothesis, -value, owner))
    hypothesis, choice, owner = hypothesis[order], choice[order], owner[order]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    survives = rank < beam
    return hypothesis[survives], choice[survives]
