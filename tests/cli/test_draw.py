"""`longarc draw`: formats, sentence selection and user errors."""

from __future__ import annotations

import gzip
import os
import pty
import subprocess
from pathlib import Path

import pytest

from longarc.data.sentence import Sentence
from longarc.drawing.svg import svg_tree
from longarc.drawing.text import text_tree
from longarc.drawing.tikz import tikz_tree
from tests.helpers.command import LONGARC, longarc, run_text
from tests.helpers.drawn_trees import TWO, letter, sentence_with
from tests.helpers.tree_generators import as_heads

ONE, OTHER = letter().to_conll().encode(), TWO.to_conll().encode()

CYCLE = sentence_with(as_heads([2, 1])).to_conll().encode()

NAMED = b"# sent_id = s-1\n" + ONE + b"# sent_id = 7\n" + OTHER


def test_trees_are_printed_unless_told_otherwise() -> None:
    printed = longarc("draw", "-", stdin=NAMED).stdout.decode()
    assert printed == f"# sent_id = s-1\n{text_tree(letter())}\n# sent_id = 7\n{text_tree(TWO)}"
    assert longarc("draw", "-", "-o", "-", "--no-tags", stdin=ONE).stdout.decode() == text_tree(letter(), tags=False)
    done = longarc("draw", "-", "--skip-invalid", stdin=CYCLE + ONE)
    assert done.stdout.decode() == text_tree(letter()) and "skipped" in done.stderr


@pytest.mark.parametrize(("choice", "found"), [("1", letter()), ("s-1", letter()), ("2", TWO), ("7", TWO)])
def test_one_sentence_by_number_or_name(choice: str, found: Sentence) -> None:
    printed = longarc("draw", "-", "--sentence", choice, stdin=NAMED).stdout.decode()
    assert printed.partition("\n")[2] == text_tree(found)


def test_the_suffix_says_what_is_drawn(tmp_path: Path) -> None:
    svg, tex = svg_tree(letter(), theme="dark"), tikz_tree(letter())
    for name, text in {"a.svg": svg, "a.tex": tex, "a.tikz": tex, "a.txt": text_tree(letter())}.items():
        done = longarc("draw", "-", "-n", "1", "-o", tmp_path / name, "--theme", "dark", stdin=ONE + OTHER)
        assert (done.status, done.stdout, done.stderr) == (0, b"", "")
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_several_sentences_become_several_pictures_with_the_gold_trees(tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_bytes(ONE + OTHER * 49)
    given_text = letter(clause=5).to_conll().encode() + OTHER * 49
    assert longarc("draw", "-", "-o", tmp_path / "x.svg.gz", "--against", gold, stdin=given_text).status == 0
    names = {path.name for path in tmp_path.iterdir()} - {gold.name}
    assert names == {f"x-{number}.svg.gz" for number in range(1, 51)}
    first = gzip.decompress((tmp_path / "x-1.svg.gz").read_bytes()).decode()
    assert first == svg_tree(letter(clause=5), against=letter())


def test_colours_are_for_terminals(tmp_path: Path) -> None:
    (tmp_path / "one.conllu").write_bytes(ONE)
    master, slave = pty.openpty()
    command = [*LONGARC, "draw", "one.conllu"]
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
    subprocess.run(command, stdout=slave, check=True, env=environment, cwd=tmp_path)
    printed = os.read(master, 65536).decode().replace("\r\n", "\n")
    os.close(slave)
    os.close(master)
    assert printed == text_tree(letter(), colour=True)


MISTAKES = {
    "no such file": (["missing.conllu"], b"", "missing.conllu"),
    "a cycle": (["-"], CYCLE, "<stdin>:1: the heads form a cycle"),
    "no sentence": (["-"], b"", "contains no sentences"),
    "no sentence for a picture": (["-", "-o", "x.svg"], b"", "contains no sentences"),
    "no such number": (["-", "-n", "3"], ONE, "number from 1 to 1"),
    "no such name": (["-", "-n", "s-9"], NAMED, "no sentence 's-9'"),
    "unknown suffix": (["-", "-o", "x.bmp"], ONE, ".svg, .tex, .tikz, .txt"),
    "too many pictures": (["-", "-o", "x.svg"], OTHER * 51, "--sentence"),
    "no such folder": (["-", "-o", "nowhere/x.svg"], ONE, "nowhere/x.svg"),
    "unknown theme": (["-", "--theme", "sepia"], ONE, "sepia"),
    "both from standard input": (["-", "--against", "-"], ONE, "--against"),
    "other words": (["-", "--against", "gold", "-o", "x.svg"], OTHER * 2, "gold:1: the trees have different"),
    "fewer gold sentences": (["-", "--against", "gold"], ONE + OTHER * 2, "gold: contains 2 sentences, fewer than -"),
    "more gold sentences": (["-", "--against", "gold"], ONE, "gold: contains more sentences than -"),
    "no gold file": (["-", "--against", "missing.conllu"], ONE, "missing.conllu"),
}


@pytest.mark.parametrize(("arguments", "given_text", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_ends_with_a_message_and_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], given_text: bytes, complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("gold").write_bytes(ONE + OTHER)
    done = longarc("draw", *arguments, stdin=given_text)
    assert done.status == 2, done.stderr
    assert complaint in done.stderr
    assert [*Path().iterdir()] == [Path("gold")], "nothing half-written is left"


def test_a_sentence_that_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
    rows = [f"{i}\tw\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_" for i in range(1, 2001)]
    (tmp_path / "long.conllu").write_text("\n".join(rows) + "\n\n")
    done = run_text("draw", tmp_path / "long.conllu", "--memory=16")
    assert done.returncode == 2
    assert "long.conllu:1: a sentence of 2,000 words needs 62 MB of memory, the limit is 16 MB" in done.stderr
