"""Experiment files that come with the source are valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from longarc.data.treebank_sources import data_folder
from longarc.errors import LongarcError
from longarc.experiment.plan import read_plan
from longarc.experiment.tables import system_name
from longarc.transitions import SYSTEMS
from tests.helpers.paths import ROOT


def test_the_experiment_that_comes_with_the_source_is_well_formed() -> None:
    plan = read_plan(ROOT / "experiments" / "paper-open.toml")
    trained = [treebank for treebank in plan.treebanks if treebank.train is not None]
    assert [(treebank.name, treebank.paper) for treebank in trained] == [
        ("Danish", "Danish"),
        ("Basque", "Basque"),
        ("Ancient Greek", None),
    ]
    assert len(plan.runs) == 9
    assert {run.configuration.epochs for run in plan.runs if run.treebank.name == "Ancient Greek"} == {10}


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda path: path.stem)
def test_every_experiment_that_comes_with_the_source_is_well_formed(path: Path) -> None:
    plan = read_plan(path)
    assert plan.runs
    assert all(str(file).startswith(str(data_folder())) for bank in plan.treebanks for file in bank.files.values())


def test_the_example_in_the_documentation_is_well_formed(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "reproduce.md").read_text("utf-8")
    (example,) = [block.partition("```")[0] for block in text.split("```toml\n")[1:]]
    (tmp_path / "example.toml").write_text(example, encoding="utf-8")
    plan = read_plan(tmp_path / "example.toml")
    assert len(plan.runs) == 27
    assert {treebank.paper for treebank in plan.treebanks} == {"Danish", "Czech", "PT-SD"}


MINIMAL = """
systems = ["arc-toy"]
[[treebank]]
name = "Toy"
train = "$LONGARC_TREEBANKS/toy/train.conllu"
test = "test.conllu"
"""


def test_a_system_that_is_registered_later_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "toy.toml"
    path.write_text(MINIMAL)
    with pytest.raises(LongarcError, match=r"systems is .'arc-toy'., expected a list of some of .*nl-covington"):
        read_plan(path)
    monkeypatch.setitem(SYSTEMS, "arc-toy", SYSTEMS["covington"])
    assert [run.system for run in read_plan(path).runs] == ["arc-toy"]
    assert system_name("arc-toy") == "arc-toy" and system_name("nl-covington") == "NL-Covington"


def test_treebanks_that_must_be_fetched_first_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "toy.toml"
    path.write_text(MINIMAL.replace("arc-toy", "covington"))
    monkeypatch.setenv("LONGARC_TREEBANKS", str(tmp_path / "data"))
    plan = read_plan(path)
    with pytest.raises(LongarcError, match="2 files are missing") as caught:
        plan.require_files()
    assert "Fetch first: toy." in caught.value.hint
    (tmp_path / "data" / "toy").mkdir(parents=True)
    for file in plan.runs[0].treebank.files.values():
        file.touch()
    plan.require_files()
