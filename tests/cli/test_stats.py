"""`longarc stats`: figures, tables and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longarc.transitions import SYSTEMS
from tests.helpers.command import invoke_successfully, run_longarc, succeed
from tests.helpers.printed_tables import cells_of
from tests.helpers.small_files import READS, as_conllu, write_words
from tests.helpers.systems import STACK_SYSTEMS


def test_names_in_tables_are_no_markup(tmp_path: Path) -> None:
    path = write_words(tmp_path / "data[v2].conllu", "Hi")
    path.write_text(path.read_text().replace("\t_\t_\t_\t_\n", "\t0\troot\t_\t_\n"))
    folder = tmp_path / "a["
    folder.mkdir()
    path = path.rename(folder / "b].conllu")
    found = run_longarc("stats", path)
    assert (found.returncode, str(path) in "".join(found.stdout.decode().split())) == (0, True)


def test_stats_prints_one_json_object_with_the_figures(treebank: Path) -> None:
    printed = json.loads(succeed("stats", "--json", treebank).stdout)
    (figures,) = printed["treebanks"]
    systems = figures.pop("systems")
    assert figures == {
        "file": str(treebank),
        "sentences": 3,
        "words": 15,
        "words_per_sentence": 5.0,
        "longest_sentence": 8,
        "relations": 10,
        "relation_counts": {
            **{"root": 4, "det": 2, "obj": 2, "nsubj": 1, "nsubj:pass": 1, "aux:pass": 1, "case": 1},
            **{"nmod": 1, "obl": 1, "punct": 1},
        },
        "nonprojective_arcs": 1,
        "nonprojective_arcs_percent": 6.6667,
        "nonprojective_sentences": 1,
        "nonprojective_sentences_percent": 33.3333,
        "crossing_arcs_percent": 20.0,  # hearing → issue with scheduled → today and with 0 → scheduled
        "gap_degrees": {"0": 2, "1": 1},
        "several_roots": 1,
        "several_roots_percent": 33.3333,
        "multiword_tokens": 1,
        "empty_nodes": 1,
    }
    assert list(systems) == list(SYSTEMS)
    whole = {"representable_sentences": 3, "representable_sentences_percent": 100.0, "arcs_recovered_percent": 100.0}
    assert systems["nl-covington"] == {"transitions_per_sentence": 10.0, **whole}
    assert systems["covington"] == {"transitions_per_sentence": 12.6667, **whole}  # 6, 22 and 10
    for name in STACK_SYSTEMS:
        assert systems[name]["representable_sentences"] == 2
        assert systems[name]["representable_sentences_percent"] == 66.6667
        assert 50 < systems[name]["arcs_recovered_percent"] < 100
        assert systems[name]["transitions_per_sentence"] <= 10


def test_stats_prints_tables_that_say_the_same(treebank: Path) -> None:
    printed = succeed("stats", treebank.name, cwd=treebank.parent).stdout
    cells = cells_of(printed)
    for row in (
        ["sentences", "3"],
        ["words", "15"],
        ["words per sentence", "5.00"],
        ["non-projective arcs", "1 (6.67 %)"],
        ["non-projective sentences", "1 (33.33 %)"],
        ["several roots", "1 (33.33 %)"],
        ["largest gap degree", "1"],
        ["multiword tokens", "1"],
        ["empty nodes", "1"],
        ["system", "transitions", "represented %", "arcs %"],
        ["covington", "12.67", "100.00", "100.00"],
        ["nl-covington", "10.00", "100.00", "100.00"],
    ):
        assert row in cells
    assert printed.startswith("small.conllu")


def test_stats_takes_several_treebanks_and_standard_input(treebank: Path) -> None:
    done = succeed("stats", "--json", treebank, "-", input=as_conllu([READS]))
    first, second = json.loads(done.stdout)["treebanks"]
    assert (first["file"], first["sentences"]) == (str(treebank), 3)
    assert (second["file"], second["sentences"]) == ("-", 1)


def test_stats_of_an_empty_file_are_zeros(tmp_path: Path) -> None:
    empty = tmp_path / "empty.conllu"
    empty.touch()
    (figures,) = json.loads(invoke_successfully("stats", "--json", empty).stdout)["treebanks"]
    assert figures["sentences"] == figures["words"] == figures["words_per_sentence"] == 0


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG\r\n")])
def test_stats_draws_a_picture(treebank: Path, tmp_path: Path, suffix: str, start: bytes) -> None:
    picture = tmp_path / f"transitions{suffix}"
    printed = succeed("stats", treebank, "--plot", picture).stdout
    drawn = picture.read_bytes()
    assert drawn.startswith(start)
    assert len(drawn) > 5000
    if suffix == ".svg":
        assert all(f"<!-- {name} -->".encode() in drawn for name in SYSTEMS), "a legend with every system"
    assert "nl-covington" in printed
