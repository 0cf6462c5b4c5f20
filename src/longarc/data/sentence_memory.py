"""Reject sentences that would need too much memory, before it is allocated."""

from __future__ import annotations

from longarc.data.conll import Check, RowError
from longarc.data.sentence import Sentence

MEGABYTE = 1 << 20
MEMORY_HINT = "Split the sentence, or allow more memory."


def require_memory(megabytes: int, bytes_per_pair: int) -> Check:
    """Return a check that rejects a sentence if a value of this size for each pair of its words needs more memory."""

    def check(sentence: Sentence) -> None:
        needed = -(-(len(sentence) ** 2 * bytes_per_pair) // MEGABYTE)
        if needed > megabytes:
            message = (
                f"a sentence of {len(sentence):,} words needs {needed:,} MB of memory, the limit is {megabytes:,} MB"
            )
            raise RowError(0, message, MEMORY_HINT)

    return check
