"""A parse transition by transition, for people who want to watch: what the model chose, what it nearly chose instead,
and what the configuration was like afterwards. The transition systems are those that parse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import NO_HEAD, Sentence
from longarc.decoding.greedy import arc_log_probabilities, finite_scores
from longarc.runtime.parser import Parser
from longarc.transitions import get_system
from longarc.transitions.static_oracle import pad_heads
from longarc.transitions.system import State

ALTERNATIVES = 4
"""How many of the next best transitions are told."""


@dataclass(frozen=True)
class Arc:
    """An arc between two nodes; node 0 is the artificial root."""

    head: int
    dependent: int
    relation: str


@dataclass(frozen=True)
class Choice:
    """A transition that could be taken, under the name that the papers give it."""

    name: str
    arc: Arc | None
    """The arc that it makes."""
    probability: float | None
    """Of the transition with this relation, among all that were legal; None where an oracle chose."""
    any_relation: float | None = None
    """Of the transition with whatever relation: over all legal transitions these sum to 1."""


@dataclass(frozen=True)
class Step:
    """A transition that was taken, and the configuration after it."""

    taken: Choice
    alternatives: tuple[Choice, ...]
    """The next best choices, the best first."""
    lists: dict[str, list[int]]
    arcs: tuple[Arc, ...]
    """All arcs so far, in the order in which they were made."""


@dataclass(frozen=True)
class Derivation:
    """The way from the initial configuration to a tree."""

    system: str
    initial: dict[str, list[int]]
    """The lists before the first step."""
    steps: tuple[Step, ...]
    attached: tuple[Arc, ...]
    """The arcs of words that no transition gave a head."""


def model_steps(parser: Parser, sentence: Sentence) -> Derivation:
    """What greedy search does in the parser's own system.

    A projective system builds the lifted tree with its relations; `Parser.parse` lowers its arcs afterwards.
    """
    system = parser.system
    scored = _score(parser, sentence)
    state = system.initial(np.array([len(sentence)]), single_root=parser.description.single_root)
    initial = state.lists(0)
    steps: list[Step] = []
    arcs: tuple[Arc, ...] = ()
    while True:
        legal, slots = system.legal(state), system.slots(state)
        if not legal.any():
            break
        gains = arc_log_probabilities(legal, slots, scored.best, scored.totals)[0]
        total_gains = arc_log_probabilities(legal, slots, scored.totals, scored.totals)[0]
        values = np.where(legal, np.take_along_axis(scored.best, slots, axis=1), -np.inf)[0]
        # The same order as in greedy search: ties go to the first transition.
        ranked = np.argsort(-values, kind="stable")[: ALTERNATIVES + 1]
        choices = []
        for index in ranked[legal[0, ranked]].tolist():
            name, arc = _look_ahead(system, state, index, scored.relations)
            share = scored.shares[arc.head, arc.dependent] if arc else 1.0
            choices.append(Choice(name, arc, float(share * np.exp(gains[index])), float(np.exp(total_gains[index]))))
        system.apply(state, ranked[:1])
        arcs += (choices[0].arc,) if choices[0].arc else ()
        steps.append(Step(choices[0], tuple(choices[1:]), state.lists(0), arcs))
    made = state.heads[0].copy()
    system.complete(state, scored.best)
    late = np.flatnonzero(state.heads[0] != made).tolist()
    attached = [_arc(state.heads[0], dependent, scored.relations) for dependent in late]
    return Derivation(system.name, initial, tuple(steps), tuple(attached))


def oracle_steps(sentence: Sentence, system: str) -> Derivation:
    """How a system's static oracle builds the tree that the sentence has, which must be one that the system can."""
    definition = get_system(system)
    lengths, gold = pad_heads([sentence.heads])
    nodes = range(len(sentence) + 1)
    relations = np.array([[relation] * len(nodes) for relation in sentence.relations], dtype=object).T
    state = definition.initial(lengths, single_root=False)
    initial = state.lists(0)
    steps: list[Step] = []
    arcs: tuple[Arc, ...] = ()
    while (choice := definition.oracle(state, gold))[0] >= 0:
        name, arc = _look_ahead(definition, state, int(choice[0]), relations)
        definition.apply(state, choice)
        arcs += (arc,) if arc else ()
        steps.append(Step(Choice(name, arc, None), (), state.lists(0), arcs))
    return Derivation(system, initial, tuple(steps), ())


@dataclass(frozen=True)
class _Scored:
    """What the network says of one sentence."""

    best: NDArray[np.floating[Any]]
    """[1, width], see ScoreLayout; of an arc the best relation's"""
    totals: NDArray[np.floating[Any]]
    """[1, width] with any relation"""
    relations: NDArray[np.object_]
    """[N head, N dependent] the name of each arc's best relation"""
    shares: NDArray[np.float64]
    """[N head, N dependent] how probable that relation is, where the arc's score does not say it already; else 1"""


def _score(parser: Parser, sentence: Sentence) -> _Scored:
    """Asks the network."""
    found = parser._session.run([sentence.forms], totals=True)
    assert found.totals is not None
    names = np.array(parser.description.relations.names, dtype=object)
    nodes = len(sentence) + 1
    relations = np.full((nodes, nodes), "", dtype=object)
    shares = np.ones((nodes, nodes))
    for head in range(nodes):
        numbers, probabilities = parser._session.relations(found, np.full((1, nodes), head))
        relations[head] = names[numbers[0]]
        if probabilities is not None:
            shares[head] = probabilities[0]
    return _Scored(finite_scores(found.scores), finite_scores(found.totals), relations, shares)


def _look_ahead(system: Any, state: State, index: int, relations: NDArray[np.object_]) -> tuple[str, Arc | None]:
    """What a choice is called and which arc it makes: found out by making it in a copy of the state."""
    choice = np.array([index])
    tried = state.take(np.array([0]))
    system.apply(tried, choice)
    changed = np.flatnonzero(tried.heads[0] != state.heads[0]).tolist()
    arc = _arc(tried.heads[0], changed[0], relations) if changed else None
    return system.names(state, choice)[0], arc


def _arc(heads: NDArray[np.int64], dependent: int, relations: NDArray[np.object_]) -> Arc:
    head = int(heads[dependent])
    assert head != NO_HEAD
    return Arc(head, dependent, str(relations[head, dependent]))
