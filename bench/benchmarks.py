"""Accuracy and speed together: Longarc's presets in 32 and 8 bits, spaCy and UDPipe 1, trained on the same files.

Models that are not in the work folder yet are trained, which takes hours; a Longarc training that was stopped goes on.
All get the gold words of the test file and predict the tags themselves. How each one is measured: contenders.py.

    pip install spacy ufal.udpipe
    python bench/benchmarks.py ../shared/data/eu_bdt_v1.4 --work ../models --json bench/results/eu_bdt_v1.4.json
    python bench/benchmarks.py ../shared/data/en_ewt --work … --json … --vectors glove100.top100k.vec.gz
    python bench/benchmarks.py --report bench/results/*.json     # writes docs/benchmarks.md and its picture
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contenders import (
    CHECKOUT,
    LONGARC,
    Contender,
    Task,
    made,
    measure,
    measure_in_turn,
    read_part,
    read_words,
    summary,
    write_sentences,
)

PRESETS = ("base", "paper")
SPACY_STEPS = 3_000
UDPIPE_TAGGER = "iterations=5"
"""Where the others' training ends, to keep it short: by default spaCy's goes on until dev scores have not risen for
1,600 steps, and UDPipe's tagger is trained for 20 iterations."""
UDPIPE_PARSER = "iterations=10;transition_system=swap;transition_oracle=static_lazy"
OURS = "Longarc, base, 8-bit"
MEASURES = {
    "uas": ("UAS", ".2f", 1),
    "las": ("LAS", ".2f", 1),
    "upos": ("UPOS", ".2f", 1),
    "speed": ("tokens/s", ",.0f", 1),
    "startup": ("start-up in seconds", ".2f", -1),
    "peak_mb": ("memory in MB", ",.0f", -1),
    "size_mb": ("model in MB", ",.1f", -1),
}
"""What is measured: name, format, and 1 where more is better."""
PAGE = CHECKOUT / "docs" / "benchmarks.md"
PICTURE = PAGE.with_suffix(".svg")
OPTIONS = {
    "longarc": "Longarc: `longarc train TRAIN --dev DEV --preset … --quantize`; `paper` is the network of 2018, which "
    "knows words only by their vectors and learns little of rich morphology where none are given",
    "spacy": "spaCy: `spacy init config --lang xx --pipeline tagger,parser --optimize efficiency`, `spacy train`, "
    f"at most {SPACY_STEPS:,} steps, UPOS as tag",
    "udpipe": f"UDPipe 1: default tagger with lemmas and features, `{UDPIPE_TAGGER}`; parser `{UDPIPE_PARSER}`; "
    "the tagger's default is 20 iterations, so its figures here may be a little lower than they could be",
}


