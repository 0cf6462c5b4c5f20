"""What every transition system is: a definition, vectorised over a batch, of which transitions are legal in a state,
which score each of them takes, and what it does.

Node 0 is the artificial root, node i is word i. N is the number of nodes of the longest sentence of the batch. A
*choice* is the index of a transition among the K that a system has for a batch; -1 in an array of choices leaves that
sentence as it is. Transitions carry no relation: an arc's relation depends on its two words alone, so it is looked up
for the arcs of the finished tree.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class ScoreLayout:
    """Where the scores of a sentence with `nodes` nodes stand in one flat row.

    All arcs by head and dependent, then Shift by the first word of the buffer, Reduce by the top of the stack, No-Arc
    by the two focus words. A system that lacks Reduce or No-Arc does not need that part of the row.
    """

    nodes: int

    def arc(self, head: Any, dependent: Any) -> Any:
        return head * self.nodes + dependent

    def shift(self, word: Any) -> Any:
        return self.nodes**2 + word

    def reduce(self, word: Any) -> Any:
        return self.nodes**2 + self.nodes + word

    def no_arc(self, left: Any, right: Any) -> Any:
        return self.nodes**2 + 2 * self.nodes + left * self.nodes + right

    def width(self, system: TransitionSystem[Any]) -> int:
        """The length of a row for a system."""
        if system.has_no_arc:
            return int(self.no_arc(self.nodes, 0))
        return int(self.reduce(self.nodes) if system.has_reduce else self.shift(self.nodes))


StateType = TypeVar("StateType", bound="State")


class State(ABC):
    """What all systems know of a batch: how long each sentence is, which word is next, and the arcs so far."""

    def __init__(self, lengths: NDArray[np.integer[Any]], single_root: bool) -> None:
        self.lengths: Ints = np.asarray(lengths, dtype=np.int64)
        """[batch] words in each sentence."""
        self.single_root = single_root
        self.rows: Ints = np.arange(len(self.lengths))
        self.nodes: Ints = np.arange(int(self.lengths.max(initial=0)) + 1)
        self.layout = ScoreLayout(len(self.nodes))
        self.front: Ints = np.ones(len(self.lengths), dtype=np.int64)
        """[batch] first word of the buffer, j in the paper; past the last word when the buffer is empty."""
        self.heads: Ints = np.full((len(self.lengths), len(self.nodes)), NO_HEAD, dtype=np.int64)
        """[batch, N]"""
        self.root_taken: Mask = np.zeros(len(self.lengths), dtype=np.bool_)
        """[batch] whether node 0 has its child, when it may have one only."""

    @property
    def buffer_left(self) -> Mask:
        """[batch] whether the buffer has a word."""
        return self.front <= self.lengths

    @property
    def focus(self) -> Ints:
        """[batch] the first word of the buffer, or the last word of the sentence where the buffer is empty, so that
        it can serve as an index."""
        return np.minimum(self.front, self.lengths)

    def add_arcs(self, rows: Ints, heads: Ints, dependents: Ints) -> None:
        """Adds one arc in each of the sentences `rows`."""
        self.heads[rows, dependents] = heads
        if self.single_root:
            self.root_taken[rows] |= heads == 0

    def take(self: StateType, rows: Ints) -> StateType:
        """A state of its own for each of `rows`, in which a sentence may be left out or come several times."""
        taken = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and name != "nodes":
                setattr(taken, name, value[rows])
        taken.rows = np.arange(len(rows))
        return taken

    @abstractmethod
    def lists(self, row: int) -> dict[str, list[int]]:
        """The lists of words of one configuration under the names that the literature gives them."""


S = TypeVar("S", bound=State)


class TransitionSystem(ABC, Generic[S]):
    """A transition system over batches. `single_root`: at most one word may hang on node 0."""

    name: str
    projective: bool
    """Whether it can build projective trees only."""
    has_reduce: bool = False
    has_no_arc: bool = False

    @abstractmethod
    def initial(self, lengths: NDArray[np.integer[Any]], *, single_root: bool = True) -> S:
        """The start: lengths [batch] are in words, without the root."""

    @abstractmethod
    def legal(self, state: S) -> Mask:
        """[batch, K] which transitions may be taken; none where a sentence is finished, else at least one."""

    @abstractmethod
    def slots(self, state: S) -> Ints:
        """[batch, K] the place of each transition's score in the ScoreLayout; any valid place for an illegal one."""

    def values(self, state: S, scores: Scores) -> Scores:
        """[batch, K] the score of each legal transition, −∞ for the others; all scores [batch, width] are finite."""
        found = np.take_along_axis(scores, self.slots(state), axis=1)
        return np.where(self.legal(state), found, np.array(-np.inf, scores.dtype))

    @abstractmethod
    def apply(self, state: S, choice: Ints) -> None:
        """Takes one legal transition per sentence, in place."""

    @abstractmethod
    def finished(self, state: S) -> Mask:
        """[batch] whether a sentence is in a terminal state."""

    @abstractmethod
    def preferred(self, state: S, gold: Ints) -> Ints:
        """[batch] the transition of the canonical path to the gold heads [batch, N]; -1 for finished sentences.

        On a tree that the system cannot build, or not with a single root, it may be an illegal one.
        """

    def oracle(self, state: S, gold: Ints) -> Ints:
        """[batch] the transition that the static oracle takes; where the preferred one is illegal, the first legal."""
        choice = self.preferred(state, gold)
        legal = self.legal(state)
        is_legal = legal[state.rows, choice]
        return np.where((choice >= 0) & ~is_legal, legal.argmax(axis=1), choice)

    @abstractmethod
    def complete(self, state: S, scores: Scores) -> None:
        """Gives the words that a finished search left without a head the heads that make a tree of the whole."""

    @abstractmethod
    def longest(self, length: int) -> int:
        """The largest number of transitions that a sentence of so many words can take."""

    @abstractmethod
    def names(self, state: S, choice: Ints) -> list[str]:
        """What the choices are called in this state, in the paper's words, such as `Right-Arc_2`."""
