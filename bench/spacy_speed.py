"""Compare the speed of the spaCy component (`nlp.pipe`) with that of the parser alone (`Parser.stream`).

Both parse the words of a CoNLL-U file: the component as spaCy documents of ten sentences with sentence starts, the
parser as sentences. They alternate, in reverse order every second round, so that a busy machine slows both. Copying the
input is not timed. Processor time is also reported, because it depends less on other processes.

    python bench/spacy_speed.py TEST.conllu MODEL.longarc
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

import longarc
import longarc.spacy_component

SENTENCES_PER_DOCUMENT = 10


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("treebank", type=Path, help="CoNLL-U or CoNLL-X")
    options.add_argument("model", help="a .longarc file")
    options.add_argument("--threads", type=int, default=1, help="number of threads (default: 1)")
    options.add_argument("--rounds", type=int, default=5, help="number of rounds (default: 5)")
    arguments = options.parse_args()
    forms = [sentence.forms for sentence in longarc.read(arguments.treebank)]
    words = sum(map(len, forms))
    nlp = spacy.blank("xx")
    nlp.add_pipe("longarc", config={"model": arguments.model, "threads": arguments.threads})
    parser = longarc.load(arguments.model, threads=arguments.threads)
    nlp("warm up")
    parser.parse(["warm", "up"])

    def through_spacy() -> Callable[[], int]:
        docs = make_documents(nlp, forms)
        return lambda: sum(len(doc) for doc in nlp.pipe(docs))

    def bare() -> Callable[[], int]:
        sentences = [longarc.Sentence.from_forms(words) for words in forms]
        return lambda: sum(len(sentence) for sentence in parser.stream(sentences))

    contenders = {"nlp.pipe": through_spacy, "parser.stream": bare}
    wall: dict[str, list[float]] = {name: [] for name in contenders}
    processor: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(arguments.rounds):
        for name in sorted(contenders, reverse=bool(number % 2)):
            job = contenders[name]()
            start, start_processor = time.perf_counter(), time.process_time()
            assert job() == words
            wall[name].append(time.perf_counter() - start)
            processor[name].append(time.process_time() - start_processor)
    for name in contenders:
        times = [f"{seconds:.2f}" for seconds in wall[name]]
        print(f"{name:14} {words / statistics.median(wall[name]):9,.0f} words/s  seconds: {' '.join(times)}")
    for clock, seconds in (("time", wall), ("processor time", processor)):
        ratios = [a / b for a, b in zip(seconds["nlp.pipe"], seconds["parser.stream"], strict=True)]
        print(f"{clock} of nlp.pipe / parser.stream: median {statistics.median(ratios):.3f} of {len(ratios)} rounds")


def make_documents(nlp: Any, forms: list[list[str]]) -> list[Doc]:
    """Return spaCy documents of SENTENCES_PER_DOCUMENT sentences each."""
    docs = []
    for first in range(0, len(forms), SENTENCES_PER_DOCUMENT):
        part = forms[first : first + SENTENCES_PER_DOCUMENT]
        words = [word for sentence in part for word in sentence]
        starts = [number == 0 for sentence in part for number in range(len(sentence))]
        docs.append(Doc(nlp.vocab, words=words, sent_starts=starts))
    return docs


if __name__ == "__main__":
    main()
