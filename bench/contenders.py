"""Other parsers beside Longarc, and how one is measured: in a process of its own, on a file that all are given.

Each contender reads a CoNLL-U file of gold words, tags and parses it and writes the result. spaCy reads and writes no
more than words, tags and arcs. UDPipe writes lemmas and features too, and has a process for each part of the file.
Memory is the sum of the processes' peaks; pages that they share count in each.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a process that measures another parser does not load Longarc
    from longarc import Sentence

CHECKOUT = Path(__file__).resolve().parents[1]
LONGARC = str(Path(sys.executable).with_name("longarc"))
LIMIT_BATCH_TOKENS = 4_000


@dataclass(frozen=True)
class Contender:
    """Who takes part: `load` is a key of LOADERS, `package` what its version is asked of."""

    name: str
    package: str
    load: str
    model: Path
    processes: int = 1


@dataclass(frozen=True)
class Task:
    """What all contenders are given."""

    source: Path
    output: Path
    words: int
    threads: int


Run = dict[str, float]
"""`words`, `peak_mb`, and seconds: `startup` until the model is loaded, `job` for the rest, `wall` for all."""

Job = Callable[[], int | None]
"""What is left to do once a model is loaded; gives the number of tokens where no output tells it."""


def made(make: Callable[..., None], target: Path, *arguments: Path) -> Path:
    """What `make` makes, unless it is there already; in another process, to leave no trace in this one's memory."""
    if not target.exists():
        print(f"{make.__name__}: {target}", file=sys.stderr)
        part = target.with_name(f"{target.name}.part")
        process = multiprocessing.get_context("spawn").Process(target=make, args=(part, *arguments))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(f"{make.__name__} failed")
        part.replace(target)
    return target


def read_part(treebank: Path, part: str, encoding: str = "utf-8") -> list[Sentence]:
    """The sentences of a folder's train, dev or test file, as CoNLL-U."""
    from longarc import read_all
    from longarc.data.conllx import to_conllu

    paths = sorted(treebank.glob(f"{part}.conll*"))
    if not paths:
        raise SystemExit(f"{treebank}: no {part}.conll* in this folder")
    return [to_conllu(sentence) for sentence in read_all(paths[0], encoding=encoding)]


def write_sentences(path: Path, sentences: list[Sentence]) -> Path:
    path.write_text("".join(sentence.to_conll() for sentence in sentences), encoding="utf-8")
    return path


def read_words(path: Path) -> Iterator[list[list[str]]]:
    """The columns of each sentence's words."""
    rows: list[list[str]] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            columns = line.rstrip("\n").split("\t")
            if columns[0].isdigit():
                rows.append(columns)
            elif columns == [""] and rows:
                yield rows
                rows = []


def load_longarc(model: str, task: Task, processes: int) -> Job:
    """The whole command `longarc parse`, except that it finds its model loaded."""
    from longarc.cli.main import make_app
    from longarc.runtime import parser

    loaded = parser.load(model, threads=task.threads)
    parser.load = lambda *_, **__: loaded
    options = ["--output", str(task.output), "--model", model, "--threads", str(task.threads)]
    return lambda: make_app(["parse"])(["parse", str(task.source), *options], standalone_mode=False)


