"""Running a system along the path of its static oracle, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.batches import batches_by_length
from longarc.data.sentence import NO_HEAD
from longarc.transitions.system import Ints, State, TransitionSystem


@dataclass(frozen=True)
class OracleRun:
    """What the oracle did with a batch: `indices` are the sentences' places in the list that was given."""

    indices: Ints
    choices: Ints
    """[steps, batch]; -1 after a sentence's last transition."""
    state: State
    gold: Ints

    @property
    def transitions(self) -> Ints:
        """[batch] the number of transitions of each sentence."""
        return np.asarray((self.choices >= 0).sum(axis=0))

    @property
    def recovered(self) -> Ints:
        """[batch] how many words got their gold head."""
        is_word = self.gold != NO_HEAD
        return np.asarray(((self.state.heads == self.gold) & is_word).sum(axis=1))


def pad_heads(heads: Sequence[NDArray[np.integer[Any]]]) -> tuple[Ints, Ints]:
    """Trees [n + 1] each as lengths in words [batch] and one array [batch, N], filled up with NO_HEAD."""
    lengths = np.array([len(tree) - 1 for tree in heads], dtype=np.int64)
    padded = np.full((len(heads), int(lengths.max(initial=0)) + 1), NO_HEAD, dtype=np.int64)
    for row, tree in enumerate(heads):
        padded[row, : len(tree)] = tree
    return lengths, padded


def run_oracle(
    system: TransitionSystem[Any],
    heads: Sequence[NDArray[np.integer[Any]]],
    *,
    single_root: bool = False,
    **options: Any,
) -> Iterator[OracleRun]:
    """Runs the oracle over trees, in batches of similar length; `options` go to the system's `initial`."""
    for indices in batches_by_length([len(tree) for tree in heads], budget=1 << 15):
        lengths, gold = pad_heads([heads[index] for index in indices])
        state = system.initial(lengths, single_root=single_root, **options)
        choices = []
        while (choice := system.oracle(state, gold)).max(initial=-1) >= 0:
            choices.append(choice)
            system.apply(state, choice)
        yield OracleRun(indices, np.array(choices).reshape(-1, len(indices)), state, gold)
