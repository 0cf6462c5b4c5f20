"""Significance tests."""

from __future__ import annotations

import itertools
import random
import time
from typing import Any

import numpy as np
import pytest

from longarc.evaluation import significance
from longarc.evaluation.measures import MEASURES
from longarc.evaluation.significance import (
    Comparison,
    authors_test,
    bootstrap_weights,
    coin_weights,
    compare,
    compare_seeds,
    f1,
)
from longarc.transitions.system import Ints


def counts_of(*correct: list[int], words: int = 10) -> Ints:
    """[systems, sentences, 1, 4] for systems with so many right words in sentences of `words` words."""
    rows = [[[[right, words, words, words]] for right in system] for system in correct]
    return np.array(rows, dtype=np.int64)


def random_counts(seed: int, systems: int, sentences: int, measures: int) -> Ints:
    """Counts in which what the gold file and the systems have differ from sentence to sentence."""
    generator = np.random.default_rng(seed)
    gold = np.broadcast_to(generator.integers(1, 20, (sentences, measures)), (systems, sentences, measures))
    system = gold + generator.integers(0, 3, gold.shape)
    correct = generator.binomial(gold, 0.8)
    return np.stack([correct, gold, system, gold], axis=-1)


def plain_f1(rows: list[list[int]]) -> float:
    correct, gold, system = (sum(row[column] for row in rows) for column in range(3))
    return 2 * correct / (gold + system)


def test_the_bootstrap_is_a_plain_loop_over_samples() -> None:
    counts = random_counts(1, systems=2, sentences=12, measures=3)
    samples = 400
    found = compare(counts, samples=samples, seed=7)
    weights = bootstrap_weights(np.random.default_rng([7, 0]), samples, 12).astype(int)
    for measure in range(3):
        first, second = counts[0, :, measure].tolist(), counts[1, :, measure].tolist()
        differences, firsts = [], []
        for row in weights:
            drawn = [sentence for sentence in range(12) for _ in range(row[sentence])]
            assert len(drawn) == 12
            firsts.append(100 * plain_f1([first[sentence] for sentence in drawn]))
            differences.append(100 * plain_f1([second[sentence] for sentence in drawn]) - firsts[-1])
        observed = 100 * (plain_f1(second) - plain_f1(first))
        sign = 1 if observed > 0 else -1
        not_better = sum(sign * difference <= 1e-9 for difference in differences)
        (pair,) = found.pairs
        assert pair.difference[measure] == pytest.approx(observed)
        assert pair.bootstrap_p[measure] == pytest.approx(not_better / samples)
        assert pair.interval[measure] == pytest.approx(np.quantile(differences, [0.025, 0.975]))
        assert found.intervals[0, measure] == pytest.approx(np.quantile(firsts, [0.025, 0.975]))
        assert found.scores[0, measure] == pytest.approx(100 * plain_f1(first))


def test_randomisation_comes_close_to_all_swaps_there_are() -> None:
    counts = random_counts(2, systems=2, sentences=10, measures=2)
    (pair,) = compare(counts, samples=20_000, seed=1).pairs
    for measure in range(2):
        first, second = counts[0, :, measure].tolist(), counts[1, :, measure].tolist()
        observed = abs(plain_f1(second) - plain_f1(first))
        as_large = 0
        for swaps in itertools.product([False, True], repeat=10):
            one = [b if swap else a for a, b, swap in zip(first, second, swaps, strict=True)]
            other = [a if swap else b for a, b, swap in zip(first, second, swaps, strict=True)]
            as_large += abs(plain_f1(other) - plain_f1(one)) >= observed - 1e-12
        assert pair.randomization_p[measure] == pytest.approx(as_large / 2**10, abs=0.015)


def test_equal_systems_have_no_better_one() -> None:
    (pair,) = compare(counts_of([3, 9, 5] * 20, [3, 9, 5] * 20), samples=500).pairs
    assert pair.equal.tolist() == [True]
    assert (pair.difference[0], *pair.interval[0]) == (0, 0, 0)
    assert pair.bootstrap_p[0] == pair.randomization_p[0] == 1


def test_systems_that_score_the_same_by_other_sentences_are_equal_too() -> None:
    (pair,) = compare(counts_of([3, 9] * 20, [9, 3] * 20), samples=500).pairs
    assert pair.equal[0] and pair.bootstrap_p[0] == pair.randomization_p[0] == 1
    assert pair.interval[0, 0] < 0 < pair.interval[0, 1]


def test_a_clearly_better_system_has_a_small_p_whichever_comes_first() -> None:
    chooser = random.Random(1)
    worse = [chooser.randint(2, 8) for _ in range(100)]
    better = [right + chooser.choice([0, 1, 2]) for right in worse]
    for one, other, sign in ((worse, better, 1), (better, worse, -1)):
        (pair,) = compare(counts_of(one, other), samples=2000).pairs
        assert np.sign(pair.difference[0]) == sign
        assert pair.bootstrap_p[0] == 0
        assert pair.randomization_p[0] == pytest.approx(1 / 2001)
        assert (sign * pair.interval[0] > 0).all()


