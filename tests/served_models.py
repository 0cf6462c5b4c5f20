"""Small models for the tests of the server, and a server that runs as users run it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from typer.testing import CliRunner

from longarc.cli.main import COMMANDS, make_app
from tests.toy_treebank import write_toy_treebank

SMALL = ["lstm_size=32", "lstm_layers=1", "merge_dimensions=32", "pair_dimensions=24", "word_dimensions=16"]
LEARN = ["min_count=1", "learning_rate=0.01", "batch_sentences=8"]


def train_toy(home: Path, name: str = "toy", *, epochs: int = 6, system: str = "nl-covington") -> Path:
    """A model file of the toy language."""
    treebank = write_toy_treebank(home / f"{name}.conllu", 160)
    settings = [f"--set={setting}" for setting in [*SMALL, *LEARN]]
    options = ["--epochs", str(epochs), "--threads=1", "--licence", "CC0", "--treebank", "toy", "--system", system]
    result = CliRunner().invoke(
        make_app(list(COMMANDS)),
        ["train", str(treebank), "--preset=paper", "--out", str(home / name), *settings, *options],
    )
    assert result.exit_code == 0, result.output
    return home / name / f"{name}.longarc"


@contextmanager
def serving(*arguments: str | Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`longarc serve` in a process of its own; gives its address."""
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()", "serve", "--port", "0", "--no-browser"]
    environment = {key: value for key, value in os.environ.items() if key != "LONGARC_TOKEN"}
    with subprocess.Popen(
        [*command, *map(str, arguments)], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stderr is not None
            told = ""
            for line in process.stderr:
                told += line
                if " is at http" in line:
                    break
            else:
                raise AssertionError(told)
            yield line.split(" is at ")[1].split()[0], process
        finally:
            if process.poll() is None:
                process.kill()