def main() -> None:
    arguments = parse_arguments()
    if arguments.report:
        write_page([json.loads(path.read_text("utf-8")) for path in arguments.report])
        return
    arguments.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="longarc-benchmarks-", dir=arguments.work) as temporary:
        folder = Path(temporary)
        parts = {part: read_part(arguments.treebank, part) for part in ("train", "dev", "test")}
        train, dev = (write_sentences(folder / f"{part}.conllu", parts[part]) for part in ("train", "dev"))
        test = parts["test"]
        contenders = prepare_contenders(arguments, train, dev)
        gold = write_sentences(folder / "gold.conllu", test)
        whole = write_sentences(folder / "input.conllu", test * arguments.repeat)
        task = Task(whole, folder / "output.conllu", sum(map(len, test)) * arguments.repeat, arguments.threads)
        runs = measure_in_turn(contenders, task, arguments.rounds)
        once = Task(gold, folder / "once.conllu", sum(map(len, test)), arguments.threads)
        scores = {contender: measure_scores(contender, once) for contender in contenders}
    found = {
        "treebank": arguments.treebank.resolve().name,
        "train_words": sum(map(len, parts["train"])),
        "words": once.words,
        "vectors": arguments.vectors.name if arguments.vectors else "",
        "remark": arguments.remark,
        "threads": arguments.threads,
        "cores": os.cpu_count(),
        "rounds": arguments.rounds,
        "repeat": arguments.repeat,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "contenders": [
            {**summary(contender, own), **scores[contender], "size_mb": size_of(contender.model) / 1e6}
            for contender, own in runs.items()
        ],
    }
    text = json.dumps(found, indent=1, ensure_ascii=False)
    print(text)
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(text + "\n", "utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", nargs="?", type=Path, help="a folder with train, dev and test files")
    parser.add_argument("--work", type=Path, help="where models are kept, outside the checkout")
    parser.add_argument("--vectors", type=Path, help="word vectors for all contenders, in word2vec text format")
    parser.add_argument("--presets", nargs="+", default=list(PRESETS), help="of Longarc (default: all)")
    parser.add_argument("--repeat", type=int, default=2, help="the timed input is the test file so often (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each contender, in turn (default: 3)")
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of each (default: 2)")
    parser.add_argument("--remark", default="", help="what the page shall say of models made otherwise")
    parser.add_argument("--json", type=Path, help="write the measurements to this file too")
    parser.add_argument("--report", type=Path, nargs="+", help="make docs/benchmarks.md of such files")
    arguments = parser.parse_args()
    if not arguments.report and (arguments.treebank is None or arguments.work is None):
        parser.error("a treebank and --work are needed, or --report")
    if arguments.work is not None and arguments.work.resolve().is_relative_to(CHECKOUT):
        parser.error(f"--work: {arguments.work} is inside the checkout")
    return arguments


# ---------------------------------------------------------------------------------------------------------------------
# Training.


def prepare_contenders(arguments: argparse.Namespace, train: Path, dev: Path) -> list[Contender]:
    """Everyone, with the models that were kept or are trained now."""
    name, threads, work = arguments.treebank.resolve().name, arguments.threads, arguments.work
    contenders = []
    for preset in arguments.presets:
        train_longarc(work / f"{name}-{preset}", preset, train, dev, arguments)
    for bits, end in ((32, ""), (8, "-int8")):  # those most alike run one after the other
        for preset in arguments.presets:
            model = work / f"{name}-{preset}" / f"{name}-{preset}{end}.longarc"
            contenders.append(Contender(f"Longarc, {preset}, {bits}-bit", "longarc", "longarc", model))
    vectors = [arguments.vectors] if arguments.vectors else []
    spacy = made(train_spacy, work / f"{name}-spacy", train, dev, *vectors)
    udpipe = made(train_udpipe, work / f"{name}.udpipe", train, dev, *vectors)
    return [
        *contenders,
        Contender("spaCy", "spacy", "spacy", spacy),
        Contender(f"UDPipe 1, {threads} processes", "ufal.udpipe", "udpipe", udpipe, threads),
    ]


def train_longarc(folder: Path, preset: str, train: Path, dev: Path, arguments: argparse.Namespace) -> None:
    """`longarc train`, unless the models are there."""
    if (folder / f"{folder.name}-int8.longarc").exists():
        return
    command = [LONGARC, "train", str(train), "--dev", str(dev), "--preset", preset, "--out", str(folder)]
    command += ["--quantize", "--threads", str(arguments.threads)]
    command += ["--vectors", str(arguments.vectors)] if arguments.vectors else []
    command += ["--resume"] if (folder / "checkpoint.safetensors").exists() else []
    print(shlex.join(command), file=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)


