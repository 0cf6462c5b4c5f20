"""The six transition systems: the example of the paper, what the oracles build, and that each is as it was defined."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from longarc.errors import LongarcError
from longarc.transitions import SYSTEMS, get_system
from longarc.transitions.covington import Covington
from longarc.transitions.nl_covington import NLCovington
from longarc.transitions.static_oracle import pad_heads, run_oracle
from longarc.transitions.system import ScoreLayout, State, TransitionSystem
from longarc.trees.structure import is_projective
from tests.plain_systems import PLAIN_SYSTEMS, Move, PlainSystem
from tests.tree_generators import Heads, all_trees_up_to, as_heads, has_one_root, random_projective_tree, random_tree

COVINGTON_FAMILY = ("covington", "nl-covington")
STACK_SYSTEMS = ("arc-swift", "arc-eager", "arc-standard", "arc-hybrid")

every_system = pytest.mark.parametrize("name", SYSTEMS)
both_root_rules = pytest.mark.parametrize("single_root", [False, True], ids=["any-roots", "one-root"])

# ---------------------------------------------------------------------------------------------------------------------
# (a) The worked example of the paper: figures 2 to 4, without the artificial root.

EXAMPLE = as_heads([0, 1, 1, 5, 1])

FIGURE_3 = """
       | [ ]             | [ ]          | [ 1, 2, 3, 4, 5 ] |
    SH | [ 1 ]           | [ ]          | [ 2, 3, 4, 5 ]    |
    RA | [ ]             | [ 1 ]        | [ 2, 3, 4, 5 ]    | 1 → 2
    SH | [ 1, 2 ]        | [ ]          | [ 3, 4, 5 ]       |
    NA | [ 1 ]           | [ 2 ]        | [ 3, 4, 5 ]       |
    RA | [ ]             | [ 1, 2 ]     | [ 3, 4, 5 ]       | 1 → 3
    SH | [ 1, 2, 3 ]     | [ ]          | [ 4, 5 ]          |
    SH | [ 1, 2, 3, 4 ]  | [ ]          | [ 5 ]             |
    LA | [ 1, 2, 3 ]     | [ 4 ]        | [ 5 ]             | 4 ← 5
    NA | [ 1, 2 ]        | [ 3, 4 ]     | [ 5 ]             |
    NA | [ 1 ]           | [ 2, 3, 4 ]  | [ 5 ]             |
    RA | [ ]             | [ 1, 2, 3, 4 ] | [ 5 ]           | 1 → 5
    SH | [ 1, 2, 3, 4, 5 ] | [ ]        | [ ]               |
"""

FIGURE_4 = """
         | [ ]               | [ ]            | [ 1, 2, 3, 4, 5 ] |
    SH   | [ 1 ]             | [ ]            | [ 2, 3, 4, 5 ]    |
    RA_1 | [ ]               | [ 1 ]          | [ 2, 3, 4, 5 ]    | 1 → 2
    SH   | [ 1, 2 ]          | [ ]            | [ 3, 4, 5 ]       |
    RA_2 | [ ]               | [ 1, 2 ]       | [ 3, 4, 5 ]       | 1 → 3
    SH   | [ 1, 2, 3 ]       | [ ]            | [ 4, 5 ]          |
    SH   | [ 1, 2, 3, 4 ]    | [ ]            | [ 5 ]             |
    LA_1 | [ 1, 2, 3 ]       | [ 4 ]          | [ 5 ]             | 4 ← 5
    RA_3 | [ ]               | [ 1, 2, 3, 4 ] | [ 5 ]             | 1 → 5
    SH   | [ 1, 2, 3, 4, 5 ] | [ ]            | [ ]               |
