"""`longarc compare`: tables, JSON and user errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longarc.evaluation.measures import MEASURES, count
from tests.helpers.annotations import HEARING, SHORT, WRONG_NMOD, judgement, random_pair, table, write
from tests.helpers.command import longarc
from tests.helpers.printed_tables import cells_of

LAS = list(MEASURES).index("las")


# ---------------------------------------------------------------------------------------------------------------------
# The command.


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Gold; a system that is wrong in every other sentence; one that is right but for one sentence."""
    half, nearly = (WRONG_NMOD + HEARING) * 15, HEARING * 29 + WRONG_NMOD
    return write(tmp_path, gold=HEARING * 30, half=half, nearly=nearly)


def test_json_has_scores_intervals_and_p_values(files: list[Path]) -> None:
    done = longarc("compare", *files, "--json", "--samples", "1000", "--seed", "3", "--differences", "2")
    assert done.status == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["settings"] == {
        **{"punctuation": "count", "labels": "universal", "encoding": "utf-8", "aligned_by": ["words", "words"]},
        **{"test": "both", "samples": 1000, "seed": 3, "confidence": 95},
    }
    half, nearly = printed["scores"]["uas"]
    assert half["score"] == pytest.approx(100 * (240 - 15) / 240)
    assert nearly["score"] == pytest.approx(100 * 239 / 240)
    assert half["interval"][0] < half["score"] < half["interval"][1]
    (pair,) = printed["pairs"]
    assert (pair["first"], pair["second"]) == (0, 1)
    uas = pair["measures"]["uas"]
    assert uas["difference"] == pytest.approx(100 * 14 / 240)
    assert uas["bootstrap_p"] < 0.01 and uas["randomization_p"] < 0.01 and not uas["equal"]
    assert pair["measures"]["complete_labelled"]["difference"] == pytest.approx(100 * 14 / 30)
    assert pair["measures"]["upos"] == {
        **{"difference": 0, "interval": [0, 0], "equal": True, "bootstrap_p": 1, "randomization_p": 1}
    }
    assert [sentence["sentence"] for sentence in printed["differences"]] == [1, 3]
    assert printed["differences"][0]["words"][0]["systems"][0]["right"] is False
    assert longarc("compare", *files, "--json", "--samples", "1000", "--seed", "3", "--differences", "2") == done


