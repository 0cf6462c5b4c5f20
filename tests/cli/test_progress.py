"""The bar of `longarc parse`."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
from pathlib import Path

import pytest

from longarc.cli.progress import ParsingBar, _total_bytes
from longarc.runtime.parse_progress import ParseProgress
from tests.helpers.clock import Clock
from tests.helpers.command import LONGARC


def test_the_remaining_time_counts_what_is_parsed_and_not_what_is_read() -> None:
    progress, clock = ParseProgress(), Clock()
    bar = ParsingBar(progress, 1_000, clock)
    assert bar.state()["left"] == "measuring"
    progress.bytes_read.count, progress.sentences_read = 500, 40
    progress.add_parsed(20)
    clock.now = 10
    assert bar.state() == {"total": 1.0, "completed": 0.25, "sentences": 20, "speed": 2.0, "left": "30 s"}


def test_an_input_without_a_size_has_no_remaining_time(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert _total_bytes([str(tmp_path / "a"), str(tmp_path / "a")]) == 10
    assert _total_bytes(["-"]) == _total_bytes([str(tmp_path)]) == 0
    state = ParsingBar(ParseProgress(), 0).state()
    assert (state["total"], state["completed"]) == (None, 0.0)


@pytest.mark.slow
def test_the_bar_shows_sentences_and_time_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("She left the house early.\n\n" * 20_000)
    master, terminal = pty.openpty()
    command = [*LONGARC, "parse", str(tmp_path / "in.txt"), "-o", str(tmp_path / "out.conllu"), "--threads=1"]
    output = b""
    with subprocess.Popen(command, stderr=terminal, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}) as process:
        os.close(terminal)
        timer = threading.Timer(60, process.kill)
        timer.start()
        while b" sentences, " not in output or b"left: " not in output:
            output += os.read(master, 4096)
        timer.cancel()
        process.kill()
    os.close(master)
