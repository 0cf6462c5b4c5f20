"""A parse step by step: the transition taken, the next best alternatives, and the configuration after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.sentence import Sentence
from longarc.decoding.greedy import finite_scores, log_probabilities
from longarc.transitions import get_system
from longarc.transitions.static_oracle import follow_oracle, pad_heads
from longarc.transitions.system import ArcChanges, ScoreTable, State

if TYPE_CHECKING:  # onnxruntime takes long to import
    from longarc.runtime.parser import Parser

ALTERNATIVES = 4


@dataclass(frozen=True)
class NodeArc:
    """An arc between two nodes; node 0 is the artificial root."""

    head: int
    dependent: int
    relation: str


@dataclass(frozen=True)
class Choice:
    """A transition."""

    name: str
    """As in the papers, such as Left-Arc_2"""
    arc: NodeArc | None
    """The arc that it adds"""
    probability: float | None
    """Of the transition with this relation among all legal transitions; None if an oracle chose it"""
    any_relation: float | None = None
    """Of the transition with any relation; over all legal transitions these sum to 1"""


@dataclass(frozen=True)
class Step:
    """A transition that was taken, and the configuration after it."""

    taken: Choice
    alternatives: tuple[Choice, ...]
    """The next best choices, best first"""
    lists: dict[str, list[int]]
    """The word lists afterwards, such as λ1, λ2 and Buffer"""


@dataclass(frozen=True)
class Derivation:
    """The path from the initial configuration to a tree."""

    system: str
    initial: dict[str, list[int]]
    """The lists before the first step"""
    steps: tuple[Step, ...]
    attached: tuple[NodeArc, ...]
    """The arcs that were added after the last transition, to make a tree"""


def model_steps(parser: Parser, sentence: Sentence) -> Derivation:
    """Return the steps of greedy search in the parser's own system.

    A projective system builds the projectivized tree; `Parser.parse` restores its non-projective arcs afterwards.
    """
    system = parser.system
    scored = _score(parser, sentence)
    state = system.initial(np.array([len(sentence)]), single_root=parser.description.single_root)
    initial = state.lists(0)
    steps: list[Step] = []
    while (legal := system.legal(state)).any():
        scores, totals = system.gather(state, scored.best), system.gather(state, scored.totals)
        gains = log_probabilities(legal, scores, totals)[0]
        total_gains = log_probabilities(legal, totals, totals)[0]
        # The same order as in greedy search: ties go to the first transition.
        ranked = np.argsort(-np.where(legal, scores, -np.inf)[0], kind="stable")[: ALTERNATIVES + 1]
        choices, lists = [], []
        for index in ranked[legal[0, ranked]].tolist():
            name, arc, after = _try(system, state, index, scored.relations)
            share = scored.shares[arc.head, arc.dependent] if arc else 1.0
            choices.append(Choice(name, arc, float(share * np.exp(gains[index])), float(np.exp(total_gains[index]))))
            lists.append(after)
        steps.append(Step(choices[0], tuple(choices[1:]), lists[0]))
        system.apply(state, ranked[:1])
    changes = system.complete(state, scored.best)
    late = zip(changes.heads.tolist(), changes.dependents.tolist(), strict=True)
    attached = tuple(_arc(head, dependent, scored.relations) for head, dependent in late)
    return Derivation(system.name, initial, tuple(steps), attached)


def oracle_steps(sentence: Sentence, system: str, **options: Any) -> Derivation:
    """Return the steps by which a system's static oracle builds the sentence's tree, as far as the system can.

    `options` are passed to the system's `initial`. An arc that is not in the tree has the relation `_`.
    """
    definition = get_system(system)
    lengths, gold = pad_heads([sentence.node_heads])
    relations = np.full((len(sentence) + 1, len(sentence) + 1), "_", dtype=object)
    dependents = np.arange(1, len(sentence) + 1)
    relations[sentence.node_heads[1:], dependents] = sentence.node_relations[1:]
    state = definition.initial(lengths, single_root=False, **options)
    initial = state.lists(0)
    names: list[str] = []
    steps = []
    for _, changes in follow_oracle(
        definition, state, gold, lambda choice: names.extend(definition.names(state, choice))
    ):
        steps.append(Step(Choice(names[-1], _added_arc(changes, relations), None), (), state.lists(0)))
    return Derivation(system, initial, tuple(steps), ())


@dataclass(frozen=True)
class _Scored:
    """The network's scores of one sentence."""

    best: ScoreTable
    totals: ScoreTable
    relations: NDArray[np.object_]
    """[N head, N dependent] the name of each arc's best relation"""
    shares: NDArray[np.float64]
    """[N head, N dependent] the factor that turns the probability of an arc into that of the arc with its relation"""


def _score(parser: Parser, sentence: Sentence) -> _Scored:
    result = parser.session.run([sentence.forms], totals=True)
    assert result.totals is not None
    names = np.array(parser.description.relations.names, dtype=object)
    nodes = len(sentence) + 1
    relations = np.full((nodes, nodes), "", dtype=object)
    shares = np.ones((nodes, nodes))
    for head in range(nodes):
        numbers, probabilities = parser.session.relations(result, np.full((1, nodes), head))
        relations[head] = names[numbers[0]]
        if result.totals is result.scores:
            shares[head] = probabilities[0]
    return _Scored(finite_scores(result.scores), finite_scores(result.totals), relations, shares)


def _try(
    system: Any, state: State, index: int, relations: NDArray[np.object_]
) -> tuple[str, NodeArc | None, dict[str, list[int]]]:
    """Apply a choice to a copy of the state; return its name, the arc that it adds, and the lists after it."""
    choice = np.array([index])
    copy = state.take(np.array([0]))
    arc = _added_arc(system.apply(copy, choice), relations)
    return system.names(state, choice)[0], arc, copy.lists(0)


def _added_arc(changes: ArcChanges, relations: NDArray[np.object_]) -> NodeArc | None:
    return _arc(int(changes.heads[0]), int(changes.dependents[0]), relations) if len(changes.rows) else None


def _arc(head: int, dependent: int, relations: NDArray[np.object_]) -> NodeArc:
    return NodeArc(head, dependent, str(relations[head, dependent]))