def test_tables_show_both_tests_or_one(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = longarc("compare", *files, "--samples", "500", "--differences", "1", "--punctuation", "ud")
    printed = done.stdout.decode()
    assert "punctuation: ud" in printed and "500 samples, seed 0" in printed
    cells = cells_of(done.stdout)
    assert ["B − A", "difference", "95 % interval", "p bootstrap", "p randomisation"] in cells
    uas = next(row for row in cells if row[0] == "UAS" and row[1].startswith("+"))
    assert uas[1] == "+5.83" and uas[3] == "< 0.0020"
    assert ["UPOS", "+0.00", "[+0.00, +0.00]", "equal", "equal"] in cells
    assert "sentence 1 (line 1): A hearing is scheduled on the issue today" in printed
    assert ["7 issue", "2 hearing (nmod)", "✗ 4 scheduled (nmod)", "✓ 2 hearing (nmod)"] in cells
    one = longarc("compare", *files, "--samples", "500", "--test", "bootstrap").stdout.decode()
    assert "p bootstrap" in one and "p randomisation" not in one
    other = longarc("compare", *files, "--samples", "500", "--test", "randomization").stdout.decode()
    assert "p bootstrap" not in other and "p randomisation" in other


def test_several_systems_with_other_tokens_can_be_compared(tmp_path: Path) -> None:
    gold, system = random_pair(21)
    paths = write(tmp_path, gold=gold, a=gold, b=system, c=gold)
    printed = json.loads(longarc("compare", *paths, "--samples", "200", "--json").stdout)
    assert printed["settings"]["aligned_by"] == ["words", "characters", "words"]
    assert [(pair["first"], pair["second"]) for pair in printed["pairs"]] == [(0, 1), (0, 2), (1, 2)]
    assert printed["pairs"][1]["measures"]["las"]["equal"]
    expected = count(judgement(gold, system)).sum(axis=0)[LAS]
    assert printed["scores"]["las"][1]["score"] == pytest.approx(200 * expected[0] / (expected[1] + expected[2]))


# ---------------------------------------------------------------------------------------------------------------------
# Users' mistakes.

PARTING = {
    "another word": (
        HEARING,
        HEARING.replace("issue", "tissue"),
        "system.conllu:7: 'tissue' where",
        "gold.conllu:7 has 'issue'",
    ),
    "another word later": (
        SHORT + HEARING,
        SHORT + HEARING.replace("today", "to"),
        "system.conllu:11: the end",
        ":11 has 'today'",
    ),
    "a word too many": (
        SHORT,
        table("Yes/X/0/root", "yes/X/1/x", "!/X/1/x"),
        "system.conllu:2: 'yes' where",
        ":2 has '!'",
    ),
    "a sentence missing": (SHORT + HEARING, SHORT, "system.conllu:2: the end of the text where", ":4 has 'A'"),
    "a sentence too many": (SHORT, SHORT + HEARING, "system.conllu:4: 'A' where", ":2 has the end of the text"),
    "other cases": (SHORT, SHORT.replace("Yes", "yes"), "system.conllu:1: 'yes' where", ":1 has 'Yes'"),
    "no head": (SHORT, SHORT.replace("\t1\tp", "\t_\tp"), "system.conllu:2: HEAD is _", "complete trees"),
    "no gold head": (SHORT.replace("\t1\tp", "\t_\tp"), SHORT, "gold.conllu:2: HEAD is _", "complete trees"),
    "a gold cycle": (
        SHORT.replace("\t0\tr", "\t2\tr"),
        SHORT,
        "gold.conllu:1: the heads form a cycle: 1 → 2 → 1",
        "lead to the root",
    ),
    "no sentences": (SHORT, "", "system.conllu: no sentences", ""),
    "no gold sentences": ("# only a comment\n", SHORT, "gold.conllu: no sentences", ""),
    "no form": (table("/X/0/root", "a/X/1/x"), table("a/X/0/root"), "gold.conllu:1: FORM has no characters", ""),
}


@pytest.mark.parametrize(("gold", "system", "complaint", "more"), PARTING.values(), ids=PARTING)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_files_that_do_not_fit_together_are_told_where_they_part(
    tmp_path: Path, command: str, gold: str, system: str, complaint: str, more: str
) -> None:
    paths = write(tmp_path, gold=gold, system=system)
    done = longarc(command, *paths, *([paths[0]] if command == "compare" else []))
    assert done.status == 2
    assert complaint in done.stderr and more in done.stderr
    assert done.stdout == b""


def test_the_line_of_a_word_after_comments_and_multiword_tokens_is_right(tmp_path: Path) -> None:
    lead = "# sent_id = 1\n# text = x\n1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n"
    gold, system = write(
        tmp_path, gold=lead + HEARING, system="\n" + HEARING.replace("A\t", "del\t", 1).replace("scheduled", "set")
    )
    done = longarc("evaluate", gold, system)
    assert "system.conllu:3: 'hearing' where" in done.stderr
    assert "gold.conllu:6 has 'is'" in done.stderr


MISTAKES = {
    "no such file": (["evaluate", "missing.conllu", "x"], "missing.conllu"),
    "standard input twice": (["evaluate", "-", "-"], "standard input"),
    "unknown punctuation": (["evaluate", "-", "x", "--punctuation", "some"], "conllx"),
    "a system missing": (["evaluate", "-"], "SYSTEM"),
    "one system only": (["compare", "-", "x"], "two or more"),
    "no samples": (["compare", "-", "x", "y", "--samples", "0"], "samples"),
    "unknown test": (["compare", "-", "x", "y", "--test", "t"], "randomization"),
    "standard input for two systems": (["compare", "x", "-", "-"], "standard input"),
    "skipping": (["evaluate", "-", "x", "--skip-invalid"], "--skip-invalid"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_ends_with_status_2(
    arguments: list[str], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    done = longarc(*arguments, stdin=SHORT.encode())
    assert done.status == 2
    assert complaint in done.stderr


def test_a_folder_that_cannot_be_made_is_a_mistake(tmp_path: Path) -> None:
    gold, blocked = write(tmp_path, gold=SHORT, blocked="")
    done = longarc("evaluate", gold, gold, "--plots", blocked)
    assert done.status == 2
    assert str(blocked) in done.stderr
