"""Beam search: the best few transition sequences of every sentence at once, over the same scores as greedy search.

A sequence is worth the sum of the log-probabilities of its transitions, each under the softmax over the transitions
that were legal then. With a beam of one this is greedy search.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.decoding.greedy import Parses, arc_log_probabilities, finite_scores
from longarc.transitions.system import Mask, Scores, State, TransitionSystem


def parse_with_beam(
    system: TransitionSystem[Any],
    lengths: NDArray[np.integer[Any]],
    scores: Scores,
    totals: Scores,
    *,
    beam: int,
    single_root: bool = True,
) -> Parses:
    """The trees of the best sequences that a beam of that width finds; see `parse_greedily` for the arguments."""
    scores, totals = finite_scores(scores), finite_scores(totals)
    count = len(lengths)
    state: State = system.initial(lengths, single_root=single_root)
    sentence = np.arange(count)  # of each hypothesis
    worth = np.zeros(count)
    probabilities = np.full(state.heads.shape, np.nan)
    while True:
        legal = system.legal(state)
        going: Mask = np.asarray(legal.any(axis=1))
        if not going.any():
            break
        slots = system.slots(state)
        gains = arc_log_probabilities(legal, slots, scores[sentence], totals[sentence])
        # A finished hypothesis competes as it is, through a column of its own.
        candidates = np.where(legal, worth[:, None] + gains, -np.inf)
        candidates = np.concatenate([candidates, np.where(going, -np.inf, worth)[:, None]], axis=1)
        chosen, choice = _best_of_each_sentence(sentence, candidates, count, beam)
        is_going = going[chosen]
        choice = np.where(is_going, choice, -1)
        gained = np.where(is_going, gains[chosen, np.maximum(choice, 0)], 0.0)
        state, sentence, probabilities = state.take(chosen), sentence[chosen], probabilities[chosen]
        worth = worth[chosen] + gained
        before = state.heads.copy()
        system.apply(state, choice)
        row, dependent = np.nonzero(state.heads != before)
        probabilities[row, dependent] = np.exp(gained[row])
    best = np.array([np.flatnonzero(sentence == index)[worth[sentence == index].argmax()] for index in range(count)])
    if count:
        state, probabilities = state.take(best), probabilities[best]
    system.complete(state, scores)
    return Parses(state.heads, probabilities)


def _best_of_each_sentence(
    sentence: NDArray[np.int64], candidates: NDArray[np.float64], count: int, beam: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The hypotheses to go on from, and the choice in each: at most `beam` per sentence, in the sentences' order."""
    hypothesis, choice = np.nonzero(candidates > -np.inf)
    value = candidates[hypothesis, choice]
    owner = sentence[hypothesis]
    order = np.lexsort((choice, hypothesis, -value, owner))
    hypothesis, choice, owner = hypothesis[order], choice[order], owner[order]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    kept = rank < beam
    return hypothesis[kept], choice[kept]
