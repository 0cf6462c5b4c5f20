"""The cache of spelled words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longarc import read_all
from longarc.runtime.graph import Graph
from longarc.runtime.spelled_words import SPELLING, SpellingCache, distinct_words
from longarc.runtime.word_features import WordFeatures
from tests.helpers.small_models import SPELLED, packaged, small
from tests.helpers.toy_treebank import write_toy_treebank


def test_words_are_remembered_as_they_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = small("nl-covington", read_all(write_toy_treebank(tmp_path / "toy.conllu", 5)), **SPELLED)
    words = ["a", "dog", "an", "extraordinarily", "bird", "old", "dogs", "xyz"]
    model = packaged(prepared)
    features = model.description.features
    assert isinstance(features, WordFeatures) and features.spelling.characters is not None
    graph = Graph(model.graphs[SPELLING], lambda: b"", "test")
    first = SpellingCache(graph, features.spelling.spell)
    expected = first.read(words)
    monkeypatch.setattr("longarc.runtime.spelled_words.CACHE_SIZE", 3)
    forgetful = SpellingCache(graph, features.spelling.spell)
    for chosen in ([1], [0, 1], [1, 2, 3], [2, 3], [4, 5, 6, 7, 0], [5, 4], [6], []):
        found = forgetful.read([words[place] for place in chosen])
        assert np.array_equal(found, expected[[0, *(1 + place for place in chosen)]])
        assert len(forgetful._numbers) <= 3


def test_distinct_words_are_numbered_from_one() -> None:
    forms, spellings = distinct_words([["a", "b", "a"], ["b"]])
    assert forms == ["a", "b"]
    assert spellings.T.tolist() == [[0, 1, 2, 1], [0, 2, 0, 0]]
