"""The interface of a transition system, vectorised over a batch of sentences.

Node 0 is the artificial root and node i is word i. N is the number of nodes of the longest sentence in the batch. A
*choice* is the index of a transition among the K transitions that a system has for a batch; −1 leaves a sentence
unchanged. Transitions carry no relation: the relation of an arc depends only on its two words, so it is looked up after
the tree is built.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ScoreTable:
    """One number for every transition that a batch may need, computed before the search starts.

    The numbers are scores during search, and positions in a flat row when training looks up scores.
    """

    arcs: NDArray[Any]
    """[batch, N, N] by head and dependent"""
    shift: NDArray[Any]
    """[batch, N] by first word of the buffer"""
    reduce: NDArray[Any] | None = None
    """[batch, N] by top of the stack"""
    no_arc: NDArray[Any] | None = None
    """[batch, N, N] by left and right focus word"""
    crossing_cost: float = 0.0
    """What an arc loses for each arc that it crosses, in systems with `has_crossing_cost`"""

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that the table has, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}


NOTHING: Ints = np.zeros(0, dtype=np.int64)


class ArcChanges(NamedTuple):
    """The arcs that a step added and removed; a transition adds at most one per sentence."""

    rows: Ints
    heads: Ints
    dependents: Ints
    removed_rows: Ints = NOTHING
    removed_dependents: Ints = NOTHING

    @classmethod
    def of(cls, arcs: Sequence[tuple[int, int, int]]) -> ArcChanges:
        """Return added arcs from triples of row, head and dependent."""
        rows, heads, dependents = np.array(arcs, dtype=np.int64).reshape(-1, 3).T
        return cls(rows, heads, dependents)


StateType = TypeVar("StateType", bound="State")


class State(ABC):
    """The configurations of a batch: sentence lengths, buffers, and the arcs built so far."""

    def __init__(self, lengths: NDArray[np.integer[Any]], single_root: bool) -> None:
        self.lengths: Ints = np.asarray(lengths, dtype=np.int64)
        """[batch] words in each sentence"""
        self.single_root = single_root
        self.rows: Ints = np.arange(len(self.lengths))
        self.sentence: Ints = self.rows
        """[batch] the row of each configuration's scores in a ScoreTable"""
        self.nodes: Ints = np.arange(int(self.lengths.max(initial=0)) + 1)
        self.front: Ints = np.ones(len(self.lengths), dtype=np.int64)
        """[batch] first word of the buffer, j in the paper; past the last word when the buffer is empty"""
        self.heads: Ints = np.full((len(self.lengths), len(self.nodes)), NO_HEAD, dtype=np.int64)
        """[batch, N]"""
        self.root_taken: Mask = np.zeros(len(self.lengths), dtype=np.bool_)
        """[batch] True once node 0 has the only child it may have"""

    @property
    def buffer_left(self) -> Mask:
        """[batch] True where the buffer is not empty."""
        return self.front <= self.lengths

    @property
    def focus(self) -> Ints:
        """[batch] The first word of the buffer; the last word of the sentence where the buffer is empty, so that the
        result is always a valid index."""
        return np.minimum(self.front, self.lengths)

    def add_arcs(self, rows: Ints, heads: Ints, dependents: Ints) -> ArcChanges:
        """Add one arc in each of the sentences `rows`."""
        self.heads[rows, dependents] = heads
        if self.single_root and len(roots := rows[heads == 0]):
            self.root_taken[roots] = True
        return ArcChanges(rows, heads, dependents)

    def take(self: StateType, rows: Ints) -> StateType:
        """Return a copy of the configurations `rows`; a row may be omitted or repeated. `sentence` is kept."""
        taken = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and name != "nodes":
                setattr(taken, name, value[rows])
        taken.rows = np.arange(len(rows))
        return taken

    @abstractmethod
    def lists(self, row: int) -> dict[str, list[int]]:
        """Return the word lists of one configuration under the names used in the literature."""


S = TypeVar("S", bound=State)


