"""Train a model of the toy language; run `longarc serve` in a process of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.command import LONGARC, invoke
from tests.helpers.toy_treebank import write_toy_treebank

SMALL = ["lstm_size=32", "lstm_layers=1", "merge_dimensions=32", "pair_dimensions=24", "word_dimensions=16"]
LEARN = ["min_count=1", "learning_rate=0.01", "batch_sentences=8"]


def train_toy(home: Path, name: str = "toy", *options: str, epochs: int = 6) -> Path:
    """Train a model of the toy language and return its file."""
    treebank = write_toy_treebank(home / f"{name}.conllu", 160)
    settings = [f"--set={setting}" for setting in [*SMALL, *LEARN]]
    card = ["--licence", "CC0", "--treebank", "toy"]
    training = ["--preset=paper", f"--epochs={epochs}", "--threads=1", *settings]
    result = invoke(["train", str(treebank), "--out", str(home / name), *training, *card, *options])
    assert result.exit_code == 0, result.output
    return home / name / f"{name}.longarc"


@contextmanager
def serving(*arguments: str | Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `longarc serve` in a process of its own and yield its address and the process."""
    command = [*LONGARC, "serve", "--port", "0", "--no-browser"]
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