def train_spacy(target: Path, train: Path, dev: Path, vectors: Path | None = None) -> None:
    """What spaCy's own commands make of its recommended configuration."""
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.cli.train import train as run_training
    from spacy.tokens import Doc, DocBin
    from spacy.training.initialize import convert_vectors

    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        folder = Path(temporary)
        nlp = spacy.blank("xx")
        for name, source in (("train", train), ("dev", dev)):
            docs = DocBin()
            for rows in read_words(source):
                forms, tags, heads, relations = ([row[column] for row in rows] for column in (1, 3, 6, 7))
                places = [int(head) - 1 if head != "0" else own for own, head in enumerate(heads)]
                docs.add(Doc(nlp.vocab, words=forms, tags=tags, heads=places, deps=relations))
            docs.to_disk(folder / f"{name}.spacy")
        config = init_config(lang="xx", pipeline=["tagger", "parser"], optimize="efficiency", gpu=False, silent=True)
        overrides: dict[str, Any] = {"paths.train": str(folder / "train.spacy"), "paths.dev": str(folder / "dev.spacy")}
        if vectors is not None:
            convert_vectors(nlp, vectors, truncate=-1, prune=-1)
            nlp.to_disk(folder / "vectors")
            overrides["paths.vectors"] = str(folder / "vectors")
            overrides["components.tok2vec.model.embed.include_static_vectors"] = True
        overrides["training.max_steps"] = SPACY_STEPS
        config.to_disk(folder / "config.cfg")
        run_training(folder / "config.cfg", folder / "out", overrides=overrides)
        (folder / "out" / "model-best").rename(target)


