"""What the commands print fits 80 columns, and no word is cut."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.command import longarc
from tests.helpers.paths import ROOT

GOLD = ROOT / "examples" / "nonprojective.conllu"
COMMANDS = {
    "models": ["models"],
    "info": ["info"],
    "stats": ["stats", "{gold}"],
    "evaluate": ["evaluate", "{gold}", "{system}", "--breakdown"],
    "evaluate other words": ["evaluate", "{gold}", "other.conllu"],
    "compare": ["compare", "{gold}", "{system}", "{gold}", "--samples=50", "--differences=2"],
    "compare three": ["compare", "{gold}", "{system}", "{gold}", "{system}", "--samples=50", "--differences=2"],
    "fetch-treebank": ["fetch-treebank"],
}


def lines_of(arguments: list[str], columns: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = longarc(*arguments)
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout.decode().splitlines()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with gold trees and the output of a parser that made mistakes, with rows of large figures."""
    text = GOLD.read_text("utf-8")
    (tmp_path / "gold.conllu").write_text(text * 600, "utf-8")
    wrong = re.sub(r"^(\d+\t\w+\t\w+\t)[A-Z]+", r"\1X", text.replace("\t4\tdet", "\t2\tnmod:poss"), flags=re.MULTILINE)
    (tmp_path / "system.conllu").write_text(wrong * 600, "utf-8")
    other_words = re.sub(r"red\tred(.*)SpaceAfter=No\n9\t.*", r"red.\tred\1_", wrong)
    assert other_words != wrong
    (tmp_path / "other.conllu").write_text(other_words * 600, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_tables_fit_80_columns_without_cut_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    files = {"gold": "gold.conllu", "system": "system.conllu"}
    arguments = [argument.format(**files) for argument in arguments]
    narrow, wide = (lines_of(arguments, columns, monkeypatch) for columns in (80, 300))
    too_long = [line for line in narrow if len(line.rstrip()) > 80 and not is_path(line)]
    assert too_long == []
    assert words_of(narrow) >= words_of(wide)


def is_path(line: str) -> bool:
    """Whether a line is no table or list but ends in a path, which is never broken."""
    return line.startswith("Your model folder: ") or line.endswith(".longarc")


def words_of(lines: list[str]) -> Counter[str]:
    return Counter(re.sub(r"[─━]+", " ", " ".join(lines)).split())


def test_long_lists_of_the_oracle_are_shortened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """λ1 shows its end and the other lists their start, as many words as fit."""
    lines = lines_of(["oracle", str(GOLD), "--show-states"], 80, monkeypatch)
    assert max(map(len, lines)) <= 80
    assert "SH     [ …, 1, 2, 3, 4, 5 ]  [ ]                   [ 6, 7, 8, 9 ]" in lines
    assert "RA_7   [ 0, 1 ]              [ 2, 3, 4, 5, 6, … ]  [ 9 ]                 2 → 9" in lines
    assert not any("…" in line for line in lines_of(["oracle", str(GOLD), "--show-states"], 300, monkeypatch))
