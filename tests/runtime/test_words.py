"""The cache of word representations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longarc import read_all
from longarc.runtime.parser import Parser
from longarc.runtime.words import WordReader
from tests.helpers.small_models import SPELLED, packaged, small
from tests.helpers.toy_treebank import write_toy_treebank


def test_words_are_remembered_as_they_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = small("nl-covington", read_all(write_toy_treebank(tmp_path / "toy.conllu", 5)), **SPELLED)
    words = ["a", "dog", "an", "extraordinarily", "bird", "old", "dogs", "xyz"]
    first = Parser(packaged(prepared), threads=1)._session._word_reader
    assert first is not None
    expected = first.read(words)
    monkeypatch.setattr("longarc.runtime.words.MOST_REMEMBERED", 3)
    forgetful = WordReader(first._graph, first._characters)
    for chosen in ([1], [0, 1], [1, 2, 3], [2, 3], [4, 5, 6, 7, 0], [5, 4], [6], []):
        found = forgetful.read([words[place] for place in chosen])
        assert np.array_equal(found, expected[[0, *(1 + place for place in chosen)]])
        assert len(forgetful._numbers) <= 3
