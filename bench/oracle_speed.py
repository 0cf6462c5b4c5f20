"""Measure the speed of the static oracles of all transition systems: python bench/oracle_speed.py TREEBANK"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from longarc import read_all
from longarc.transitions import SYSTEMS
from longarc.transitions.static_oracle import run_oracle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank", type=Path, help="CoNLL-U or CoNLL-X, also .gz or .xz")
    parser.add_argument("--encoding", default="utf-8", help="encoding of the treebank (default: utf-8)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each system; the fastest counts (default: 3)")
    options = parser.parse_args()
    trees = [sentence.node_heads for sentence in read_all(options.treebank, encoding=options.encoding)]
    words = sum(len(heads) - 1 for heads in trees)
    print(f"{options.treebank}: {len(trees):,} sentences, {words:,} words\n")
    print("| system | transitions | seconds | words/s | transitions/s |")
    print("|---|---:|---:|---:|---:|")
    for name, system in SYSTEMS.items():
        seconds = []
        for _ in range(options.repeat):
            start = time.perf_counter()
            transitions = sum(int(run.transitions.sum()) for run in run_oracle(system, trees))
            seconds.append(time.perf_counter() - start)
        best = min(seconds)
        speeds = f"{words / best:,.0f} | {transitions / best:,.0f}"
        print(f"| {name} | {transitions:,} | {best:.2f} | {speeds} |", flush=True)


if __name__ == "__main__":
    main()
