"""Count how far the parsing of files has come."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from longarc.data.files import ByteCounter
from longarc.data.sentence import Sentence


class ParseProgress:
    """Counts bytes and sentences that were read, and sentences that were parsed, which are fewer."""

    def __init__(self) -> None:
        self.bytes_read = ByteCounter()
        self.sentences_read = 0
        self.sentences_parsed = 0
        self._lock = threading.Lock()

    def count_read(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield the same sentences and count them."""
        for sentence in sentences:
            self.sentences_read += 1
            yield sentence

    def add_parsed(self, sentences: int) -> None:
        """Count the sentences of a batch; several threads may call this at once."""
        with self._lock:
            self.sentences_parsed += sentences

    def share(self, total_bytes: int) -> float:
        """Return which share of the files is parsed: of what was read, the share of parsed sentences."""
        if not self.sentences_read or not total_bytes:
            return 0.0
        return self.sentences_parsed / self.sentences_read * min(1.0, self.bytes_read.count / total_bytes)
