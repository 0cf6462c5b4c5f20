"""Whether one system is better than another or was lucky with the sentences: two paired tests over sentences.

Paired bootstrap (Efron & Tibshirani 1993; Koehn 2004): sentences are drawn with replacement, the same for all systems.
Approximate randomisation (Noreen 1989; Yeh 2000): what two systems made of a sentence is swapped by the toss of a coin.
Which p-values these give, exactly, is said with `PairedTest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from longarc.evaluation.corpus import Numbers
from longarc.evaluation.measures import CORRECT, GOLD, SYSTEM

Floats = NDArray[np.float64]

SAMPLES = 10_000
CELLS = 1 << 22
"""Samples × sentences that are in memory at a time."""
TIE = 1e-13
"""Differences of F1 (as a share of 1) below this are rounding errors."""


@dataclass(frozen=True)
class PairedTest:
    """Two systems on the same sentences. Arrays are over measures; scores are F1 in percent."""

    first: int
    second: int
    difference: Floats
    """[measures] the second system's score less the first's."""
    equal: NDArray[np.bool_]
    """[measures] whether there is no difference at all: then no system is the better one, and p says nothing."""
    interval: Floats
    """[measures, 2] the middle 95 % of the differences over the bootstrap samples."""
    bootstrap_p: Floats
    """[measures] the share of bootstrap samples in which the system that is better on the whole file is not better.

    One-sided; a sample in which both are equal counts as one in which the better is not better. 1 where the systems
    are equal on the whole file.
    """
    randomization_p: Floats
    """[measures] (k + 1) / (samples + 1), k the samples in which the difference of the swapped outputs is at least as
    large, in either direction, as that of the real ones.

    Two-sided; ties count towards k. 1 where the systems are equal on the whole file.
    """


@dataclass(frozen=True)
class Comparison:
    """Several systems on the same sentences."""

    scores: Floats
    """[systems, measures] F1 in percent."""
    intervals: Floats
    """[systems, measures, 2] the middle 95 % of the scores over the bootstrap samples."""
    pairs: list[PairedTest]
    """Every two systems."""


def compare(counts: Numbers, samples: int = SAMPLES, seed: int = 0) -> Comparison:
    """Compares systems by the counts of their sentences [systems, sentences, measures, 4] (see `measures.count`)."""
    needed = counts[..., [CORRECT, GOLD, SYSTEM]]
    systems, sentences, measures, kinds = needed.shape
    table = np.moveaxis(needed, 1, 0).reshape(sentences, -1)
    sums = resample(table, samples, np.random.default_rng([seed, 0]), bootstrap_weights)
    drawn = f1(sums.reshape(samples, systems, measures, kinds))
    scores = f1(needed.sum(axis=1))
    pairs = []
    for first, second in combinations(range(systems), 2):
        observed = scores[second] - scores[first]
        differences = drawn[:, second] - drawn[:, first]
        generator = np.random.default_rng([seed, 1, first, second])
        swapped = _swapped_differences(needed[first], needed[second], samples, generator)
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
    return Comparison(100 * scores, 100 * _middle(drawn), pairs)


def f1(counts: NDArray[np.integer] | Floats) -> Floats:
    """[…] F1 as a share of 1, from counts […, 3] of right things, the gold's and the system's; 0 if there are none."""
    whole = counts[..., 1] + counts[..., 2]
    return np.asarray(2 * counts[..., 0] / np.where(whole > 0, whole, 1), dtype=np.float64)


Weights = Callable[[np.random.Generator, int, int], Floats]
"""Given a generator, samples and sentences, how often each sentence is in each sample [samples, sentences]."""


def bootstrap_weights(generator: np.random.Generator, samples: int, sentences: int) -> Floats:
    """[samples, sentences] how often each sentence was drawn when as many were drawn as there are, with replacement."""
    drawn = generator.integers(0, sentences, size=(samples, sentences))
    drawn += np.arange(samples)[:, None] * sentences
    counts = np.bincount(drawn.ravel(), minlength=samples * sentences)
    return counts.reshape(samples, sentences).astype(np.float64)


def coin_weights(generator: np.random.Generator, samples: int, sentences: int) -> Floats:
    """[samples, sentences] 0 or 1, each with a chance of one half."""
    coins = np.frombuffer(generator.bytes(samples * (-(-sentences // 8))), dtype=np.uint8)
    return np.unpackbits(coins.reshape(samples, -1), axis=1, count=sentences).astype(np.float64)


def resample(table: Numbers, samples: int, generator: np.random.Generator, weights: Weights) -> Floats:
    """[samples, columns] the sums of a table [sentences, columns] over each sample, with bounded memory."""
    values = table.astype(np.float64)  # whole numbers below 2⁵³: sums are exact
    return np.concatenate(
        [weights(generator, size, len(values)) @ values for size in _chunk_sizes(samples, len(values))]
    )


def _chunk_sizes(samples: int, sentences: int) -> Iterator[int]:
    most = max(1, CELLS // sentences)
    for start in range(0, samples, most):
        yield min(most, samples - start)


def _swapped_differences(first: Numbers, second: Numbers, samples: int, generator: np.random.Generator) -> Floats:
    """[samples, measures] the differences of F1 when the two systems' sentences are swapped at random."""
    sentences, measures, kinds = first.shape
    moved = resample((second - first).reshape(sentences, -1), samples, generator, coin_weights)
    moved = moved.reshape(samples, measures, kinds)
    return f1(second.sum(axis=0) - moved) - f1(first.sum(axis=0) + moved)


def _share_not_better(observed: Floats, differences: Floats) -> Floats:
    """[measures] how often the differences [samples, measures] have not the sign of the observed one."""
    better = differences * np.sign(observed) > TIE
    return np.where(np.abs(observed) > TIE, (~better).mean(axis=0), 1.0)


def _middle(values: Floats) -> Floats:
    """[…, 2] the bounds of the middle 95 % of values [samples, …]."""
    return np.moveaxis(np.quantile(values, [0.025, 0.975], axis=0), 0, -1)
