"""8-bit and low-rank approximations of a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from longarc import read_all
from longarc.model.quantize import _low_rank, with_narrow_lstms
from longarc.model.word_encoder import WordEncoder
from longarc.runtime.features import MAIN
from longarc.runtime.model_file import read_model_file
from longarc.runtime.parser import Parser
from longarc.training.packaging import lstm_moments, make_int8
from tests.helpers.small_models import packaged, small


def test_word_vectors_in_8_bits_are_nearly_the_same(toy_models: Path) -> None:
    package = read_model_file(toy_models / "toy" / "toy.longarc")
    small = WordEncoder.compact(package, 0)
    sentences = [["the", "dog", "sees", "the", "cat"], ["the", "old", "bird", "hears", "the", "child", "today"]]
    found = [Parser(own, threads=1).session.run(sentences, totals=False).scores.arcs for own in (package, small)]
    inside = np.abs(found[0]) < 100
    assert np.abs(found[0] - found[1])[inside].max() < 0.5


def test_narrow_inputs_change_no_more_than_their_rank_takes_away(toy_models: Path) -> None:
    dev = read_all(toy_models / "dev.conllu")
    package = packaged(small("nl-covington", dev))
    moments = lstm_moments(package, dev)
    sentences = [["the", "dog", "sees", "the", "cat"], ["the", "old", "bird", "hears", "the", "child", "today"]]

    def scores(*shares: float) -> Any:
        graph = with_narrow_lstms(package.graphs[MAIN], shares, moments)
        assert (graph == package.graphs[MAIN]) == (set(shares) == {1})
        narrow = replace(package, graphs={**package.graphs, MAIN: graph})
        return Parser(narrow, threads=1).session.run(sentences, totals=False).scores.arcs

    assert len(moments) == 4
    whole = scores(1, 1, 1, 1)
    np.testing.assert_allclose(scores(*[0.9999] * 4), whole, rtol=1e-3, atol=1e-3)  # all, but as a product
    tried = [(1, 0.8, 0.8, 1), (1, 0.8, 0.4, 0.8), (0.4, 0.4, 0.4, 0.4), (0.1, 0.1, 0.1, 0.1)]
    differences = [np.abs(scores(*shares) - whole).mean() for shares in tried]
    assert differences == sorted(differences)
    assert make_int8(package, 0, [1, 0.25, 1, 1], moments).graph_bytes < make_int8(package).graph_bytes


def test_narrow_inputs_do_best_where_something_is_read() -> None:
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((40, 20)).astype(np.float32)
    read = rng.standard_normal((500, 20)) * np.linspace(0.1, 3, 20)

    def error(moments: Any) -> float:
        above, below = _low_rank(weights, 8, moments)
        return float(np.linalg.norm(read @ (weights - above @ below).T))

    assert error(read.T @ read) < 0.9 * error(np.eye(20))
