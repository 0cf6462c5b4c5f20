"""Transition systems follow their definitions and the paper's example."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

from longarc import Sentence
from longarc.decoding.beam import parse_with_beam
from longarc.decoding.greedy import parse_greedily
from longarc.errors import LongarcError
from longarc.runtime.parser import Parser
from longarc.runtime.steps import model_steps
from longarc.transitions import SYSTEMS, get_system
from longarc.transitions.covington import Covington
from longarc.transitions.nl_covington import NLCovington
from longarc.transitions.oracle_paths import oracle_paths
from longarc.transitions.static_oracle import pad_heads, run_oracle
from longarc.transitions.system import ScoreTable, State, TransitionSystem
from tests.helpers.paper_figures import ABBREVIATIONS, EXAMPLE, figures, rows_of
from tests.helpers.plain_systems import PLAIN_SYSTEMS, Move, PlainSystem
from tests.helpers.systems import both_root_rules, every_system

# ---------------------------------------------------------------------------------------------------------------------
# The worked example of the paper: figures 2 to 4, without the artificial root.


def words_of(cell: str) -> list[int]:
    return [int(word) for word in re.findall(r"\d+", cell)]


@figures
def test_the_papers_example_goes_through_the_papers_states(name: str, figure: str, transitions: int) -> None:
    rows = rows_of(figure)
    assert len(rows) == transitions + 1
    system: Any = SYSTEMS[name]
    lengths, gold = pad_heads([EXAMPLE])
    state = system.initial(lengths, single_root=False, with_root=False)
    built: dict[int, int] = {}
    for number, (transition, *lists, arc) in enumerate(rows):
        if number:
            choice = system.oracle(state, gold)
            abbreviation, _, k = transition.partition("_")
            assert system.names(state, choice) == [ABBREVIATIONS[abbreviation] + ("_" + k if k else "")]
            assert system.legal(state)[0, choice[0]]
            system.apply(state, choice)
        assert list(state.lists(0)) == ["λ1", "λ2", "Buffer"]
        assert list(state.lists(0).values()) == [words_of(cell) for cell in lists]
        if arc:
            left, right = words_of(arc)
            built.update({right: left} if "→" in arc else {left: right})
        assert {word: int(head) for word, head in enumerate(state.heads[0]) if head >= 0} == built
    assert system.finished(state).all()
    assert system.oracle(state, gold).tolist() == [-1]
    assert built == {2: 1, 3: 1, 4: 5, 5: 1}


def test_an_unknown_system_is_answered_with_the_known_ones() -> None:
    with pytest.raises(LongarcError, match=r"unknown transition system 'arc-lazy'[^$]*nl-covington"):
        get_system("arc-lazy")
    assert isinstance(get_system("covington"), Covington)
    assert isinstance(get_system("nl-covington"), NLCovington)


# ---------------------------------------------------------------------------------------------------------------------
# Legality and effects, against the plain definitions.


def moves_by_effect(system: TransitionSystem[Any], state: State) -> list[dict[Move, int]]:
    """For each sentence the legal transitions and their choices: the kind by its name, the arc by what it changes."""
    legal = system.legal(state)
    choices = [np.flatnonzero(row).tolist() for row in legal]
    found: list[dict[Move, int]] = [{} for _ in choices]
    for turn in range(max(map(len, choices), default=0)):
        choice = np.array([row[turn] if turn < len(row) else -1 for row in choices])
        names = system.names(state, choice)
        after = copy.deepcopy(state)
        system.apply(after, choice)
        for row in np.flatnonzero(choice >= 0).tolist():
            kind = names[row].partition("_")[0]
            changed = np.flatnonzero(after.heads[row] != state.heads[row]).tolist()
            lists = state.lists(row)
            if kind in ("Left-Arc", "Right-Arc", "Attach"):
                (dependent,) = [word for word in changed if after.heads[row, word] >= 0]  # others lose their heads
                move = Move(kind, int(after.heads[row, dependent]), dependent)
            else:
                assert not changed
                first = {"Shift": "Buffer", "Reduce": "Stack", "No-Arc": "λ1"}[kind]
                word = lists[first][0 if kind == "Shift" else -1]
                move = Move(kind, word, lists["Buffer"][0] if kind == "No-Arc" else word)
            assert move not in found[row], "two choices that do the same"
            found[row][move] = int(choice[row])
    return found


def random_walk(
    name: str, single_root: bool, seed: int, lengths: list[int]
) -> Iterator[tuple[State, list[PlainSystem], list[dict[Move, int]]]]:
    """A batch and its sentences one by one, along the same legal transitions; yields every configuration."""
    system = SYSTEMS[name]
    rng = np.random.default_rng(seed)
    state = system.initial(np.array(lengths), single_root=single_root)
    plain = [PLAIN_SYSTEMS[name](words, single_root) for words in lengths]
    while True:
        moves = moves_by_effect(system, state)
        yield state, plain, moves
        if not any(moves):
            return
        choice = np.full(len(lengths), -1, dtype=np.int64)
        for row, found in enumerate(moves):
            if found:
                # Arcs are preferred: a path of Shift alone, which chance likes, shows little.
                arcs = [move for move in found if move.is_arc]
                pool = arcs if arcs and rng.random() < 0.6 else list(found)
                move = pool[int(rng.integers(len(pool)))]
                choice[row] = found[move]
                plain[row].take(move)
        system.apply(state, choice)


LENGTHS = [7, 1, 4, 0, 9, 2, 6, 3]


@every_system
@both_root_rules
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_has_the_legal_transitions_and_effects_of_the_definitions(
    name: str, single_root: bool, seed: int
) -> None:
    system = SYSTEMS[name]
    for state, plain, moves in random_walk(name, single_root, seed, LENGTHS):
        for row, sentence in enumerate(plain):
            assert set(moves[row]) == set(sentence.moves())
            assert state.lists(row) == sentence.lists()
            assert state.heads[row, : sentence.words + 1].tolist() == sentence.heads
            assert (state.heads[row, sentence.words + 1 :] == -1).all()
            assert bool(system.finished(state)[row]) == (not sentence.moves())


@every_system
@both_root_rules
def test_a_sentence_alone_goes_as_in_a_batch(name: str, single_root: bool) -> None:
    system = SYSTEMS[name]
    alone = [system.initial(np.array([words]), single_root=single_root) for words in LENGTHS]
    for state, _, moves in random_walk(name, single_root, 11, LENGTHS):
        for row in range(len(LENGTHS)):
            alone[row] = follow(system, alone[row], state, row)
            assert moves_by_effect(system, alone[row])[0].keys() == moves[row].keys()


def follow(system: TransitionSystem[Any], alone: State, batch: State, row: int) -> State:
    """The configuration of a sentence alone after the transition that took it, in its batch, to where it is now."""
    goal = batch.lists(row), batch.heads[row, : len(alone.nodes)].tolist()
    (moves,) = moves_by_effect(system, alone)
    for choice in (-1, *moves.values()):
        after = copy.deepcopy(alone)
        system.apply(after, np.array([choice]))
        if (after.lists(0), after.heads[0].tolist()) == goal:
            return after
    raise AssertionError("the sentence alone cannot get where it got in the batch")


@every_system
def test_no_choice_leaves_a_sentence_as_it_is(name: str) -> None:
    system = SYSTEMS[name]
    for state, _, moves in random_walk(name, True, 12, [3, 5]):
        before = copy.deepcopy(state)
        system.apply(state, np.full(2, -1, dtype=np.int64))
        for row in range(2):
            assert state.lists(row) == before.lists(row)
        np.testing.assert_array_equal(state.heads, before.heads)
        assert moves_by_effect(system, state) == moves


@pytest.mark.parametrize("name", ["nl-covington", "arc-swift"])
def test_k_in_a_transitions_name_counts_words_from_the_right(name: str) -> None:
    system = SYSTEMS[name]
    numbers = set()
    for state, plain, moves in random_walk(name, False, 13, [8, 8, 5]):
        for row, found in enumerate(moves):
            words = plain[row].lists()["λ1" if name == "nl-covington" else "Stack"][::-1]
            for move, choice in found.items():
                choices = np.full(len(plain), -1, dtype=np.int64)
                choices[row] = choice
                partner = move.second if move.kind == "Left-Arc" else move.first
                number = f"_{words.index(partner) + 1}" if move.is_arc else ""
                assert system.names(state, choices)[row] == move.kind + number
                numbers.add(number)
    assert {"_1", "_2", "_3"} <= numbers


# ---------------------------------------------------------------------------------------------------------------------
# Scores.


@every_system
@both_root_rules
def test_every_transition_takes_the_score_of_its_words(name: str, single_root: bool) -> None:
    system = SYSTEMS[name]
    for state, plain, moves in random_walk(name, single_root, 14, LENGTHS):
        table = system.positions(state)
        parts = {"Shift": table.shift, "Reduce": table.reduce, "No-Arc": table.no_arc}
        positions = system.gather(state, table)
        assert positions.shape == system.legal(state).shape
        assert positions.min() >= 0
        assert positions.max() < system.row_width(len(state.nodes)), "even an illegal transition points into the row"
        for row in range(len(plain)):
            for move, choice in moves[row].items():
                part = table.arcs if move.is_arc else parts[move.kind]
                assert part is not None
                words = (move.first, move.second)[: part.ndim - 1]
                assert positions[row, choice] == part[(row, *words)]


@every_system
@pytest.mark.parametrize("nodes", range(1, 6))
def test_no_two_scores_share_a_position(name: str, nodes: int) -> None:
    system = SYSTEMS[name]
    table = system.positions(system.initial(np.array([nodes - 1])))
    positions = np.concatenate([part.ravel() for part in table.arrays.values()])
    assert sorted(positions.tolist()) == list(range(system.row_width(nodes)))


# ---------------------------------------------------------------------------------------------------------------------
# One definition of legality.


class WithoutLeftArcs(NLCovington):
    """A subclass that only changes what is legal."""

    name = "without-left-arcs"

    def legal(self, state: Any) -> Any:
        legal = super().legal(state)
        legal[:, 1 : 1 + len(state.nodes)] = False
        return legal


def test_search_beam_oracle_and_stepper_all_obey_a_subclass_that_forbids_left_arcs(
    monkeypatch: pytest.MonkeyPatch, english: Parser
) -> None:
    system = WithoutLeftArcs()
    monkeypatch.setitem(SYSTEMS, system.name, system)
    rng = np.random.default_rng(8)
    lengths = np.array([9, 9, 7])
    table = ScoreTable(rng.normal(size=(3, 10, 10)), rng.normal(size=(3, 10)) - 1)

    def left_arcs(heads: Any) -> int:
        return int((heads > np.arange(heads.shape[1])).sum())

    free = parse_greedily(SYSTEMS["nl-covington"], lengths, table).heads
    with mock.patch.object(system, "complete"):  # which may attach words to the left
        bound = parse_greedily(system, lengths, table).heads
        beam = parse_with_beam(system, lengths, table, table, beam=3).heads
    assert left_arcs(free) > 0
    assert left_arcs(bound) == left_arcs(beam) == 0
    (run,) = run_oracle(system, [np.array([-1, 2, 3, 0, 3])])
    assert left_arcs(run.state.heads) == 0
    (path,) = oracle_paths(system, [np.array([-1, 2, 3, 0, 3])], single_root=True)
    heads, dependents = path.legal[path.legal[:, 0] >= 0].T
    assert (heads < dependents).all()
    monkeypatch.setattr(english, "system", system)
    steps = model_steps(english, Sentence.from_forms(["I", "met", "a", "man"])).steps
    choices = [choice for step in steps for choice in (step.taken, *step.alternatives)]
    assert choices and not any(choice.name.startswith("Left-Arc") for choice in choices)


def test_apply_says_which_arcs_it_added() -> None:
    for name in SYSTEMS:
        for state, _, moves in random_walk(name, True, 21, [4, 6]):
            for row, by_move in enumerate(moves):
                for move, index in by_move.items():
                    choice = np.full(2, -1)
                    choice[row] = index
                    changes = SYSTEMS[name].apply(copy.deepcopy(state), choice)
                    arcs = list(zip(changes.rows, changes.heads, changes.dependents, strict=True))
                    assert arcs == ([(row, move.first, move.second)] if move.is_arc else [])
                    removed = set(zip(changes.removed_rows, changes.removed_dependents, strict=True))
                    after = copy.deepcopy(state)
                    SYSTEMS[name].apply(after, choice)
                    assert removed == set(zip(*np.nonzero((state.heads >= 0) & (after.heads < 0)), strict=True))


def test_every_system_names_those_who_described_it() -> None:
    assert all(re.search(r"\(\d{4}(, \d{4})?\)", system.reference) for system in SYSTEMS.values())