def load_limit(model: str, task: Task, processes: int) -> Job:
    """About as many tokens as the file has; a first batch, for which memory is allocated, does not count."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = task.threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    length = round(statistics.mean(map(len, read_words(task.source))))
    sentences = max(1, LIMIT_BATCH_TOKENS // length)
    batches = -(-task.words // (length * sentences))
    feed = {x.name: np.ones((length, sentences, x.shape[-1]), dtype=np.float32) for x in session.get_inputs()}
    session.run(None, feed)

    def job() -> int:
        for _ in range(batches):
            session.run(None, feed)
        return batches * length * sentences

    return job


def load_spacy(model: str, task: Task, processes: int) -> Job:
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.load(model)

    def job() -> None:
        docs = (Doc(nlp.vocab, words=[row[1] for row in rows]) for rows in read_words(task.source))
        with task.output.open("w", encoding="utf-8") as out:
            for doc in nlp.pipe(docs, n_process=processes):
                for number, token in enumerate(doc, 1):
                    head = 0 if token.head.i == token.i else token.head.i + 1
                    relation = token.dep_ if head else "root"  # which spaCy calls ROOT
                    out.write(f"{number}\t{token.text}\t_\t{token.tag_}\t_\t_\t{head}\t{relation}\t_\t_\n")
                out.write("\n")

    return job


def load_udpipe(model: str, task: Task, processes: int) -> Job:
    from ufal import udpipe

    loaded = udpipe.Model.load(model)
    parts = [task.output.with_suffix(f".{number}") for number in range(processes)]

    def parse_part(sentences: list[str], part: Path) -> None:
        pipeline = udpipe.Pipeline(loaded, "conllu", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu")
        part.write_text(pipeline.process("\n\n".join([*sentences, ""])), encoding="utf-8")

    def job() -> None:
        sentences = task.source.read_text("utf-8").rstrip("\n").split("\n\n")
        fork = multiprocessing.get_context("fork")  # so that the model need not be loaded again
        size = -(-len(sentences) // processes)
        shares = [sentences[number * size : (number + 1) * size] for number in range(processes)]
        started = [fork.Process(target=parse_part, args=both) for both in zip(shares, parts, strict=True)]
        for process in started:
            process.start()
        for process in started:
            process.join()
        if any(process.exitcode for process in started):
            raise SystemExit("a process of UDPipe failed")
        task.output.write_bytes(b"".join(part.read_bytes() for part in parts))

    return job


LOADERS = {"longarc": load_longarc, "limit": load_limit, "spacy": load_spacy, "udpipe": load_udpipe}


def work(load: str, start: str, model: str, processes: str, *task: str) -> None:
    """What a worker process does: prints the measurements of one run."""
    given = Task(Path(task[0]), Path(task[1]), int(task[2]), int(task[3]))
    job = LOADERS[load](model, given, int(processes))
    loaded = time.monotonic()
    tokens = job()
    done = time.monotonic()
    for child in multiprocessing.active_children():
        child.join()
    peak, child_peak = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    kilobytes = (peak + int(processes) * child_peak) / (1024 if sys.platform == "darwin" else 1)
    result = {"startup": loaded - float(start), "job": done - loaded, "peak_mb": kilobytes / 1024}
    print(json.dumps({**result, "words": tokens}))


def measure(contender: Contender, task: Task) -> Run:
    start = time.monotonic()  # a clock that all processes share
    options = (contender.load, start, contender.model, contender.processes, *asdict(task).values())
    command = [sys.executable, __file__, *map(str, options)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(task.threads)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    wall = time.monotonic() - start
    if done.returncode:
        raise SystemExit(f"{done.stderr}{contender.name}: failed with status {done.returncode}")
    run: Run = {**json.loads(done.stdout.splitlines()[-1]), "wall": wall}
    if run["words"] is None:
        run["words"] = sum(map(len, read_words(task.output)))
        if run["words"] != task.words:
            raise SystemExit(f"{contender.name}: wrote {run['words']:,} words, not {task.words:,}")
    return run


def measure_in_turn(contenders: list[Contender], task: Task, rounds: int) -> dict[Contender, list[Run]]:
    """Measures everyone once in each round, so that a busy machine slows all; every other round in reverse."""
    runs: dict[Contender, list[Run]] = {contender: [] for contender in contenders}
    for number in range(1, rounds + 1):
        for contender in contenders if number % 2 else reversed(contenders):
            run = measure(contender, task)
            runs[contender].append(run)
            print(f"round {number}: {contender.name}: {run['job']:.2f} s", file=sys.stderr)
    return runs


def summary(contender: Contender, runs: list[Run]) -> dict[str, Any]:
    """Medians, the range of the speed and that of each round, in tokens per second."""
    speeds = [run["words"] / run["job"] for run in runs]
    return {
        "contender": contender.name,
        "kind": contender.load,
        "version": version(contender.package),
        "speed": statistics.median(speeds),
        "speeds": [round(speed) for speed in speeds],
        "slowest": min(speeds),
        "fastest": max(speeds),
        "with_startup": statistics.median(run["words"] / run["wall"] for run in runs),
        **{name: statistics.median(run[name] for run in runs) for name in ("startup", "peak_mb")},
    }


if __name__ == "__main__":
    work(*sys.argv[1:])
