"""`longarc oracle`: printed transitions and states."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from longarc.transitions import SYSTEMS
from tests.helpers.command import LONGARC, invoke_successfully, run_longarc, run_text
from tests.helpers.paper_figures import EXAMPLE, figures, rows_of
from tests.helpers.plain_systems import PLAIN_SYSTEMS, Move, PlainSystem
from tests.helpers.small_files import HEARING, READS, SENTENCES, as_conllu, write_words
from tests.helpers.systems import STACK_SYSTEMS


def test_a_narrow_character_set_is_no_reason_to_fail(tmp_path: Path) -> None:
    path = write_words(tmp_path / "a.conllu", "Hi")
    path.write_text(path.read_text().replace("\t_\t_\t_\t_\n", "\t0\troot\t_\t_\n"))
    assert run_longarc("oracle", path, "--show-states", PYTHONIOENCODING="cp1252").returncode == 0


@figures
def test_the_command_prints_the_papers_figures(name: str, figure: str, transitions: int) -> None:
    lines = [f"{word}\tw{word}\t_\tX\tX\t_\t{head}\tdep\t_\t_" for word, head in enumerate(EXAMPLE[1:], 1)]
    done = subprocess.run(
        [
            *LONGARC,
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
# oracle


def move_named(system: PlainSystem, transition: str) -> Move:
    """The legal move that a transition's name means."""
    kind, _, k = transition.partition("_")
    lists = system.lists()
    if kind == "Attach":
        return Move(kind, int(k), lists["Buffer"][0])
    words = (lists["λ1"] if "λ1" in lists else lists["Stack"])[::-1]
    found = []
    for move in system.moves():
        partner = move.second if move.kind == "Left-Arc" else move.first
        if move.kind == kind and (not k or words.index(partner) == int(k) - 1):
            found.append(move)
    (move,) = found
    return move


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_printed_transitions_build_the_trees(name: str, treebank: Path) -> None:
    done = invoke_successfully("oracle", treebank, "--system", name)
    assert done.stdout.endswith("\n") and not done.stdout.endswith("\n\n")
    blocks = done.stdout.rstrip("\n").split("\n\n")
    assert len(blocks) == len(SENTENCES)
    for sentence, block in zip(SENTENCES, blocks, strict=True):
        lossy = sentence is HEARING and name in STACK_SYSTEMS
        system = PLAIN_SYSTEMS[name](len(sentence), single_root=False)
        for line in block.split("\n"):
            transition, *relation = line.split("\t")
            move = move_named(system, transition)
            system.take(move)
            if move.is_arc:
                _, head, label = sentence[move.second - 1]
                assert relation == [label if head == move.first else "_"]
            else:
                assert relation == []
        assert not system.moves(), "the end is reached"
        assert (system.heads[1:] == [head for _, head, _ in sentence]) != lossy
    assert ("1 non-projective sentence" in done.stderr) == (name in STACK_SYSTEMS)


def test_nl_covington_is_what_the_oracle_follows_unless_told(treebank: Path) -> None:
    expected = ["Shift", "Left-Arc_1\tnsubj", "Right-Arc_1\troot", "Shift", "Right-Arc_1\tobj", "Shift"]
    assert invoke_successfully("oracle", treebank).stdout.split("\n\n")[0].split("\n") == expected


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    """`longarc oracle … | head -1` ends quietly."""
    treebank = tmp_path / "long.conllu"
    treebank.write_text(as_conllu([READS] * 20_000), encoding="utf-8")
    command = [*LONGARC, "oracle", str(treebank)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"Shift\n"
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_sentence_that_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
    rows = [f"{i}\tw\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_" for i in range(1, 1001)]
    (tmp_path / "long.conllu").write_text("\n".join(rows) + "\n\n")
    done = run_text("oracle", tmp_path / "long.conllu", "--memory=16")
    assert done.returncode == 2
    assert "long.conllu:1: a sentence of 1,000 words needs 77 MB of memory, the limit is 16 MB" in done.stderr