def test_a_tie_in_a_sample_is_not_better() -> None:
    """The systems differ in one sentence of two, which is missing from a quarter of all samples."""
    (pair,) = compare(counts_of([5, 5], [5, 6]), samples=20_000).pairs
    assert pair.bootstrap_p[0] == pytest.approx(0.25, abs=0.015)
    assert pair.randomization_p[0] == 1  # either swap gives a difference as large


def test_a_seed_gives_the_same_figures_and_another_gives_others() -> None:
    counts = random_counts(3, systems=3, sentences=40, measures=2)

    def figures(found: Comparison) -> list[Any]:
        pairs = [(pair.bootstrap_p.tolist(), pair.randomization_p.tolist()) for pair in found.pairs]
        return [found.intervals.tolist(), pairs]

    assert figures(compare(counts, 300, seed=4)) == figures(compare(counts, 300, seed=4))
    assert figures(compare(counts, 300, seed=4)) != figures(compare(counts, 300, seed=5))


def test_every_two_systems_are_compared() -> None:
    counts = random_counts(4, systems=4, sentences=20, measures=1)
    pairs = compare(counts, 50).pairs
    assert [(pair.first, pair.second) for pair in pairs] == list(itertools.combinations(range(4), 2))


def test_memory_is_bounded_by_chunks_that_change_nothing_but_the_order_of_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = random_counts(5, systems=2, sentences=30, measures=1)
    sizes: list[int] = []

    def observed(generator: np.random.Generator, samples: int, sentences: int) -> Any:
        sizes.append(samples * sentences)
        return bootstrap_weights(generator, samples, sentences)

    monkeypatch.setattr(significance, "CELLS", 1000)
    sums = significance.resample(counts[0, :, 0], 1000, np.random.default_rng(1), observed)
    assert sums.shape == (1000, 4)
    assert len(sizes) == 31 and max(sizes) <= 1000 and sum(sizes) == 30_000
    assert sums[:, 1].mean() == pytest.approx(counts[0, :, 0, 1].sum(), rel=0.02)


def test_coins_are_fair_and_whole_sentences_are_swapped() -> None:
    coins = coin_weights(np.random.default_rng(1), 1000, 13)
    assert coins.shape == (1000, 13)
    assert set(np.unique(coins)) == {0, 1}
    assert np.abs(coins.mean(axis=0) - 0.5).max() < 0.06


def test_f1_of_nothing_is_nothing() -> None:
    assert f1(np.array([[0, 0, 0], [1, 1, 3]])).tolist() == [0, 0.5]


def test_two_thousand_sentences_take_less_than_five_seconds() -> None:
    """Processor time of both tests, for two systems and all measures."""
    counts = random_counts(6, systems=2, sentences=2000, measures=len(MEASURES))
    start = time.process_time()
    compare(counts, samples=10_000)
    assert time.process_time() - start < 5


def test_with_one_seed_the_seeded_test_is_a_two_sided_bootstrap_of_sentences() -> None:
    rng = np.random.default_rng(5)
    words = rng.integers(5, 15, size=80)
    first, second = (rng.binomial(words, chance)[None, :, None] for chance in (0.70, 0.74))
    test = compare_seeds(first, second, words, samples=4000)
    expected = 0
    draw = np.random.default_rng(6)
    for _ in range(4000):
        chosen = draw.integers(80, size=80)
        expected += second[0, chosen, 0].sum() <= first[0, chosen, 0].sum()
    assert test.p[0] == pytest.approx(2 * expected / 4000, abs=0.03)
    assert test.first[0] == pytest.approx(100 * first.sum() / words.sum())


def test_seeds_that_vary_make_a_difference_less_certain() -> None:
    words = np.full(200, 10)
    steady = np.full((3, 200, 1), 7)
    better = steady + 1 * (np.arange(200) % 4 == 0)[None, :, None]
    varying = better.copy()
    varying[0] += 1
    varying[1] -= 1
    assert compare_seeds(steady, better, words, samples=2000).p[0] < 0.01
    assert compare_seeds(steady, varying, words, samples=2000).p[0] > 0.05
    same = compare_seeds(steady, steady, words, samples=100)
    assert same.p[0] == 1 and same.equal[0]


def test_the_authors_test_draws_words_and_is_one_sided() -> None:
    rng = np.random.default_rng(7)
    first, second = rng.random((3, 300)) < 0.7, rng.random((3, 300)) < 0.75
    difference = second.mean(axis=0) - first.mean(axis=0)
    draw = np.random.default_rng(8)
    sums = np.array([difference[draw.integers(300, size=300)].sum() for _ in range(4000)])
    share = (sums <= 1e-9).mean() if difference.sum() > 0 else (sums >= -1e-9).mean()
    assert authors_test(first, second, samples=4000) == pytest.approx(share, abs=0.03)
    assert authors_test(first, first, samples=10) == 1
