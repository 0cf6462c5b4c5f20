"""The pieces of a batch as arrays."""

from __future__ import annotations

import json

import numpy as np
import pytest

from longarc.data.subword_tokenizer import SubwordTokenizer, read_definition
from longarc.runtime.features import Arrays
from longarc.runtime.spelled_words import SpelledWords
from longarc.runtime.transformer_features import Architecture, TransformerFeatures, _windows
from tests.helpers.tiny_encoders import word_piece

TOKENIZER = SubwordTokenizer(read_definition(json.dumps(word_piece())))


def features(positions: int = 32) -> TransformerFeatures:
    architecture = Architecture(
        layers=1, width=4, heads=2, inner=4, embedding=4, positions=positions, activation="gelu", epsilon=1e-5
    )
    return TransformerFeatures(architecture, TOKENIZER, SpelledWords(None, None))


def counts(arrays: Arrays) -> list[int]:
    """How many pieces each window has."""
    found: list[int] = (arrays["mask"] == 0).sum(axis=(1, 2, 3)).tolist()
    return found


def test_each_word_has_its_own_pieces() -> None:
    sentences = [["the", "dogs", "zoo"], ["cat"], ["Old", "the", "trees", "!"]]
    arrays = features().featurise(sentences)
    assert arrays["lengths"].tolist() == [4, 2, 5]
    for row, forms in enumerate(sentences):
        for node, form in enumerate(forms, 1):
            span = slice(arrays["starts"][node, row], arrays["ends"][node, row])
            assert arrays["pieces"][span].tolist() == list(TOKENIZER.split(form))
        root = slice(arrays["starts"][0, row], arrays["ends"][0, row])
        assert arrays["pieces"][root].tolist() == [TOKENIZER.first]


def test_the_table_of_windows_contains_each_piece_once() -> None:
    arrays = features().featurise([["the", "dogs"], ["cat"], ["a", "b", "c"]])
    flat = arrays["cells"].reshape(-1)
    assert flat[arrays["places"]].tolist() == [[2 * piece, 2 * piece + 1] for piece in range(len(arrays["pieces"]))]
    for row, count in enumerate(counts(arrays)):
        cells = arrays["cells"][row, 0, :count] // 2
        first, *_, last = arrays["pieces"][cells].tolist()
        assert (first, last) == (TOKENIZER.first, TOKENIZER.last)
        assert arrays["positions"][cells].tolist() == list(range(count))


def test_a_long_sentence_is_read_in_overlapping_windows() -> None:
    rng = np.random.default_rng(3)
    words = ["the", "dogs", "zoo", "house", "abcdef"]
    forms = [words[index] for index in rng.integers(0, len(words), 60)]
    long, short = features().featurise([["cat"], forms, ["dog"]]), features(1024).featurise([["cat"], forms, ["dog"]])
    assert len(counts(long)) > 3 == len(counts(short))
    assert max(counts(long)) <= 32
    for node, form in enumerate(forms, 1):
        span = slice(long["starts"][node, 1], long["ends"][node, 1])
        assert long["pieces"][span].tolist() == list(TOKENIZER.split(form))
    for row in (0, 2):
        assert long["ends"][1, row] - long["starts"][1, row] == 1


@pytest.mark.parametrize("seed", range(50))
def test_windows_cover_every_word_once_with_neighbours(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(16, 60))
    counts = rng.integers(1, 17, int(rng.integers(5, 200)))
    windows = _windows(counts, size)
    expected = 0
    for first, last, own_first, own_last in windows:
        assert first <= own_first == expected < own_last <= last
        assert counts[first:last].sum() <= size
        expected = own_last
    assert expected == len(counts)
