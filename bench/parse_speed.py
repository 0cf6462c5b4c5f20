"""How fast a file is parsed: Longarc beside the limit of its network, spaCy and UDPipe 1, all on the same words.

Each contender reads the same CoNLL-U file of gold words, tags and parses it and writes the result, with the same number
of threads. In every round each is started anew, in turn, so that a busy machine slows all. The limit is the two bare
BiLSTM blocks of the paper's network in 32 bits, on sentences of one length, the treebank's mean. spaCy has one
HashEmbedCNN for both tagger and parser, and reads and writes no more than words, tags and arcs; UDPipe has its
defaults, lemmas and features included, and a process for each part of the file. Memory is the sum of the processes'
peaks; pages that they share count in each. All models are trained briefly: nothing is said about accuracy.

    pip install spacy ufal.udpipe
    python bench/parse_speed.py ../shared/data/eu_bdt_v1.4 --work ../parse_speed_models
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
DEFAULT = CHECKOUT.parent / "shared" / "data" / "eu_bdt_v1.4"
WORKER = "--worker"
LONGARC = str(Path(sys.executable).with_name("longarc"))
LIMIT_BATCH_TOKENS = 4_000
SPACY_BATCH = 32
UDPIPE_TAGGER, UDPIPE_PARSER = "iterations=2", "iterations=1"
ONE_SENTENCE_RUNS = 3


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


def main() -> None:
    if sys.argv[1:2] == [WORKER]:
        work(*sys.argv[2:])
        return
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="longarc-parse-speed-", dir=CHECKOUT.parent) as temporary:
        arguments.work = arguments.work or Path(temporary)
        arguments.work.mkdir(parents=True, exist_ok=True)
        train, one, task = prepare_treebank(arguments, Path(temporary))
        contenders = prepare_contenders(arguments, train)
        runs: dict[Contender, list[Run]] = {contender: [] for contender in contenders}
        for round_number in range(1, arguments.rounds + 1):
            for contender, own in runs.items():
                own.append(measure(contender, task))
                print(f"round {round_number}: {contender.name}: {own[-1]['job']:.2f} s", file=sys.stderr)
        one_sentence = time_one_sentence(contenders[0].model, one, task)
    print(f"{arguments.treebank.resolve().name}: {task.words:,} words, {task.threads} threads, {os.cpu_count()} cores;")
    print(f"medians of {arguments.rounds} rounds; Python {platform.python_version()}\n")
    print_table([summary(contender, own) for contender, own in runs.items()])
    print(f"\nLongarc (32-bit), start-up plus one sentence: {one_sentence:.2f} s (median of {ONE_SENTENCE_RUNS})")
    if arguments.json is not None:
        found = [{**summary(contender, own), "runs": own} for contender, own in runs.items()]
        about = {"treebank": str(arguments.treebank), "threads": task.threads, "one_sentence": one_sentence}
        arguments.json.write_text(json.dumps({**about, "contenders": found}, indent=1))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", nargs="?", type=Path, default=DEFAULT, help="a folder with train and test files")
    parser.add_argument("--encoding", default="utf-8", help="of the treebank (default: utf-8)")
    parser.add_argument("--repeat", type=int, default=3, help="the input is the test file so many times (default: 3)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each contender, in turn (default: 5)")
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of each (default: 2)")
    parser.add_argument("--model", type=Path, help="a .longarc file; one is trained for an epoch unless given")
    parser.add_argument("--int8", type=Path, help="the same model in 8 bits; goes with --model")
    parser.add_argument("--work", type=Path, help="keep the models here, outside the checkout, for the next time")
    parser.add_argument("--json", type=Path, help="write all measurements to this file too")
    arguments = parser.parse_args()
    if (arguments.model is None) != (arguments.int8 is None):
        parser.error("--model and --int8 go together")
    if arguments.work is not None and arguments.work.resolve().is_relative_to(CHECKOUT):
        parser.error(f"--work: {arguments.work} is inside the checkout")
    return arguments


def prepare_treebank(arguments: argparse.Namespace, folder: Path) -> tuple[Path, Path, Task]:
    """The training file and a file of one sentence, both in CoNLL-U, and the task."""
    from longarc import Sentence, read_all
    from longarc.data.convert import to_conllu

    def sentences(part: str) -> list[Sentence]:
        paths = sorted(arguments.treebank.glob(f"{part}.conll*"))
        if not paths:
            raise SystemExit(f"{arguments.treebank}: no {part}.conll* in this folder")
        return [to_conllu(sentence) for sentence in read_all(paths[0], encoding=arguments.encoding)]

    def write(name: str, chosen: list[Sentence]) -> Path:
        path = folder / name
        path.write_text("".join(sentence.to_conll() for sentence in chosen), encoding="utf-8")
        return path

    test = sentences("test") * arguments.repeat
    task = Task(write("input.conllu", test), folder / "output.conllu", sum(map(len, test)), arguments.threads)
    return write("train.conllu", sentences("train")), write("one.conllu", test[:1]), task


def prepare_contenders(arguments: argparse.Namespace, train: Path) -> list[Contender]:
    """Everyone, with the models that were kept or are trained now."""
    name, threads = arguments.treebank.resolve().name, arguments.threads
    model, int8 = arguments.model, arguments.int8
    if model is None:
        folder = arguments.work / f"{name}-longarc"
        model, int8 = folder / f"{folder.name}.longarc", folder / f"{folder.name}-int8.longarc"
        if not int8.exists():
            options = ["--epochs", "1", "--quantize", "--overwrite", "--threads", str(threads), "--out", str(folder)]
            subprocess.run([LONGARC, "train", str(train), "--preset=paper", *options], check=True, stdout=sys.stderr)
    limit = made(build_limit, arguments.work / "limit.onnx")
    spacy = made(train_spacy, arguments.work / f"{name}-spacy", train)
    udpipe = made(train_udpipe, arguments.work / f"{name}.udpipe", train)
    return [
        Contender("Longarc, 32-bit", "longarc", "longarc", model),
        Contender("Longarc, 8-bit", "longarc", "longarc", int8),
        Contender("the limit: bare BiLSTM blocks", "onnxruntime", "limit", limit),
        *(Contender(f"spaCy, n_process={count}", "spacy", "spacy", spacy, count) for count in sorted({1, threads})),
        Contender(f"UDPipe 1, {threads} processes", "ufal.udpipe", "udpipe", udpipe, threads),
    ]


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


def build_limit(target: Path) -> None:
    """The BiLSTM blocks of the paper's network, with random weights, each with an input of its own."""
    from onnx import TensorProto, helper

    from longarc.model.bilstm import BiLSTM
    from longarc.model.export import IR_VERSION, OPSET, GraphWriter
    from longarc.training.configuration import preset

    paper = preset("paper")
    g = GraphWriter()
    inputs, outputs = [], []
    for width in (paper.word_dimensions, 2 * paper.lstm_size + paper.tag_dimensions):
        x = helper.make_tensor_value_info(f"x{width}", TensorProto.FLOAT, ["nodes", "batch", width])
        name = g.bilstm(x.name, "", BiLSTM(width, paper.lstm_size, paper.lstm_layers))
        inputs.append(x)
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["nodes", "batch", 2 * paper.lstm_size]))
    graph = helper.make_graph(g.nodes, "limit", inputs, outputs, g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    target.write_bytes(model.SerializeToString())


def train_spacy(target: Path, train: Path) -> None:
    """One pass over the training file."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec")
    for pipe in ("tagger", "parser"):
        nlp.add_pipe(pipe, config={"model": {"tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}}})
    examples = []
    for rows in read_words(train):
        forms, tags, heads, relations = ([row[column] for row in rows] for column in (1, 3, 6, 7))
        places = [int(head) - 1 if head != "0" else own for own, head in enumerate(heads)]
        gold = {"words": forms, "tags": tags, "heads": places, "deps": relations}
        examples.append(Example.from_dict(Doc(nlp.vocab, words=forms), gold))
    optimizer = nlp.initialize(lambda: examples)
    for start in range(0, len(examples), SPACY_BATCH):
        nlp.update(examples[start : start + SPACY_BATCH], sgd=optimizer)
    nlp.to_disk(target)


def train_udpipe(target: Path, train: Path) -> None:
    """All as UDPipe has it, but for the number of iterations."""
    from ufal import udpipe

    reader, error = udpipe.InputFormat.newInputFormat("conllu"), udpipe.ProcessingError()
    reader.setText(train.read_text("utf-8"))
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.push_back(sentence)
        sentence = udpipe.Sentence()
    given = (sentences, udpipe.Sentences(), udpipe.Trainer.NONE, UDPIPE_TAGGER, UDPIPE_PARSER)
    model = udpipe.Trainer.train("morphodita_parsito", *given, error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    target.write_bytes(model)


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
                    out.write(f"{number}\t{token.text}\t_\t{token.tag_}\t_\t_\t{head}\t{token.dep_}\t_\t_\n")
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
    command = [sys.executable, __file__, WORKER, *map(str, options)]
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


def time_one_sentence(model: Path, one: Path, task: Task) -> float:
    """Median seconds of the whole command for a file of one sentence."""
    options = ["--model", str(model), "--output", str(task.output), "--threads", str(task.threads)]
    seconds = []
    for _ in range(ONE_SENTENCE_RUNS):
        start = time.monotonic()
        subprocess.run([LONGARC, "parse", str(one), *options], check=True)
        seconds.append(time.monotonic() - start)
    return statistics.median(seconds)


def summary(contender: Contender, runs: list[Run]) -> dict[str, Any]:
    """Medians, and the range of the speed, in tokens per second."""
    speeds = [run["words"] / run["job"] for run in runs]
    return {
        "contender": contender.name,
        "kind": contender.load,
        "version": version(contender.package),
        "speed": statistics.median(speeds),
        "slowest": min(speeds),
        "fastest": max(speeds),
        "with_startup": statistics.median(run["words"] / run["wall"] for run in runs),
        **{name: statistics.median(run[name] for run in runs) for name in ("startup", "peak_mb")},
    }


def print_table(rows: list[dict[str, Any]]) -> None:
    """The table in Markdown; of spaCy's two ways, the faster."""
    best = {kind: max(row["speed"] for row in rows if row["kind"] == kind) for kind in LOADERS}
    print("| contender | version | tokens/s | range | with start-up | of the limit | of spaCy | start-up s | peak MB |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        if row["kind"] != "spacy" or row["speed"] == best["spacy"]:
            ratios = (row["speed"] / best["limit"], row["speed"] / best["spacy"])
            cells = "| {contender} | {version} | {speed:,.0f} | {slowest:,.0f}–{fastest:,.0f} | {with_startup:,.0f} |"
            rest = " {:.2f} | {:.2f} | {startup:.2f} | {peak_mb:,.0f} |"
            print(cells.format(**row) + rest.format(*ratios, **row))


if __name__ == "__main__":
    main()