def train_udpipe(target: Path, train: Path, dev: Path, vectors: Path | None = None) -> None:
    """UDPipe's defaults, with a parser that can do non-projective trees; the best iteration on dev is kept."""
    from ufal import udpipe

    error = udpipe.ProcessingError()

    def sentences(path: Path) -> Any:
        reader = udpipe.InputFormat.newInputFormat("conllu")
        reader.setText(path.read_text("utf-8"))
        found, sentence = udpipe.Sentences(), udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            found.push_back(sentence)
            sentence = udpipe.Sentence()
        return found

    options = UDPIPE_PARSER
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        if vectors is not None:
            plain = Path(temporary) / "vectors.vec"
            plain.write_bytes(b"".join(lines_of(vectors)))
            options += f";embedding_form=100;embedding_form_file={plain}"
        given = (sentences(train), sentences(dev), udpipe.Trainer.NONE, UDPIPE_TAGGER, options)
        model = udpipe.Trainer.train("morphodita_parsito", *given, error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    target.write_bytes(model)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file that may be compressed."""
    from longarc.data.files import open_input

    with open_input(path) as stream:
        yield from stream


# ---------------------------------------------------------------------------------------------------------------------
# Measuring.


def measure_scores(contender: Contender, task: Task) -> dict[str, float]:
    """UAS, LAS and accuracy of UPOS in percent, punctuation counted, whole relations."""
    measure(contender, task)
    correct = dict.fromkeys(("uas", "las", "upos"), 0)
    for gold, own in zip(read_words(task.source), read_words(task.output), strict=True):
        for right, found in zip(gold, own, strict=True):
            correct["uas"] += right[6] == found[6]
            correct["las"] += right[6:8] == found[6:8]
            correct["upos"] += right[3] == found[3]
    return {name: 100 * count / task.words for name, count in correct.items()}


def size_of(model: Path) -> int:
    """Bytes of a file or of all files in a folder."""
    return sum(path.stat().st_size for path in (model.rglob("*") if model.is_dir() else [model]) if path.is_file())


# ---------------------------------------------------------------------------------------------------------------------
# The page.


def write_page(measured: list[dict[str, Any]]) -> None:
    """docs/benchmarks.md and its picture."""
    parts = [
        "# Benchmarks",
        "Made by `python bench/benchmarks.py --report bench/results/*.json`; "
        "[bench/benchmarks.py](../bench/benchmarks.py) says how each file was measured.",
        f"![LAS against tokens per second]({PICTURE.name})",
        "All parse the gold words of the test file with tags of their own. Punctuation counts, and so do subtypes of "
        "relations. Speed is that of reading, tagging, parsing and writing a file once the model is loaded (median and "
        "range), then with start-up. They run in turn on the same machine, whose speed changes from round to round; "
        "how many times as fast one is as another is the median over the rounds.",
        "\n".join(f"- {text}" for text in OPTIONS.values()),
    ]
    for found in measured:
        parts += [f"## {found['treebank']}", about(found), table(found)]
        parts.append("\n".join(f"- {text}" for text in beside_others(found)))
    PAGE.write_text("\n\n".join(part for part in parts if part) + "\n", "utf-8")
    draw(measured)
    print(PAGE, PICTURE, sep="\n")


def about(found: dict[str, Any]) -> str:
    vectors = f"; all are given the vectors {found['vectors']}" if found["vectors"] else ""
    return (
        f"{found['words']:,} words in the test file, {found['train_words']:,} to train on{vectors}. "
        f"{found['threads']} threads, {found['cores']} cores, {found['machine']}, Python {found['python']}; "
        f"medians of {found['rounds']} rounds over the file {found['repeat']} times. {found.get('remark', '')}"
    ).strip()


def table(found: dict[str, Any]) -> str:
    head = ["parser", "version", "UAS", "LAS", "UPOS", "tokens/s", "range", "with start-up"]
    head += ["start-up s", "peak MB", "model MB"]
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "---:|" * (len(head) - 2)]
    row = (
        "| {contender} | {version} | {uas:.2f} | {las:.2f} | {upos:.2f} | {speed:,.0f} | {slowest:,.0f}–{fastest:,.0f} "
        "| {with_startup:,.0f} | {startup:.2f} | {peak_mb:,.0f} | {size_mb:,.1f} |"
    )
    return "\n".join([*lines, *(row.format(**one) for one in found["contenders"])])


def beside_others(found: dict[str, Any]) -> list[str]:
    """Longarc's model that is both good and fast beside all others, with all in which it is behind. How much faster:
    the median of the rounds, since the machine's speed changes from one to the next."""
    own = next(one for one in found["contenders"] if one["contender"] == OURS)
    texts = []
    for other in found["contenders"]:
        if other is own or other["contender"].endswith("32-bit"):
            continue
        text = f"{OURS}, against {other['contender']}: LAS {own['las'] - other['las']:+.2f}, "
        faster = statistics.median(ours / theirs for ours, theirs in zip(own["speeds"], other["speeds"], strict=True))
        text += f"{faster:.2f} times the speed, {own['with_startup'] / other['with_startup']:.2f} times with start-up."
        behind = [
            f"{name} ({own[key]:{form}} against {other[key]:{form}})"
            for key, (name, form, better) in MEASURES.items()
            if better * own[key] < better * other[key]
        ]
        texts.append(f"{text} Behind in {', '.join(behind)}." if behind else f"{text} Behind in nothing measured.")
    return texts


def draw(measured: list[dict[str, Any]]) -> None:
    """LAS against speed, one panel per treebank."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "longarc"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(measured), figsize=(5.2 * len(measured), 4), squeeze=False)
    colours = {"longarc": "#0072b2", "spacy": "#d55e00", "udpipe": "#009e73"}
    for panel, found in zip(panels[0], measured, strict=True):
        for one in found["contenders"]:
            panel.scatter(one["speed"], one["las"], color=colours[one["kind"]], s=40, zorder=3)
            label = one["contender"].replace("Longarc,", "Longarc").partition(", 2 p")[0]
            below = one["contender"].endswith("8-bit") or one["kind"] == "udpipe"  # others have theirs above
            where = {"xytext": (0, -16 if below else 7), "textcoords": "offset points", "ha": "center", "fontsize": 9}
            panel.annotate(label, (one["speed"], one["las"]), **where)
        for preset in PRESETS:
            both = [one for one in found["contenders"] if one["contender"].startswith(f"Longarc, {preset},")]
            panel.plot([one["speed"] for one in both], [one["las"] for one in both], color=colours["longarc"], lw=1)
        panel.set(title=found["treebank"], xlabel="tokens per second", ylabel="LAS")
        panel.margins(y=0.15)
        panel.set_xlim(0, 1.2 * max(one["speed"] for one in found["contenders"]))
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
