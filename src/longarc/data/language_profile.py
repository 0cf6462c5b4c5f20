"""Which language a text is in, from the frequencies of short sequences of characters in the training data of models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

BITS = 15
SIZE = 1 << BITS
"""Numbers in a profile: sequences are hashed, and one number stands for all with the same hash."""
SEQUENCES = (2, 3, 4)
"""Lengths of the sequences, in characters; a space before and after each word is one."""
LEARNED_CHARACTERS = 1_000_000
READ_CHARACTERS = 2_000
"""Characters of a text by which its language is identified."""
SMOOTHING = 0.1
"""Added to the count of every sequence."""
LOWEST, STEPS = -20.0, 12
"""Log-probabilities are stored in 8 bits, from LOWEST in steps of 1 / STEPS."""
INDEPENDENCE = 0.15
"""How much a sequence counts: overlapping ones are not independent. With this value, the probabilities of short texts
are about as high as the share of texts that are identified correctly."""
_NO_LETTERS = re.compile(r"[\W\d_]+")
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class LanguageProfile:
    """How frequent sequences of characters are in a language."""

    def __init__(self, levels: NDArray[np.uint8]) -> None:
        """levels: [SIZE] log-probabilities; see STEPS."""
        self.levels = levels

    @classmethod
    def learn(cls, texts: Iterable[str]) -> LanguageProfile:
        """Count the sequences of some texts."""
        counts = np.full(SIZE, SMOOTHING)
        read = 0
        for text in texts:
            counts += np.bincount(_numbers(text), minlength=SIZE)
            read += len(text)
            if read > LEARNED_CHARACTERS:
                break
        levels = np.round((np.log(counts / counts.sum()) - LOWEST) * STEPS)
        return cls(np.clip(levels, 0, 255).astype(np.uint8))

    def to_bytes(self) -> bytes:
        """Return what `from_bytes` reads."""
        return self.levels.tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> LanguageProfile:
        """Return a profile; raise ValueError if the bytes are not one."""
        if len(content) != SIZE:
            raise ValueError(f"a language profile has {SIZE} bytes, not {len(content)}")
        return cls(np.frombuffer(content, np.uint8))


def identify_language(text: str, profiles: Mapping[str, LanguageProfile]) -> dict[str, float]:
    """Return the probability of each language, the most probable first; a text without letters tells nothing."""
    if not profiles:
        return {}
    numbers = _numbers(text[:READ_CHARACTERS])
    scores = np.array([profile.levels[numbers].sum(dtype=np.int64) for profile in profiles.values()]) / STEPS
    weights = np.exp((scores - scores.max()) * INDEPENDENCE)
    pairs = zip(profiles, (weights / weights.sum()).tolist(), strict=True)
    return dict(sorted(pairs, key=lambda pair: -pair[1]))


def _numbers(text: str) -> NDArray[np.int64]:
    """Return the hash of each sequence in a text."""
    words = f" {_NO_LETTERS.sub(' ', text.lower()).strip()} "
    codes = np.frombuffer(words.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    found = [np.zeros(0, np.int64)]
    for length in SEQUENCES:
        count = len(codes) - length + 1
        if words.isspace() or count < 1:
            continue
        hashes = np.full(count, length, np.uint64)
        for position in range(length):
            hashes = (hashes ^ codes[position : position + count]) * _FACTOR
            hashes ^= hashes >> _SHIFT
        found.append((hashes >> np.uint64(64 - BITS)).astype(np.int64))
    return np.concatenate(found)
