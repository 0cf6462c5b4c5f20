"""Compare ways to train on one machine: one process with several threads, or several processes of one thread each.

Runs `longarc train` for each combination of processes × threads and batch size, in turn, and reads its log: words/s
of the median epoch, without the evaluation, and the LAS on the development data after the last epoch.

    python bench/train_workers.py TRAIN.conllu --dev DEV.conllu                  # accuracy after 3 epochs
    python bench/train_workers.py TRAIN.conllu --sentences 1000 --rounds 3       # speed only, on a sample
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from longarc import read_all
from longarc.data.conll import write


def main() -> None:
    arguments = parse_arguments()
    variants = [(shape, words) for words in arguments.batch_words for shape in arguments.shapes]
    speeds: dict[tuple[str, int], list[int]] = {variant: [] for variant in variants}
    scores: dict[tuple[str, int], float | None] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        treebank = arguments.treebank
        if arguments.sentences:
            treebank = folder / "sample.conllu"
            write(treebank, read_all(arguments.treebank)[: arguments.sentences])
        for _ in range(arguments.rounds):
            for variant in variants:
                log = train(treebank, folder / "out", arguments, *variant)
                speeds[variant].extend(entry["tokens_per_second"] for entry in log)
                scores[variant] = log[-1].get("dev_las")
    print("processes x threads  words per batch  words/s  dev LAS")
    for (shape, words), values in speeds.items():
        las = scores[shape, words]
        print(f"{shape:19}  {words:15}  {statistics.median(values):7,.0f}  {'-' if las is None else f'{las:.2f}':>7}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", type=Path, help="training file in CoNLL-U")
    parser.add_argument("--dev", type=Path, help="development file; without it only speed is measured")
    parser.add_argument("--sentences", type=int, help="train on this many sentences only")
    parser.add_argument("--preset", default="base", help="preset of the network (default: base)")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the data (default: 3)")
    parser.add_argument("--rounds", type=int, default=1, help="number of rounds, alternating (default: 1)")
    parser.add_argument("--shapes", nargs="+", default=["1x2", "2x1"], help="processes x threads (default: 1x2 2x1)")
    parser.add_argument(
        "--batch-words", nargs="+", type=int, default=[250], help="words per batch of all processes (default: 250)"
    )
    return parser.parse_args()


def train(treebank: Path, out: Path, arguments: argparse.Namespace, shape: str, words: int) -> list[dict[str, Any]]:
    """Train and return the entries of the log."""
    workers, threads = shape.split("x")
    command = [sys.executable, "-m", "longarc", "train", str(treebank), "--out", str(out), "--overwrite"]
    command += ["--preset", arguments.preset, "--epochs", str(arguments.epochs), "--device", "cpu"]
    command += ["--workers", workers, "--threads", threads]
    command += ["--set", f"batch_words={words}", "--set", "tokenizer_steps=0"]
    if arguments.dev:
        command += ["--dev", str(arguments.dev)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [json.loads(line) for line in (out / "log.jsonl").read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