"""

ABBREVIATIONS = {"SH": "Shift", "NA": "No-Arc", "LA": "Left-Arc", "RA": "Right-Arc"}

figures = pytest.mark.parametrize(
    ("name", "figure", "transitions"),
    [("covington", FIGURE_3, 12), ("nl-covington", FIGURE_4, 9)],
    ids=["covington", "nl-covington"],
)


def rows_of(figure: str) -> list[list[str]]:
    """The cells of a figure: transition, λ1, λ2, buffer, arc."""
    return [[cell.strip() for cell in line.split("|")] for line in figure.strip("\n").split("\n")]


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


@figures
def test_the_command_prints_the_papers_figures(name: str, figure: str, transitions: int) -> None:
    lines = [f"{word}\tw{word}\t_\tX\tX\t_\t{head}\tdep\t_\t_" for word, head in enumerate(EXAMPLE[1:], 1)]
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from longarc.cli.main import run; run()"),
            *("oracle", "-", "--system", name, "--show-states", "--without-root"),
        ],
        input="\n".join(lines) + "\n\n",
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    words, heading, *printed = done.stdout.splitlines()
    assert words.split() == [f"{word}:w{word}" for word in range(1, 6)]
    assert heading.split() == ["Tran.", "λ1", "λ2", "Buffer", "Arc"]
    assert len(printed) == transitions + 1
    for line, expected in zip(printed, rows_of(figure), strict=True):
        assert re.split(r" {2,}", line.strip()) == [cell for cell in expected if cell]


# ---------------------------------------------------------------------------------------------------------------------
# (b) What the oracles build.


@dataclass
class Replay:
    """What came of following an oracle over some trees at once."""

    heads: NDArray[np.int64]
    gold: NDArray[np.int64]
    steps: NDArray[np.int64]
    always_legal: bool
    finished: bool


def replay(system: TransitionSystem[Any], trees: list[Heads], single_root: bool) -> Replay:
    lengths, gold = pad_heads(trees)
    state = system.initial(lengths, single_root=single_root)
    steps = np.zeros(len(trees), dtype=np.int64)
    always_legal = True
    while (choice := system.oracle(state, gold)).max() >= 0:
        going = np.flatnonzero(choice >= 0)
        always_legal &= bool(system.legal(state)[going, choice[going]].all())
        system.apply(state, choice)
        steps[going] += 1
        assert steps.max() <= 1000, "the oracle does not come to an end"
    return Replay(state.heads, gold, steps, always_legal, bool(system.finished(state).all()))


def small_trees(*, projective: bool, single_root: bool) -> list[Heads]:
    return [
        heads
        for heads in all_trees_up_to(5)
        if (not single_root or has_one_root(heads)) and (not projective or is_projective(heads))
    ]


@every_system
@both_root_rules
def test_the_oracle_builds_every_small_tree_that_the_system_can_represent(name: str, single_root: bool) -> None:
    system = SYSTEMS[name]
    trees = small_trees(projective=name in STACK_SYSTEMS, single_root=single_root)
    run = replay(system, trees, single_root)
    np.testing.assert_array_equal(run.heads, run.gold)
    assert run.always_legal
    assert run.finished
    lengths = np.array([len(heads) - 1 for heads in trees])
    assert (run.steps <= [system.longest(int(n)) for n in lengths]).all()
    if name in ("nl-covington", "arc-standard", "arc-hybrid"):
        np.testing.assert_array_equal(run.steps, 2 * lengths)


@every_system
def test_the_oracle_builds_long_trees_that_the_system_can_represent(name: str) -> None:
    rng = np.random.default_rng(5)
    make = random_projective_tree if name in STACK_SYSTEMS else random_tree
    trees = [make(int(rng.integers(1, 60)), rng) for _ in range(30)]
    run = replay(SYSTEMS[name], trees, single_root=False)
    np.testing.assert_array_equal(run.heads, run.gold)
    assert run.always_legal
    assert run.finished


@pytest.mark.parametrize("name", STACK_SYSTEMS)
@both_root_rules
def test_the_oracle_goes_on_legally_with_trees_that_cannot_be_built(name: str, single_root: bool) -> None:
    trees = small_trees(projective=False, single_root=single_root)
    run = replay(SYSTEMS[name], trees, single_root)
    assert run.always_legal
    assert run.finished
    whole = (run.heads == run.gold).all(axis=1)
    assert whole.tolist() == [is_projective(heads) for heads in trees], "built exactly if projective"


@every_system
def test_the_oracle_goes_on_legally_where_the_tree_has_more_roots_than_allowed(name: str) -> None:
    trees = [heads for heads in all_trees_up_to(4) if not has_one_root(heads)]
    run = replay(SYSTEMS[name], trees, single_root=True)
    assert run.always_legal
    assert run.finished


def test_covington_visits_all_pairs_when_every_word_hangs_on_the_root() -> None:
    system = SYSTEMS["covington"]
    for words in range(1, 8):
        run = replay(system, [as_heads([0] * words)], single_root=False)
        assert run.steps.tolist() == [system.longest(words)]


@every_system
def test_running_the_oracle_keeps_track_of_the_sentences(name: str) -> None:
    """Sentences of mixed lengths come back under their own numbers, with their own counts."""
    system = SYSTEMS[name]
    rng = np.random.default_rng(6)
    trees = [random_projective_tree(int(n), rng) for n in rng.integers(1, 20, size=40)]
    seen = []
    for run in run_oracle(system, trees):
        for row, index in enumerate(run.indices.tolist()):
            seen.append(index)
            words = len(trees[index]) - 1
            assert run.state.heads[row, : words + 1].tolist() == trees[index].tolist()
            assert run.recovered[row] == words
            alone = replay(system, [trees[index]], single_root=False)
            assert run.transitions[row] == alone.steps[0]
    assert sorted(seen) == list(range(len(trees)))


def test_an_unknown_system_is_answered_with_the_known_ones() -> None:
    with pytest.raises(LongarcError, match=r"unknown transition system 'arc-lazy'[^$]*nl-covington"):
        get_system("arc-lazy")
    assert isinstance(get_system("covington"), Covington)
    assert isinstance(get_system("nl-covington"), NLCovington)


# ---------------------------------------------------------------------------------------------------------------------
# (c) Legality and effects, against the plain definitions.


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
            if kind in ("Left-Arc", "Right-Arc"):
                (dependent,) = changed
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
# (d) Scores.


def slot_of(layout: ScoreLayout, move: Move) -> int:
    if move.is_arc:
        return int(layout.arc(move.first, move.second))
    if move.kind == "No-Arc":
        return int(layout.no_arc(move.first, move.second))
    return int((layout.shift if move.kind == "Shift" else layout.reduce)(move.first))


@every_system
@both_root_rules
def test_every_transition_takes_the_score_of_its_words(name: str, single_root: bool) -> None:
    system = SYSTEMS[name]
    for state, plain, moves in random_walk(name, single_root, 14, LENGTHS):
        slots = system.slots(state)
        assert slots.shape == system.legal(state).shape
        assert slots.min() >= 0
        assert slots.max() < state.layout.width(system), "even an illegal transition points into the row"
        for row in range(len(plain)):
            assert {move: slots[row, choice] for move, choice in moves[row].items()} == {
                move: slot_of(state.layout, move) for move in moves[row]
            }


@pytest.mark.parametrize("nodes", range(1, 6))
def test_no_two_scores_share_a_place(nodes: int) -> None:
    layout = ScoreLayout(nodes)
    pairs = [(a, b) for a in range(nodes) for b in range(nodes)]
    parts = [
        [layout.arc(*pair) for pair in pairs],
        [layout.shift(word) for word in range(nodes)],
        [layout.reduce(word) for word in range(nodes)],
        [layout.no_arc(*pair) for pair in pairs],
    ]
    places = [place for part in parts for place in part]
    assert sorted(places) == list(range(len(places)))
    ends = {"covington": 3, "arc-eager": 2}
    for name, system in SYSTEMS.items():
        assert layout.width(system) == max(parts[ends.get(name, 1)]) + 1
