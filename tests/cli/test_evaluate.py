"""`longarc evaluate`: tables, JSON and input formats."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest

from longarc.data.conll import read_all
from longarc.data.jsonl import to_json
from longarc.evaluation.breakdown import Breakdown
from longarc.evaluation.plots import plot_breakdown
from tests.helpers.annotations import GOLD, HEARING, SHORT, SYSTEM, table, write
from tests.helpers.command import longarc
from tests.helpers.printed_tables import cells_of


def test_json_has_percentages_settings_and_breakdown(tmp_path: Path) -> None:
    paths = write(tmp_path, gold=GOLD + SHORT, system=SYSTEM + SHORT)
    gold, system = (path.rename(path.with_suffix(".conll")) for path in paths)
    done = longarc("evaluate", gold, system, "--json", "--punctuation", "conllx")
    assert done.status == 0, done.stderr
    printed = json.loads(done.stdout)
    assert (printed["gold"], printed["system"]) == (str(gold), str(system))
    expected = {"punctuation": "conllx", "labels": "whole", "encoding": "utf-8", "aligned_by": "words"}
    assert printed["settings"] == expected
    assert printed["words"] == {"gold": 15, "system": 15, "aligned": 15, "counted": 9}
    assert printed["scores"]["uas"] == pytest.approx(100 * 7 / 9)
    assert printed["scores"]["las"] == pytest.approx(100 * 5 / 9)
    assert "clas" not in printed["scores"], "the relations of a CoNLL-X file are not those of UD"
    assert printed["details"]["uas"]["correct"] == 7
    assert printed["details"]["uas"]["precision"] == printed["details"]["uas"]["recall"]
    lengths = {row["name"]: row["gold"] for row in printed["breakdown"]["arc_length"]}
    assert sum(lengths.values()) == 9
    names = {"relation", "arc_length", "sentence_length", "root_distance", "projectivity", "tag", "confusions"}
    assert set(printed["breakdown"]) == names


def test_tables_say_how_punctuation_and_labels_were_treated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    gold, system = write(tmp_path, gold=HEARING, system=HEARING.replace("\t2\tnmod", "\t4\tnmod"))
    done = longarc("evaluate", gold, system)
    assert "punctuation: count (counted)" in done.stdout.decode()
    assert "labels: universal (relations without subtypes" in done.stdout.decode()
    cells = cells_of(done.stdout)
    assert ["UAS", "87.50", "87.50", "87.50", "7", "8", "8"] in cells
    assert ["complete, labelled", "0.00", "0.00", "0.00", "0", "1", "1"] in cells
    assert "tokens" not in [row[0] for row in cells]
    done = longarc("evaluate", gold, system, "--punctuation", "ud", "--labels", "whole", "--breakdown")
    assert "punctuation: ud (not counted where the gold relation is punct)" in done.stdout.decode()
    assert "labels: whole" in done.stdout.decode()
    cells = cells_of(done.stdout)
    assert ["non-projective", "1", "0", "0.00", "0.00", "0.00", "0.00", "0.00"] in cells
    assert ["NOUN", "NOUN", "VERB", "1"] in cells


def test_columns_that_equal_gold_are_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    gold, system = write(tmp_path, gold=HEARING, system=HEARING.replace("\t2\tnmod", "\t4\tnmod"))
    shown = longarc("evaluate", gold, system).stdout.decode()
    assert "UPOS *" in shown and "MLAS *" in shown and "UAS *" not in shown
    assert "copied from the gold file rather than predicted?" in shown
    assert json.loads(longarc("evaluate", gold, system, "--json").stdout)["columns_equal_to_gold"] == ["upos", "xpos"]
    assert "*" not in longarc("evaluate", gold, gold).stdout.decode(), "a file may be all right"


def test_unseen_words_are_told_from_seen_ones(tmp_path: Path) -> None:
    gold, system = write(tmp_path, gold=HEARING, system=HEARING.replace("\t2\tnmod", "\t4\tnmod"))
    known = table("the/X/0/root", "hearing/X/1/obj", "hearing/X/1/obj")
    (tmp_path / "train.conllu").write_text(known)
    done = longarc("evaluate", gold, system, "--train", tmp_path / "train.conllu", "--json")
    rows = json.loads(done.stdout)["breakdown"]["seen"]
    forms = [line.split("\t")[1] for line in HEARING.splitlines() if line[:1].isdigit()]
    counts = Counter("2" if form == "hearing" else "1" if form == "the" else "0" for form in forms)
    assert {row["name"]: row["gold"] for row in rows} == counts
    shown = longarc("evaluate", gold, system, "--train", tmp_path / "train.conllu")
    assert "how often the training data has the word" in shown.stdout.decode()


def test_tables_of_other_tokens_show_the_tokens_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    gold, system = write(tmp_path, gold=table("ab/X/0/root", "c/X/1/obj"), system=table("a/X/0/root", "bc/X/1/obj"))
    done = longarc("evaluate", gold, system)
    assert "aligned by the characters" in done.stdout.decode()
    assert ["words", "0.00", "0.00", "0.00", "0", "2", "2"] in cells_of(done.stdout)


def test_markup_and_mathematics_in_a_treebank_are_plain_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    gold = table("a/[bold]/0/root", "b/PRP$ $/1/[red]", "c/$x_/1/$y^$")
    gold_file, system = write(tmp_path, gold=gold, system=gold.replace("\t1\t$y^$", "\t2\t[red]"))
    done = longarc("evaluate", gold_file, system, "--breakdown", "--plots", tmp_path / "new" / "pictures")
    assert done.status == 0, done.stderr
    assert ["$y^$", "[red]", "1", "0"] in cells_of(done.stdout)
    drawn = sorted(path.name for path in (tmp_path / "new" / "pictures").iterdir())
    assert drawn == [
        *("arc_length.svg", "head_confusions.svg", "projectivity.svg", "relation.svg", "relation_confusions.svg"),
        *("root_distance.svg", "sentence_length.svg", "tag.svg"),
    ]
    assert all((tmp_path / "new" / "pictures" / name).stat().st_size > 3000 for name in drawn)
    without_mistakes = plot_breakdown(Breakdown({}, [], []), tmp_path / "new")
    assert all(path.stat().st_size > 3000 for path in without_mistakes)
    assert "$y^$ → [red]" in (tmp_path / "new" / "pictures" / "relation_confusions.svg").read_text(encoding="utf-8")


def test_files_of_any_format_and_standard_input_can_be_compared(tmp_path: Path) -> None:
    lines = tmp_path / "system.jsonl"
    sentences = read_all(io.BytesIO((HEARING + SHORT).encode()), format="conllu")
    lines.write_text("".join(to_json(sentence) + "\n" for sentence in sentences), encoding="utf-8")
    done = longarc("evaluate", "-", lines, "--json", stdin=(HEARING + SHORT).encode())
    assert json.loads(done.stdout)["scores"]["las"] == 100
    latin = tmp_path / "latin.conll"
    latin.write_bytes(table("été/X/0/root").encode("latin-1"))
    assert longarc("evaluate", latin, latin, "--encoding", "latin-1", "--json").status == 0
