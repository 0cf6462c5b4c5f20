"""Compare the speed of splitting raw text into sentences and words with that of splitting and parsing it.

The text is that of a treebank. Splitting uses one thread; parsing uses all. `pipe` parses it as many short documents,
with and without probabilities.

    python bench/text_speed.py TEST.conllu [--model MODEL.longarc]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import longarc
from longarc.cores import available_cores
from longarc.data.raw_text import text_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", type=Path, help="a CoNLL-U file with SpaceAfter=No")
    parser.add_argument("--model", help="name or file of a model (default: the English model)")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds, alternating (default: 5)")
    arguments = parser.parse_args()
    treebank = longarc.read_all(arguments.treebank)
    documents = [text_of(treebank[start : start + 5]) for start in range(0, len(treebank), 5)]
    text = "\n\n".join(documents)
    single, multiple = (longarc.load(arguments.model, threads=threads) for threads in (1, available_cores()))
    words = sum(map(len, single.split(text)))
    contenders: dict[str, Callable[[], object]] = {
        "splitting": lambda: single.split(text),
        "stream, 1 thread": lambda: list(single.stream(single.split(text))),
        "pipe, 1 thread": lambda: list(single.pipe(documents, probabilities=False)),
        "pipe with probabilities, 1 thread": lambda: list(single.pipe(documents)),
        f"stream, {multiple.threads} threads": lambda: list(multiple.stream(multiple.split(text))),
        f"pipe, {multiple.threads} threads": lambda: list(multiple.pipe(documents, probabilities=False)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(arguments.rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    print(f"{arguments.treebank.name}: {len(text):,} characters, {words:,} words; medians of {arguments.rounds} rounds")
    for name, times in seconds.items():
        print(f"{name:36} {words / statistics.median(times):8,.0f} words/s")


if __name__ == "__main__":
    main()
