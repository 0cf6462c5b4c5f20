"""Compare the accuracy and speed of Longarc (presets, 32 and 8 bits), spaCy, UDPipe 1 and SuPar, trained on the same
files.

Trains the models that are not in the work folder yet, which takes hours; an interrupted Longarc training is resumed.
All parsers read the gold words of the test file and predict the tags themselves. See contenders.py for the method.
Results are added to those in the JSON file, so the parsers can be scored one by one. Their speeds are only comparable
if they are measured in one run; with --brief, that run uses models of the same sizes that are trained for minutes, or
those that were copied to DIR/brief.

    pip install spacy ufal.udpipe supar
    longarc fetch-treebank eu_bdt_v1.4 en_ewt en_glove100 en_minilm
    python bench/benchmarks.py eu_bdt_v1.4 --work DIR --json bench/results/eu_bdt_v1.4.json --rounds 0
    python bench/benchmarks.py eu_bdt_v1.4 --work DIR --json bench/results/eu_bdt_v1.4.json --brief
    python bench/benchmarks.py eu_bdt_v1.4 … --parsers distilled --teachers one.longarc two.longarc three.longarc
    python bench/benchmarks.py en_ewt … --vectors treebanks/en_glove100/glove100.top100k.vec --encoder DIR
    python bench/benchmarks.py --report bench/results/e*.json     # writes docs/benchmarks.md and its picture
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark_page import PRESETS, RAW_MEASURES, write_page
from contenders import (
    CHECKOUT,
    LONGARC,
    Contender,
    Task,
    build_once,
    find_treebank,
    measure,
    measure_in_turn,
    read_part,
    read_words,
    summary,
    write_sentences,
)
from train_peers import train_spacy, train_supar, train_udpipe

if TYPE_CHECKING:
    from longarc import Sentence

DISTILLED = "distilled"
"""A contender: the preset fast, taught by --teachers, or else by the preset transformer or, without a pretrained
encoder, base."""
PEERS = {
    "spacy": ("spaCy", "spacy", train_spacy),
    "udpipe": ("UDPipe 1", "ufal.udpipe", train_udpipe),
    "supar": ("SuPar", "supar", train_supar),
}
"""By loader: the name of the parser, its package, and how to train it"""


def main() -> None:
    arguments = parse_arguments()
    if arguments.report:
        write_page([json.loads(path.read_text("utf-8")) for path in arguments.report])
        return
    results: dict[str, Any] = json.loads(arguments.json.read_text("utf-8")) if arguments.json.exists() else {}
    arguments.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="longarc-benchmarks-", dir=arguments.work) as temporary:
        folder = Path(temporary)
        parts = {part: read_part(arguments.treebank, part) for part in ("train", "dev", "test")}
        train, dev = (write_sentences(folder / f"{part}.conllu", parts[part]) for part in ("train", "dev"))
        test = parts["test"]
        contenders = prepare_contenders(arguments, train, dev)
        results |= {
            "treebank": arguments.treebank.name,
            "train_words": sum(map(len, parts["train"])),
            "words": sum(map(len, test)),
            "vectors": arguments.vectors.name if arguments.vectors else "",
        }
        if not arguments.brief:
            add_scores(results, contenders, test, folder, arguments.threads)
        if arguments.rounds:
            results["speed"] = measure_speed(contenders, test, folder, arguments)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    print(text)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(text + "\n", "utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", nargs="?", type=find_treebank, help="folder with train, dev and test files")
    parser.add_argument("--work", type=Path, help="folder for the models, outside the checkout")
    parser.add_argument("--json", type=Path, help="add the measurements to this file")
    parser.add_argument(
        "--parsers", nargs="+", default=[*PRESETS, DISTILLED, *PEERS], help="presets and others (default: all)"
    )
    parser.add_argument("--bits", nargs="+", type=int, default=[32, 8], help="precisions of Longarc (default: 32 8)")
    parser.add_argument("--vectors", type=Path, help="word vectors for all parsers, in word2vec text format")
    parser.add_argument("--encoder", type=Path, help="pretrained encoder for the preset transformer, left out without")
    parser.add_argument("--teachers", type=Path, nargs="+", help="models that the distilled one learns from")
    parser.add_argument("--brief", action="store_true", help="train for minutes, measure speed only")
    parser.add_argument("--repeat", type=int, default=2, help="copies of the test file in the timed input (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="timed runs of each parser, alternating (default: 3)")
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of each parser (default: 2)")
    parser.add_argument("--report", type=Path, nargs="+", help="write docs/benchmarks.md from these JSON files")
    arguments = parser.parse_args()
    if not arguments.report and None in (arguments.treebank, arguments.work, arguments.json):
        parser.error("expected a treebank, --work and --json, or --report")
    if arguments.work is not None and arguments.work.resolve().is_relative_to(CHECKOUT):
        parser.error(f"--work: {arguments.work} is inside the checkout")
    if arguments.encoder is None:
        arguments.parsers = [name for name in arguments.parsers if name != "transformer"]
    return arguments


# ---------------------------------------------------------------------------------------------------------------------
# Training.


def prepare_contenders(arguments: argparse.Namespace, train: Path, dev: Path) -> list[Contender]:
    """Return all contenders; train those that have no model in the work folder."""
    name, threads = arguments.treebank.name, arguments.threads
    work = arguments.work / "brief" if arguments.brief else arguments.work
    work.mkdir(exist_ok=True)
    presets = [preset for preset in PRESETS if preset in arguments.parsers]
    contenders = []
    for preset in presets:
        train_longarc(work / f"{name}-{preset}", preset, train, dev, arguments)
    titles = {preset: preset for preset in presets}
    if DISTILLED in arguments.parsers and not arguments.brief:  # briefly trained, it would be the same as fast
        preset = "base" if arguments.encoder is None else "transformer"
        teachers = arguments.teachers or [work / f"{name}-{preset}" / f"{name}-{preset}.longarc"]
        distil_longarc(work / f"{name}-{DISTILLED}", teachers, train, dev, arguments)
        titles[DISTILLED] = "fast, distilled"
    for bits in arguments.bits:  # similar models run one after the other
        for preset, title in titles.items():
            end = "-int8" if bits == 8 else ""
            model = work / f"{name}-{preset}" / f"{name}-{preset}{end}.longarc"
            contenders.append(Contender(f"Longarc, {title}, {bits}-bit", "longarc", "longarc", model))
    for peer, (title, package, build) in PEERS.items():
        if peer in arguments.parsers:
            model = build_once(build, work / f"{name}-{peer}", train, dev, arguments.vectors, arguments.brief)
            processes = threads if peer == "udpipe" else 1
            contenders.append(Contender(title, package, peer, model, processes))
    return contenders


def train_longarc(folder: Path, preset: str, train: Path, dev: Path, arguments: argparse.Namespace) -> None:
    """Run `longarc train` unless the models exist."""
    command = ["train", str(train), "--preset", preset]
    if preset == "transformer":
        command += ["--encoder", str(arguments.encoder)]
    elif arguments.vectors:
        command += ["--vectors", str(arguments.vectors)]
    if arguments.brief:
        command += ["--set", "epochs=1", "--set", "min_updates=0", "--set", "tokenizer_steps=300"]
    run_training(command, folder, dev, arguments.threads)


def distil_longarc(folder: Path, teachers: list[Path], train: Path, dev: Path, arguments: argparse.Namespace) -> None:
    """Run `longarc distill` unless the models exist."""
    command = ["distill", *map(str, teachers), "--preset", "fast", "--train", str(train)]
    if arguments.vectors:
        command += ["--vectors", str(arguments.vectors)]
    run_training(command, folder, dev, arguments.threads)


def run_training(command: list[str], folder: Path, dev: Path, threads: int) -> None:
    """Run a command of Longarc that trains, unless the models exist in the folder."""
    if (folder / f"{folder.name}-int8.longarc").exists():
        return
    command = [LONGARC, *command, "--dev", str(dev), "--out", str(folder), "--quantize", "--threads", str(threads)]
    command += ["--resume"] if (folder / "checkpoint.safetensors").exists() else []
    print(shlex.join(command), file=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)


# ---------------------------------------------------------------------------------------------------------------------
# Measuring.


def add_scores(
    results: dict[str, Any], contenders: list[Contender], test: list[Sentence], folder: Path, threads: int
) -> None:
    """Add the scores of the contenders on gold words and on raw text, their versions and their sizes."""
    task = Task(write_sentences(folder / "gold.conllu", test), folder / "out.conllu", results["words"], threads)
    for contender in contenders:
        facts = {"version": version(contender.package), "size_mb": size_of(contender.model) / 1e6}
        results.setdefault("scores", {})[contender.name] = {**measure_scores(contender, task), **facts}
    for row in measure_raw_text(contenders, test, folder, threads):
        results.setdefault("raw_text", {})[row.pop("contender")] = row


def measure_speed(
    contenders: list[Contender], test: list[Sentence], folder: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Return speed, memory and start-up time of the contenders, measured in turn."""
    source = write_sentences(folder / "input.conllu", test * arguments.repeat)
    words = sum(map(len, test)) * arguments.repeat
    task = Task(source, folder / "output.conllu", words, arguments.threads)
    runs = measure_in_turn(contenders, task, arguments.rounds)
    text = write_text(folder / "input.txt", test * arguments.repeat)
    readers = [contender for contender in contenders if can_read_text(contender, arguments.brief)]
    text_runs = measure_in_turn(readers, Task(text, task.output, words, arguments.threads), arguments.rounds)
    return {
        "brief": arguments.brief,
        **{name: getattr(arguments, name) for name in ("threads", "rounds", "repeat")},
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "contenders": {contender.name: summary(contender, rounds) for contender, rounds in runs.items()},
        "raw_text": {contender.name: summary(contender, rounds)["speeds"] for contender, rounds in text_runs.items()},
    }


