"""Measure where the time of parsing a file goes: reading, spelling, network, search, relations, columns, writing.

One thread; the time of a stage does not include that of stages that it calls. Prints medians over several rounds.

    python bench/profile_parse.py test.conllu --model da_ddt
    python bench/profile_parse.py text.txt --model da_ddt
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import longarc
from longarc.runtime.parser import Parser
from longarc.runtime.pipeline import InputReader, SentenceWriter, parse_files
from longarc.runtime.session import Session

REST = "the rest"


class Stopwatch:
    """Adds up the time of each stage, without that of the stages that it calls."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._stages: list[str] = []
        self._since = 0.0

    def run(self, stage: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a function as part of a stage."""
        self._switch(lambda: self._stages.append(stage))
        try:
            return function(*arguments, **options)
        finally:
            self._switch(self._stages.pop)

    def _switch(self, change: Callable[[], object]) -> None:
        now = time.perf_counter()
        if self._stages:
            self.seconds[self._stages[-1]] += now - self._since
        change()
        self._since = now

    def wrap(self, owner: Any, name: str, stage: str) -> None:
        """Make a function or method part of a stage."""
        function = getattr(owner, name)
        setattr(
            owner, name, wraps(function)(lambda *arguments, **options: self.run(stage, function, *arguments, **options))
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("file", type=Path, help="a treebank or a text")
    parser.add_argument("--model", default="en_ewt", help="name or file of a model (default: en_ewt)")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (default: 5)")
    arguments = parser.parse_args()
    watch = Stopwatch()
    watch.wrap(InputReader, "__next__", "reading, splitting text")
    watch.wrap(Session, "_run_group", "network")
    watch.wrap(Parser, "_search", "search")
    watch.wrap(Session, "relations", "relations")
    watch.wrap(Parser, "_set_tree", "columns")
    watch.wrap(Parser, "_set_columns", "columns")
    watch.wrap(SentenceWriter, "write", "writing")
    nlp = longarc.load(arguments.model, threads=1)
    assert isinstance(nlp, Parser) and isinstance(nlp.session, Session)
    watch.wrap(nlp.session, "inputs", "features, spelling")
    rounds = [profile(nlp, arguments.file, watch) for _ in range(arguments.rounds + 1)][1:]  # the first one warms up
    total = statistics.median(sum(seconds.values()) for seconds in rounds)
    print(f"{total:.2f} s, median of {arguments.rounds} rounds")
    shares = {
        stage: statistics.median(seconds[stage] / sum(seconds.values()) for seconds in rounds) for stage in rounds[0]
    }
    for stage, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        print(f"{stage:25} {share:6.1%}")


def profile(nlp: Parser, file: Path, watch: Stopwatch) -> dict[str, float]:
    """Parse a file once; return the seconds of each stage."""
    watch.seconds.clear()
    watch.run(REST, parse_files, nlp, [file], "/dev/null")
    return dict(watch.seconds)


if __name__ == "__main__":
    main()