class TransitionSystem(ABC, Generic[S]):
    """A transition system over batches. With `single_root`, at most one word may depend on node 0.

    `legal` is the only definition of legality and `gather` the only definition of which score belongs to which
    transition: search, beam, oracles, the loss and the stepper use these two.
    """

    name: str
    reference: str = ""
    """Who described the system"""
    projective: bool
    """True if the system builds projective trees only."""
    has_reduce: bool = False
    has_no_arc: bool = False
    has_crossing_cost: bool = False
    """True if `gather` and `complete` subtract the table's crossing cost."""
    has_dynamic_oracle: bool = False
    """True if `loss` is defined, so that a model can be trained on paths that leave the static oracle's."""
    transition_names: tuple[str, ...] = ()
    """The papers' names of the transitions, by choice, unless `names` is overridden."""

    @abstractmethod
    def initial(self, lengths: NDArray[np.integer[Any]], *, single_root: bool = True) -> S:
        """Return the initial configurations for sentences of these lengths [batch], in words."""

    def shortcut(self, state: S, scores: ScoreTable) -> None:
        """Apply, in place, the next transitions that are certain without a search.

        Greedy search would choose the same ones, so a subclass with other rules or scores must override this. By
        default there are none.
        """

    @abstractmethod
    def legal(self, state: S) -> Mask:
        """[batch, K] True for legal transitions: at least one per sentence, none once it is finished."""

    @abstractmethod
    def gather(self, state: S, table: ScoreTable) -> NDArray[Any]:
        """[batch, K] The table's number for each transition, in a new array; arbitrary for illegal transitions."""

    @abstractmethod
    def apply(self, state: S, choice: Ints) -> ArcChanges:
        """Apply one legal transition per sentence in place; return the arcs that changed."""

    @abstractmethod
    def finished(self, state: S) -> Mask:
        """[batch] True for terminal configurations."""

    @abstractmethod
    def preferred(self, state: S, gold: Ints) -> Ints:
        """[batch] The next transition on the canonical path to the gold heads [batch, N]; −1 for finished sentences.

        It may be illegal if the system cannot build the gold tree, or cannot build it with a single root.
        """

    def oracle(self, state: S, gold: Ints) -> Ints:
        """[batch] The static oracle's choice: the preferred transition, or the first legal one if that is illegal."""
        choice = self.preferred(state, gold)
        legal = self.legal(state)
        is_legal = legal[state.rows, choice]
        return np.where((choice >= 0) & ~is_legal, legal.argmax(axis=1), choice)

    def loss(self, state: S, gold: Ints) -> Ints:
        """[batch] The number of gold arcs [batch, N] that no continuation can build, or an upper bound of it.

        Only for systems with `has_dynamic_oracle`.
        """
        raise NotImplementedError(f"{self.name} has no dynamic oracle")

    @abstractmethod
    def complete(self, state: S, scores: ScoreTable) -> ArcChanges:
        """Make a tree of every sentence after the search, such as by attaching headless words; return the new arcs."""

    def names(self, state: S, choice: Ints) -> list[str]:
        """Return the papers' names of the choices in this state, such as `Right-Arc_2`."""
        return [self.transition_names[index] for index in choice]

    def positions(self, state: S) -> ScoreTable:
        """Number the scores of a sentence from 0: arcs by head and dependent, then Shift, Reduce and No-Arc.

        `gather` over this table tells where each transition's score is in such a flat row.
        """
        n, batch = len(state.nodes), len(state.rows)
        square, line = np.arange(n * n).reshape(n, n), np.arange(n)
        arcs = np.broadcast_to(square, (batch, n, n))
        shift, after_shift = np.broadcast_to(n * n + line, (batch, n)), n * (n + 1)
        reduce = np.broadcast_to(after_shift + line, (batch, n)) if self.has_reduce else None
        after_reduce = after_shift + n * self.has_reduce
        no_arc = np.broadcast_to(after_reduce + square, (batch, n, n)) if self.has_no_arc else None
        return ScoreTable(arcs, shift, reduce, no_arc)

    def row_width(self, nodes: int) -> int:
        """Return the length of the flat row that `positions` numbers."""
        return nodes * (nodes + 1) + nodes * self.has_reduce + nodes * nodes * self.has_no_arc
