"""Graphs in onnxruntime give back the memory of exceptional batches."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from longarc.runtime.parser import Parser


def resident_megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of the process from /proc")
def test_long_sentences_leave_no_memory_behind(english: Parser) -> None:
    english.session.run([["word"] * 20] * 30, totals=False)
    before = resident_megabytes()
    for length in (300, 600, 900, 1200, 1500):
        english.session.run([["word"] * length], totals=False)
    assert resident_megabytes() < before + 150  # more than 400 if the graph keeps it
