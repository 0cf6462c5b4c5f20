"""Test whether one system is significantly better than another, by two paired tests over sentences.

Paired bootstrap (Efron & Tibshirani 1993; Koehn 2004): draw sentences with replacement, the same for all systems.
Approximate randomisation (Noreen 1989; Yeh 2000): swap the two systems' outputs for a sentence with probability 1/2.
`PairedTest` defines the p-values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from longarc.evaluation.measures import CORRECT, GOLD, SYSTEM
from longarc.transitions.system import Ints
from longarc.trees.structure import Mask

Floats = NDArray[np.float64]

SAMPLES = 10_000
CELLS = 1 << 22
"""Maximum number of samples × sentences in memory at a time."""
TIE = 1e-13
"""Differences of F1 (between 0 and 1) up to this size are rounding errors."""


@dataclass(frozen=True)
class PairedTest:
    """The comparison of two systems. Scores are F1 in percent."""

    first: int
    second: int
    difference: Floats
    """[measures] the second system's score minus the first's."""
    equal: Mask
    """[measures] whether there is no difference; p is then meaningless."""
    interval: Floats
    """[measures, 2] 95 % confidence interval of the difference: bootstrap percentiles."""
    bootstrap_p: Floats
    """[measures] the share of bootstrap samples in which the system that is better on the file is not better.

    One-sided. A sample in which both are equal counts as not better. 1 if the systems are equal on the file.
    """
    randomization_p: Floats
    """[measures] (k + 1) / (samples + 1), where k is the number of samples in which the absolute difference between the
    swapped outputs is at least as large as the observed one.

    Two-sided. Ties count towards k. 1 if the systems are equal on the file.
    """


@dataclass(frozen=True)
class Comparison:
    """The comparison of several systems."""

    scores: Floats
    """[systems, measures] F1 in percent."""
    intervals: Floats
    """[systems, measures, 2] 95 % confidence intervals: bootstrap percentiles."""
    pairs: list[PairedTest]
    """All pairs of systems."""


def compare(counts: Ints, samples: int = SAMPLES, seed: int = 0) -> Comparison:
    """Compare systems by their counts [systems, sentences, measures, 4] (see `measures.count`)."""
    counts = counts[..., [CORRECT, GOLD, SYSTEM]]
    systems, sentences, measures, kinds = counts.shape
    table = np.moveaxis(counts, 1, 0).reshape(sentences, -1)
    sums = resample(table, samples, np.random.default_rng([seed, 0]), bootstrap_weights)
    sampled = f1(sums.reshape(samples, systems, measures, kinds))
    scores = f1(counts.sum(axis=1))
    pairs = []
    for first, second in combinations(range(systems), 2):
        observed = scores[second] - scores[first]
        differences = sampled[:, second] - sampled[:, first]
        generator = np.random.default_rng([seed, 1, first, second])
        swapped = _swapped_differences(counts[first], counts[second], samples, generator)
        pairs.append(
            PairedTest(
                first=first,
                second=second,
                difference=100 * observed,
                equal=np.abs(observed) <= TIE,
                interval=100 * _middle(differences),
                bootstrap_p=_share_not_better(observed, differences),
                randomization_p=((np.abs(swapped) >= np.abs(observed) - TIE).sum(axis=0) + 1) / (samples + 1),
            )
        )
    return Comparison(100 * scores, 100 * _middle(sampled), pairs)


@dataclass(frozen=True)
class SeededTest:
    """The comparison of two systems that were trained with several seeds. Scores are means over seeds in percent."""

    first: Floats
    """[measures]"""
    second: Floats
    """[measures]"""
    p: Floats
    """[measures] two-sided: twice the smaller share of bootstrap samples in which one system is not better. A sample
    draws sentences, the same for both systems, and seeds, for each system separately. 1 if the systems are equal."""

    @property
    def equal(self) -> Mask:
        """[measures] Whether there is no difference."""
        return np.asarray(np.abs(self.first - self.second) <= 100 * TIE)


def compare_seeds(first: Ints, second: Ints, words: Ints, samples: int = SAMPLES, seed: int = 0) -> SeededTest:
    """Compare two systems by their right words [seeds, sentences, measures] among the words [sentences] of a file."""
    generator = np.random.default_rng([seed, 2])
    sentences = len(words)
    sides = [np.moveaxis(side, 1, 0) for side in (first, second)]
    table = np.concatenate([words[:, None], *(side.reshape(sentences, -1) for side in sides)], axis=1)
    sums = resample(table, samples, generator, bootstrap_weights)
    means = []
    start = 1
    for side in sides:
        _, seeds, measures = side.shape
        right = sums[:, start : start + seeds * measures].reshape(samples, seeds, measures)
        weights = bootstrap_weights(generator, samples, seeds) / seeds
        means.append((right * weights[:, :, None]).sum(axis=1) / np.maximum(sums[:, :1], 1))
        start += seeds * measures
    differences = means[1] - means[0]
    tails = np.minimum((differences <= TIE).mean(axis=0), (differences >= -TIE).mean(axis=0))
    scores = [100 * side.sum(axis=0).mean(axis=0) / max(int(words.sum()), 1) for side in sides]
    return SeededTest(scores[0], scores[1], np.minimum(2 * tails, 1.0))


def authors_test(first: NDArray[np.bool_], second: NDArray[np.bool_], samples: int = SAMPLES, seed: int = 0) -> float:
    """Return p of the test in the code of Fernández-González & Gómez-Rodríguez (2018), from right words [seeds, words].

    It averages over seeds for each word, draws words, and is one-sided: the share of samples in which the system that
    is better on the file is not better.
    """
    difference = second.mean(axis=0) - first.mean(axis=0)
    # The number of times that each distinct difference is drawn is all that matters.
    values, counts = np.unique(difference, return_counts=True)
    draws = np.random.default_rng([seed, 3]).multinomial(len(difference), counts / len(difference), size=samples)
    observed = np.array([difference.mean()])
    return float(_share_not_better(observed, (draws @ values / len(difference))[:, None])[0])


def f1(counts: NDArray[np.integer] | Floats) -> Floats:
    """Return […]: F1 between 0 and 1 from counts […, 3] of correct, gold and system items; 0 if there are none."""
    items = counts[..., 1] + counts[..., 2]
    return np.asarray(2 * counts[..., 0] / np.where(items > 0, items, 1), dtype=np.float64)


Weights = Callable[[np.random.Generator, int, int], Floats]
"""A function of a generator, samples and sentences that draws how often each sample contains each sentence."""


def bootstrap_weights(generator: np.random.Generator, samples: int, sentences: int) -> Floats:
    """Return [samples, sentences]: how often each sentence occurs when `sentences` are drawn with replacement."""
    drawn = generator.integers(0, sentences, size=(samples, sentences))
    drawn += np.arange(samples)[:, None] * sentences
    counts = np.bincount(drawn.ravel(), minlength=samples * sentences)
    return counts.reshape(samples, sentences).astype(np.float64)


def coin_weights(generator: np.random.Generator, samples: int, sentences: int) -> Floats:
    """Return [samples, sentences]: 0 or 1, each with probability 1/2."""
    coins = np.frombuffer(generator.bytes(samples * (-(-sentences // 8))), dtype=np.uint8)
    return np.unpackbits(coins.reshape(samples, -1), axis=1, count=sentences).astype(np.float64)


def resample(table: Ints, samples: int, generator: np.random.Generator, weights: Weights) -> Floats:
    """Return [samples, columns]: the sums of a table [sentences, columns] over each sample, in bounded memory."""
    values = table.astype(np.float64)  # integers below 2⁵³, so sums are exact
    return np.concatenate(
        [weights(generator, size, len(values)) @ values for size in _chunk_sizes(samples, len(values))]
    )


def _chunk_sizes(samples: int, sentences: int) -> Iterator[int]:
    most = max(1, CELLS // sentences)
    for start in range(0, samples, most):
        yield min(most, samples - start)


def _swapped_differences(first: Ints, second: Ints, samples: int, generator: np.random.Generator) -> Floats:
    """Return [samples, measures]: the differences of F1 when the two systems' sentences are swapped at random."""
    sentences, measures, kinds = first.shape
    moved = resample((second - first).reshape(sentences, -1), samples, generator, coin_weights)
    moved = moved.reshape(samples, measures, kinds)
    return f1(second.sum(axis=0) - moved) - f1(first.sum(axis=0) + moved)


def _share_not_better(observed: Floats, differences: Floats) -> Floats:
    """Return [measures]: how often the differences [samples, measures] lack the sign of the observed one."""
    better = differences * np.sign(observed) > TIE
    return np.where(np.abs(observed) > TIE, (~better).mean(axis=0), 1.0)


def _middle(values: Floats) -> Floats:
    """Return […, 2]: the bounds of the middle 95 % of values [samples, …]."""
    return np.moveaxis(np.quantile(values, [0.025, 0.975], axis=0), 0, -1)
