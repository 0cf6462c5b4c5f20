"""Longarc and other parsers, and how to measure them: each in its own process, on the same file.

Each contender reads a CoNLL-U file with gold words, tags and parses it, and writes the result; or it reads a text and
tokenizes it first. spaCy reads and writes only words, tags and arcs. UDPipe also writes lemmas and features, and parses
parts of a CoNLL-U file in several processes. SuPar predicts arcs only, and does not read text.
Memory is the sum of the peaks of all processes; shared pages count in each of them.
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
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a process that measures another parser must not load Longarc
    from longarc import Sentence

CHECKOUT = Path(__file__).resolve().parents[1]
LONGARC = str(Path(sys.executable).with_name("longarc"))
LIMIT_BATCH_TOKENS = 4_000
SUPAR_BATCH = 5_000
"""Words, as in its configuration."""


@dataclass(frozen=True)
class Contender:
    """A parser to measure: `load` is a key of LOADERS, `package` the Python package whose version is reported."""

    name: str
    package: str
    load: str
    model: Path
    processes: int = 1


@dataclass(frozen=True)
class Task:
    """The input, the output and the threads; the same for all contenders."""

    source: Path
    """CoNLL-U with gold words, or raw text if its name ends in .txt"""
    output: Path
    words: int
    threads: int

    @property
    def is_text(self) -> bool:
        return self.source.suffix == ".txt"


Run = dict[str, float]
"""`words`, `peak_mb`, and seconds: `startup` until the model is loaded, `job` from then on, `wall` in total."""

Job = Callable[[], int | None]
"""Reads, parses and writes with a loaded model; returns the number of tokens if there is no output file to count."""


def build_once(build: Callable[..., None], target: Path, *arguments: Any) -> Path:
    """Call `build` in another process unless `target` exists; return `target`."""
    if not target.exists():
        print(f"{build.__name__}: {target}", file=sys.stderr)
        part = target.with_name(f"{target.name}.part")
        process = multiprocessing.get_context("spawn").Process(target=build, args=(part, *arguments))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(f"{build.__name__} failed")
        part.replace(target)
    return target


def find_treebank(name_or_folder: str) -> Path:
    """Return the folder of a treebank; it may be the name of one in the data folder."""
    from longarc.data.treebank_sources import data_folder

    folder = Path(name_or_folder)
    return (folder if folder.is_dir() else data_folder() / folder).resolve()


def read_part(treebank: Path, part: str, encoding: str = "utf-8") -> list[Sentence]:
    """Return the sentences of a folder's train, dev or test file, converted to CoNLL-U."""
    from longarc import read_all
    from longarc.data.conllx import to_conllu

    paths = sorted(treebank.glob(f"{part}.conll*"))
    if not paths:
        raise SystemExit(f"{treebank}: no {part}.conll* in this folder")
    return [to_conllu(sentence) for sentence in read_all(paths[0], encoding=encoding)]


def write_sentences(path: Path, sentences: list[Sentence]) -> Path:
    """Write sentences to a file; return its path."""
    path.write_text("".join(sentence.to_conll() for sentence in sentences), encoding="utf-8")
    return path


def read_words(path: Path) -> Iterator[list[list[str]]]:
    """Yield the rows of the words of each sentence."""
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
    """Return a job that runs the command `longarc parse` with a model that is already loaded."""
    from longarc.cli.main import make_app
    from longarc.runtime import parser

    loaded = parser.load(model, threads=task.threads)
    setattr(parser, "load", lambda *_, **__: loaded)  # noqa: B010 (it is overloaded)
    options = ["--output", str(task.output), "--model", model, "--threads", str(task.threads)]
    return lambda: make_app(["parse"])(["parse", str(task.source), *options], standalone_mode=False)


def load_limit(model: str, task: Task, processes: int) -> Job:
    """Return a job that runs the bare graph on about as many tokens as the file has.

    One batch is run beforehand, because the first one allocates memory.
    """
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
    """Return a job that parses the words of the file with spaCy."""
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.load(model)

    def sentences() -> Iterator[list[Any]]:
        if task.is_text:
            for doc in nlp.pipe(task.source.read_text("utf-8").split("\n\n"), n_process=processes):
                yield from ([token for token in sentence if not token.is_space] for sentence in doc.sents)
        else:
            docs = (Doc(nlp.vocab, words=[row[1] for row in rows]) for rows in read_words(task.source))
            yield from map(list, nlp.pipe(docs, n_process=processes))

    def job() -> None:
        with task.output.open("w", encoding="utf-8") as out:
            for tokens in filter(None, sentences()):
                numbers = {token.i: number for number, token in enumerate(tokens, 1)}
                for token in tokens:
                    head = 0 if token.head.i == token.i else numbers.get(token.head.i, 0)
                    relation = token.dep_ if head else "root"  # spaCy calls it ROOT
                    cells = [numbers[token.i], token.text, "_", token.tag_, "_", "_", head, relation, "_", "_"]
                    out.write("\t".join(map(str, cells)) + "\n")
                out.write("\n")

    return job


