"""Run a system along the path of its static oracle, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.batches import batches_by_length
from longarc.data.sentence import NO_HEAD
from longarc.transitions.system import ArcChanges, Ints, State, TransitionSystem


@dataclass(frozen=True)
class OracleRun:
    """The oracle's path for a batch; `indices` are the positions of its sentences in the input."""

    indices: Ints
    choices: Ints
    """[steps, batch]; −1 after a sentence's last transition"""
    state: State
    gold: Ints

    @property
    def transitions(self) -> Ints:
        """[batch] The number of transitions of each sentence."""
        return np.asarray((self.choices >= 0).sum(axis=0))

    @property
    def recovered(self) -> Ints:
        """[batch] The number of words that got their gold head."""
        is_word = self.gold != NO_HEAD
        return np.asarray(((self.state.heads == self.gold) & is_word).sum(axis=1))


def pad_heads(heads: Sequence[NDArray[np.integer[Any]]]) -> tuple[Ints, Ints]:
    """Return the lengths in words [batch] and one array [batch, N], padded with NO_HEAD, of trees [n + 1]."""
    lengths = np.array([len(tree) - 1 for tree in heads], dtype=np.int64)
    padded = np.full((len(heads), int(lengths.max(initial=0)) + 1), NO_HEAD, dtype=np.int64)
    for row, tree in enumerate(heads):
        padded[row, : len(tree)] = tree
    return lengths, padded


def follow_oracle(
    system: TransitionSystem[Any], state: State, gold: Ints, before: Callable[[Ints], None] = lambda _: None
) -> Iterator[tuple[Ints, ArcChanges]]:
    """Apply the oracle's choices [batch] to `state` one by one; yield each with its effect, after calling `before`."""
    while (choice := system.oracle(state, gold)).max(initial=-1) >= 0:
        before(choice)
        yield choice, system.apply(state, choice)


def run_oracle(
    system: TransitionSystem[Any],
    heads: Sequence[NDArray[np.integer[Any]]],
    *,
    single_root: bool = False,
    **options: Any,
) -> Iterator[OracleRun]:
    """Run the oracle over trees in batches of similar length; `options` are passed to the system's `initial`."""
    for indices in batches_by_length([len(tree) for tree in heads], budget=1 << 15):
        lengths, gold = pad_heads([heads[index] for index in indices])
        state = system.initial(lengths, single_root=single_root, **options)
        choices = [choice for choice, _ in follow_oracle(system, state, gold)]
        yield OracleRun(indices, np.array(choices).reshape(-1, len(indices)), state, gold)
