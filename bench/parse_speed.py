"""Compare the parsing speed of Longarc, of its bare BiLSTM blocks, of spaCy and of UDPipe 1 on the same words.

The bare BiLSTM blocks of the paper's network in 32 bits are the upper limit; they run on sentences of the treebank's
mean length. spaCy uses one HashEmbedCNN for tagger and parser, UDPipe its defaults. All models are trained briefly,
so this does not measure accuracy. See contenders.py for the method.

    pip install spacy ufal.udpipe
    longarc fetch-treebank eu_bdt_v1.4
    python bench/parse_speed.py eu_bdt_v1.4 --work DIR
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from contenders import (
    CHECKOUT,
    LOADERS,
    LONGARC,
    Contender,
    Task,
    build_once,
    find_treebank,
    measure_in_turn,
    read_part,
    read_words,
    summary,
    write_sentences,
)

SPACY_BATCH = 32
UDPIPE_TAGGER, UDPIPE_PARSER = "iterations=2", "iterations=1"
ONE_SENTENCE_RUNS = 3


def main() -> None:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="longarc-parse-speed-") as temporary:
        arguments.work = arguments.work or Path(temporary)
        arguments.work.mkdir(parents=True, exist_ok=True)
        train, one, task = prepare_treebank(arguments, Path(temporary))
        contenders = prepare_contenders(arguments, train)
        runs = measure_in_turn(contenders, task, arguments.rounds)
        one_sentence = time_one_sentence(contenders[0].model, one, task)
    print(f"{arguments.treebank.name}: {task.words:,} words, {task.threads} threads, {os.cpu_count()} cores;")
    print(f"medians of {arguments.rounds} rounds; Python {platform.python_version()}\n")
    print_table([summary(contender, rounds) for contender, rounds in runs.items()])
    print(f"\nLongarc (32-bit), start-up and one sentence: {one_sentence:.2f} s (median of {ONE_SENTENCE_RUNS})")
    if arguments.json is not None:
        results = [{**summary(contender, rounds), "runs": rounds} for contender, rounds in runs.items()]
        setup = {"treebank": arguments.treebank.name, "threads": task.threads, "one_sentence": one_sentence}
        arguments.json.write_text(json.dumps({**setup, "contenders": results}, indent=1))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", type=find_treebank, help="folder with train and test files")
    parser.add_argument("--encoding", default="utf-8", help="encoding of the treebank (default: utf-8)")
    parser.add_argument("--repeat", type=int, default=3, help="copies of the test file in the input (default: 3)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each parser, alternating (default: 5)")
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of each parser (default: 2)")
    parser.add_argument("--model", type=Path, help="a .longarc file; by default one is trained for one epoch")
    parser.add_argument("--int8", type=Path, help="the same model in 8 bits; requires --model")
    parser.add_argument("--work", type=Path, help="keep the models in this folder, outside the checkout")
    parser.add_argument("--json", type=Path, help="also write the measurements to this file")
    arguments = parser.parse_args()
    if (arguments.model is None) != (arguments.int8 is None):
        parser.error("--model and --int8 require each other")
    if arguments.work is not None and arguments.work.resolve().is_relative_to(CHECKOUT):
        parser.error(f"--work: {arguments.work} is inside the checkout")
    return arguments


def prepare_treebank(arguments: argparse.Namespace, folder: Path) -> tuple[Path, Path, Task]:
    """Write the training file, a file with one sentence and the input in CoNLL-U; return the first two and the task."""
    test = read_part(arguments.treebank, "test", arguments.encoding) * arguments.repeat
    source = write_sentences(folder / "input.conllu", test)
    task = Task(source, folder / "output.conllu", sum(map(len, test)), arguments.threads)
    train = write_sentences(folder / "train.conllu", read_part(arguments.treebank, "train", arguments.encoding))
    return train, write_sentences(folder / "one.conllu", test[:1]), task


def prepare_contenders(arguments: argparse.Namespace, train: Path) -> list[Contender]:
    """Return all contenders; train those that have no model in the work folder."""
    name, threads = arguments.treebank.name, arguments.threads
    model, int8 = arguments.model, arguments.int8
    if model is None:
        folder = arguments.work / f"{name}-longarc"
        model, int8 = folder / f"{folder.name}.longarc", folder / f"{folder.name}-int8.longarc"
        if not int8.exists():
            options = ["--epochs", "1", "--quantize", "--overwrite", "--threads", str(threads), "--out", str(folder)]
            for dev in sorted(arguments.treebank.glob("dev.conll*"))[:1]:
                options += ["--dev", str(dev)]
            subprocess.run([LONGARC, "train", str(train), "--preset=paper", *options], check=True, stdout=sys.stderr)
    limit = build_once(build_limit, arguments.work / "limit.onnx")
    spacy = build_once(train_spacy, arguments.work / f"{name}-spacy", train)
    udpipe = build_once(train_udpipe, arguments.work / f"{name}.udpipe", train)
    return [
        Contender("Longarc, 32-bit", "longarc", "longarc", model),
        Contender("Longarc, 8-bit", "longarc", "longarc", int8),
        Contender("limit: bare BiLSTM blocks", "onnxruntime", "limit", limit),
        *(Contender(f"spaCy, n_process={count}", "spacy", "spacy", spacy, count) for count in sorted({1, threads})),
        Contender(f"UDPipe 1, {threads} processes", "ufal.udpipe", "udpipe", udpipe, threads),
    ]


def build_limit(target: Path) -> None:
    """Write a graph of the BiLSTM blocks of the paper's network, with random weights and an input for each block."""
    from longarc.configuration import preset
    from longarc.model.bilstm import BiLSTM
    from longarc.model.graph_writer import FLOAT, GraphWriter

    paper = preset("paper")
    g = GraphWriter()
    for width in (paper.word_dimensions, 2 * paper.lstm_size + paper.tag_dimensions):
        x = g.input(f"x{width}", FLOAT, "nodes", "batch", width)
        states = BiLSTM(width, paper.lstm_size, paper.lstm_layers).export(g, x, "")
        g.add("Identity", states, output=g.output(f"y{width}", FLOAT, "nodes", "batch", 2 * paper.lstm_size))
    target.write_bytes(g.serialize())