def load_udpipe(model: str, task: Task, processes: int, parse: bool = True) -> Job:
    """Return a job that tags and parses the file with UDPipe, or only tags it, one part in each process."""
    from ufal import udpipe

    parser = udpipe.Pipeline.DEFAULT if parse else udpipe.Pipeline.NONE

    loaded = udpipe.Model.load(model)
    parts = [task.output.with_suffix(f".{number}") for number in range(processes)]

    def parse_part(sentences: list[str], part: Path) -> None:
        pipeline = udpipe.Pipeline(loaded, "conllu", udpipe.Pipeline.DEFAULT, parser, "conllu")
        part.write_text(pipeline.process("\n\n".join([*sentences, ""])), encoding="utf-8")

    def job() -> None:
        if task.is_text:
            pipeline = udpipe.Pipeline(loaded, "tokenize", udpipe.Pipeline.DEFAULT, parser, "conllu")
            task.output.write_text(pipeline.process(task.source.read_text("utf-8")), encoding="utf-8")
            return
        sentences = task.source.read_text("utf-8").rstrip("\n").split("\n\n")
        fork = multiprocessing.get_context("fork")  # the processes share the loaded model
        size = -(-len(sentences) // processes)
        shares = [sentences[number * size : (number + 1) * size] for number in range(processes)]
        workers = [fork.Process(target=parse_part, args=pair) for pair in zip(shares, parts, strict=True)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if any(worker.exitcode for worker in workers):
            raise SystemExit("a UDPipe process failed")
        task.output.write_bytes(b"".join(part.read_bytes() for part in parts))

    return job


def load_supar(model: str, task: Task, processes: int) -> Job:
    """Return a job that parses the words of the file with SuPar; its output has the tags of the input."""
    import torch
    from supar import Parser

    torch.set_num_threads(task.threads)
    parser = Parser.load(model)
    options = {"tree": True, "verbose": False, "buckets": 8, "batch_size": SUPAR_BATCH}
    return lambda: parser.predict(str(task.source), str(task.output), **options) and None


LOADERS: dict[str, Callable[[str, Task, int], Job]] = {
    "longarc": load_longarc,
    "limit": load_limit,
    "spacy": load_spacy,
    "udpipe": load_udpipe,
    "udpipe-tagger": partial(load_udpipe, parse=False),
    "supar": load_supar,
}


def run_worker(load: str, start: str, model: str, processes: str, *arguments: str) -> None:
    """Run one contender in this process and print the measurements as JSON."""
    source, output, words, threads = arguments
    job = LOADERS[load](model, Task(Path(source), Path(output), int(words), int(threads)), int(processes))
    loaded = time.monotonic()
    tokens = job()
    done = time.monotonic()
    for child in multiprocessing.active_children():
        child.join()
    peak = own_peak_mb() + int(processes) * peak_mb(resource.RUSAGE_CHILDREN)
    result = {"startup": loaded - float(start), "job": done - loaded, "peak_mb": peak}
    print(json.dumps({**result, "words": tokens}))


def own_peak_mb() -> float:
    """Return the peak memory of this process. On Linux, `ru_maxrss` may be that of the process which started it."""
    status = Path("/proc/self/status")
    lines = status.read_text("ascii").splitlines() if status.exists() else []
    peaks = [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")]
    return peaks[0] if peaks else peak_mb(resource.RUSAGE_SELF)


def peak_mb(who: int) -> float:
    """Return the peak memory of this process or of the largest of its children; see `resource.getrusage`."""
    return resource.getrusage(who).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def measure(contender: Contender, task: Task) -> Run:
    """Run one contender in a process of its own and return the measurements."""
    start = time.monotonic()  # all processes share this clock
    options = (contender.load, start, contender.model, contender.processes, *asdict(task).values())
    command = [sys.executable, __file__, *map(str, options)]
    # SuPar's models are pickles, which newer versions of torch load only on request.
    environment = {**os.environ, "OMP_NUM_THREADS": str(task.threads), "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}
    process = subprocess.run(command, capture_output=True, text=True, env=environment)
    wall = time.monotonic() - start
    if process.returncode:
        raise SystemExit(f"{process.stderr}{contender.name}: failed with status {process.returncode}")
    run: Run = {**json.loads(process.stdout.splitlines()[-1]), "wall": wall}
    if run["words"] is None:
        run["words"] = sum(map(len, read_words(task.output)))
        if run["words"] != task.words and not task.is_text:
            raise SystemExit(f"{contender.name}: wrote {run['words']:,} words, expected {task.words:,}")
    return run


def measure_in_turn(contenders: list[Contender], task: Task, rounds: int) -> dict[Contender, list[Run]]:
    """Measure every contender once per round; every second round runs in reverse order.

    The speed of a shared machine changes with time: alternating gives all contenders the same conditions.
    """
    runs: dict[Contender, list[Run]] = {contender: [] for contender in contenders}
    for number in range(1, rounds + 1):
        for contender in contenders if number % 2 else reversed(contenders):
            run = measure(contender, task)
            runs[contender].append(run)
            print(f"round {number}: {contender.name}: {run['job']:.2f} s", file=sys.stderr)
    return runs


def summary(contender: Contender, runs: list[Run]) -> dict[str, Any]:
    """Return medians, the range of speeds and the speed of each round, in tokens per second."""
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
    run_worker(*sys.argv[1:])
