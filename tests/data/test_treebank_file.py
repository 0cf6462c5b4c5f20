"""Treebank files by name: CoNLL and JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

import longarc
from longarc import LongarcError
from tests.helpers.paths import ROOT

EXAMPLE = ROOT / "examples" / "nonprojective.conllu"


@pytest.mark.parametrize("name", ["copy.jsonl", "copy.conllu", "copy.JSONL.gz", "copy"])
def test_what_is_written_can_be_read(tmp_path: Path, name: str) -> None:
    gold = longarc.read_all(EXAMPLE)
    longarc.write(tmp_path / name, gold)
    for sentences in (list(longarc.read(tmp_path / name)), longarc.read_all(tmp_path / name)):
        assert [sentence.to_conllu() for sentence in sentences] == [sentence.to_conllu() for sentence in gold]


@pytest.mark.parametrize("name", ["text.txt", "document.json"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LongarcError, match="not treebanks"):
        longarc.write(tmp_path / name, longarc.read_all(EXAMPLE))
    assert not (tmp_path / name).exists()


def test_one_sentence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LongarcError, match="one sentence"):
        longarc.write(tmp_path / "one.conllu", longarc.read_all(EXAMPLE)[0])  # type: ignore[arg-type]


def test_text_that_is_not_valid_is_refused_by_name(tmp_path: Path) -> None:
    doc = longarc.load(threads=1)("a \ud800 b")
    with pytest.raises(LongarcError, match="cannot be written"):
        doc.save(tmp_path / "surrogate.conllu")
    assert not (tmp_path / "surrogate.conllu").exists()