def train_spacy(target: Path, train: Path) -> None:
    """Train spaCy for one pass over the training file."""
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
        indices = [int(head) - 1 if head != "0" else index for index, head in enumerate(heads)]
        gold = {"words": forms, "tags": tags, "heads": indices, "deps": relations}
        examples.append(Example.from_dict(Doc(nlp.vocab, words=forms), gold))
    optimizer = nlp.initialize(lambda: examples)
    for start in range(0, len(examples), SPACY_BATCH):
        nlp.update(examples[start : start + SPACY_BATCH], sgd=optimizer)
    nlp.to_disk(target)


def train_udpipe(target: Path, train: Path) -> None:
    """Train UDPipe with its defaults, but fewer iterations."""
    from ufal import udpipe

    reader, error = udpipe.InputFormat.newInputFormat("conllu"), udpipe.ProcessingError()
    reader.setText(train.read_text("utf-8"))
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.push_back(sentence)
        sentence = udpipe.Sentence()
    settings = (udpipe.Trainer.NONE, UDPIPE_TAGGER, UDPIPE_PARSER)
    model = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), *settings, error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    target.write_bytes(model)


def time_one_sentence(model: Path, one: Path, task: Task) -> float:
    """Return the median time in seconds of `longarc parse` for a file with one sentence."""
    options = ["--model", str(model), "--output", str(task.output), "--threads", str(task.threads)]
    seconds = []
    for _ in range(ONE_SENTENCE_RUNS):
        start = time.monotonic()
        subprocess.run([LONGARC, "parse", str(one), *options], check=True)
        seconds.append(time.monotonic() - start)
    return statistics.median(seconds)


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print a Markdown table; of spaCy's two settings only the faster one."""
    best = {kind: max(row["speed"] for row in rows if row["kind"] == kind) for kind in LOADERS}
    print("| parser | version | tokens/s | range | with start-up | ÷ limit | ÷ spaCy | start-up s | peak MB |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        if row["kind"] != "spacy" or row["speed"] == best["spacy"]:
            ratios = (row["speed"] / best["limit"], row["speed"] / best["spacy"])
            cells = "| {contender} | {version} | {speed:,.0f} | {slowest:,.0f}–{fastest:,.0f} | {with_startup:,.0f} |"
            rest = " {:.2f} | {:.2f} | {startup:.2f} | {peak_mb:,.0f} |"
            print(cells.format(**row) + rest.format(*ratios, **row))


if __name__ == "__main__":
    main()
