"""`longarc fetch-treebank`: download treebanks and verify them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from longarc.data import treebank_sources
from longarc.data.treebank_sources import SourceFile, TreebankSource
from tests.helpers.command import longarc

CONTENT = b"1\ta\n"


@pytest.fixture(autouse=True)
def toy_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = SourceFile(sha256=hashlib.sha256(CONTENT).hexdigest())
    source = TreebankSource("Toy treebank", "CC0", "https://x.org", "1", {"test.conllu": file}, "It was converted.")
    monkeypatch.setattr(treebank_sources, "treebank_sources", lambda: {"toy": source, "toy_2": source})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LONGARC_TREEBANKS", raising=False)
    for name in ("toy", "toy_2"):
        (tmp_path / "local" / name).mkdir(parents=True)
        (tmp_path / "local" / name / "test.conllu").write_bytes(CONTENT)


def test_treebanks_are_copied_to_the_data_folder() -> None:
    result = longarc("fetch-treebank", "toy", "toy_2", "--from", "local")
    assert result.status == 0, result.stderr
    assert result.stdout.decode().splitlines() == [
        "toy: Toy treebank; licence: CC0",
        f"{Path('treebanks/toy/test.conllu')}: copied",
        "toy_2: Toy treebank; licence: CC0",
        f"{Path('treebanks/toy_2/test.conllu')}: copied",
    ]
    assert Path("treebanks/toy/test.conllu").read_bytes() == CONTENT


def test_the_data_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert longarc("fetch-treebank", "toy", "--from", "local", "--to", "here").status == 0
    monkeypatch.setenv("LONGARC_TREEBANKS", "there")
    assert longarc("fetch-treebank", "toy", "--from", "local").status == 0
    assert Path("here/toy/test.conllu").exists() and Path("there/toy/test.conllu").exists()


def test_without_a_name_all_are_listed() -> None:
    result = longarc("fetch-treebank")
    assert result.stdout.decode().splitlines() == [
        "toy: Toy treebank; licence: CC0",
        "toy_2: Toy treebank; licence: CC0",
    ]
    assert not Path("treebanks").exists()


def test_mistakes_end_with_status_2() -> None:
    unknown = longarc("fetch-treebank", "yot")
    assert unknown.status == 2 and "toy, toy_2" in unknown.stderr
    converted = longarc("fetch-treebank", "toy")
    assert converted.status == 2 and "It was converted." in converted.stderr and "https://x.org" in converted.stderr