def can_read_text(contender: Contender, brief: bool) -> bool:
    """Return whether a contender splits text: SuPar does not, and a brief training of UDPipe has no tokenizer."""
    return contender.load != "supar" and not (brief and contender.load == "udpipe")


def write_text(path: Path, sentences: list[Sentence]) -> Path:
    """Write sentences as text: a blank line separates paragraphs, and words have the usual spaces if none are
    recorded."""
    from longarc.data.usual_spacing import with_spaces
    from longarc.training.train_tokenizer import labelled_text

    path.write_text(labelled_text(with_spaces(sentences)).text, "utf-8")
    return path


def measure_scores(contender: Contender, task: Task) -> dict[str, float]:
    """Return UAS, LAS, UPOS and lemma accuracy in percent; punctuation and subtypes of relations count."""
    measure(contender, task)
    correct = dict.fromkeys(("uas", "las", "upos", "lemma"), 0)
    for gold, parsed in zip(read_words(task.source), read_words(task.output), strict=True):
        for gold_row, row in zip(gold, parsed, strict=True):
            correct["uas"] += gold_row[6] == row[6]
            correct["las"] += gold_row[6:8] == row[6:8]
            correct["upos"] += gold_row[3] == row[3]
            correct["lemma"] += gold_row[2] in ("_", row[2])  # as in CoNLL 2018
    return {name: 100 * count / task.words for name, count in correct.items()}


def measure_raw_text(
    contenders: list[Contender], test: list[Sentence], folder: Path, threads: int
) -> list[dict[str, Any]]:
    """Return the scores of each contender from raw text: F1 by the rules of CoNLL 2018."""
    from longarc import read_all
    from longarc.evaluation.conventions import Conventions
    from longarc.evaluation.measures import score_sentences

    task = Task(write_text(folder / "raw.txt", test), folder / "raw.conllu", sum(map(len, test)), threads)
    rows = []
    for contender in contenders:
        if not can_read_text(contender, brief=False):
            continue
        measure(contender, task)
        scores = score_sentences(test, read_all(task.output), Conventions("count", "universal"))
        rows.append({"contender": contender.name, **{name: scores[name].f1 for name in RAW_MEASURES}})
    return rows


def size_of(model: Path) -> int:
    """Return the size in bytes of a file or of all files in a folder."""
    return sum(path.stat().st_size for path in (model.rglob("*") if model.is_dir() else [model]) if path.is_file())


if __name__ == "__main__":
    main()
