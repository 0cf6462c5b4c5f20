"""Compare the accuracy and speed of Longarc (presets, 32 and 8 bits), spaCy, UDPipe 1 and SuPar, trained on the same
files.

Trains the models that are not in the work folder yet, which takes hours; an interrupted Longarc training is resumed.
All parsers read the gold words of the test file and predict the tags themselves. See contenders.py for the method.

    pip install spacy ufal.udpipe supar
    longarc fetch-treebank eu_bdt_v1.4 en_ewt en_glove100
    python bench/benchmarks.py eu_bdt_v1.4 --work DIR --json bench/results/eu_bdt_v1.4.json
    python bench/benchmarks.py en_ewt --work DIR --json FILE --vectors treebanks/en_glove100/glove100.top100k.vec
    python bench/benchmarks.py en_ewt … --encoder treebanks/en_minilm     # with the preset transformer
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
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from train_peers import PEER_OPTIONS, train_spacy, train_supar, train_udpipe

if TYPE_CHECKING:
    from longarc import Sentence

PRESETS = ("fast", "base", "transformer", "paper")
MEASURES = {
    "uas": ("UAS", ".2f", 1),
    "las": ("LAS", ".2f", 1),
    "upos": ("UPOS", ".2f", 1),
    "lemma": ("lemmas", ".2f", 1),
    "speed": ("tokens/s", ",.0f", 1),
    "startup": ("start-up s", ".2f", -1),
    "peak_mb": ("peak MB", ",.0f", -1),
    "size_mb": ("model MB", ",.1f", -1),
}
"""Name, format, and 1 if more is better or -1 if less is."""
RAW_MEASURES = {
    "words": "words",
    "sentences": "sentences",
    "upos": "UPOS",
    "lemmas": "lemmas",
    "uas": "UAS",
    "las": "LAS",
}
NOT_PREDICTED = {"upos": ("SuPar",), **dict.fromkeys(("lemma", "lemmas"), ("spaCy", "paper", "SuPar"))}
"""Parts of the names of contenders that do not predict a column."""
PAGE = CHECKOUT / "docs" / "benchmarks.md"
PICTURE = PAGE.with_suffix(".svg")
OPTIONS = {
    "longarc": "Longarc: `longarc train TRAIN --dev DEV --preset … --quantize`. The preset `paper` is the network of "
    "2018. It reads no characters, so without word vectors it learns little about rich morphology.",
    **PEER_OPTIONS,
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
        source = write_sentences(folder / "input.conllu", test * arguments.repeat)
        task = Task(source, folder / "output.conllu", sum(map(len, test)) * arguments.repeat, arguments.threads)
        runs = measure_in_turn(contenders, task, arguments.rounds)
        once = Task(gold, folder / "once.conllu", sum(map(len, test)), arguments.threads)
        scores = {contender: measure_scores(contender, once) for contender in contenders}
        raw = measure_raw_text(contenders, test, folder, arguments.threads)
    results = {
        "title": arguments.title or arguments.treebank.name,
        "treebank": arguments.treebank.name,
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
        "raw_text": raw,
        "contenders": [
            {**summary(contender, rounds), **scores[contender], "size_mb": size_of(contender.model) / 1e6}
            for contender, rounds in runs.items()
        ],
    }
    text = json.dumps(results, indent=1, ensure_ascii=False)
    print(text)
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(text + "\n", "utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", nargs="?", type=find_treebank, help="folder with train, dev and test files")
    parser.add_argument("--work", type=Path, help="folder for the models, outside the checkout")
    parser.add_argument("--vectors", type=Path, help="word vectors for all parsers, in word2vec text format")
    parser.add_argument("--encoder", type=Path, help="pretrained encoder for the preset transformer, left out without")
    parser.add_argument("--presets", nargs="+", default=list(PRESETS), help="Longarc presets (default: all)")
    parser.add_argument("--bits", nargs="+", type=int, default=[32, 8], help="precisions of Longarc (default: 32 8)")
    parser.add_argument(
        "--others", nargs="*", default=["spacy", "udpipe"], help="spacy, udpipe, supar (default: spacy udpipe)"
    )
    parser.add_argument("--repeat", type=int, default=2, help="copies of the test file in the timed input (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each parser, alternating (default: 3)")
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of each parser (default: 2)")
    parser.add_argument("--title", default="", help="heading of the page's section (default: the treebank)")
    parser.add_argument("--remark", default="", help="text for the page, if the models were made in another way")
    parser.add_argument("--json", type=Path, help="also write the measurements to this file")
    parser.add_argument("--report", type=Path, nargs="+", help="write docs/benchmarks.md from these JSON files")
    arguments = parser.parse_args()
    if not arguments.report and (arguments.treebank is None or arguments.work is None):
        parser.error("expected a treebank and --work, or --report")
    if arguments.work is not None and arguments.work.resolve().is_relative_to(CHECKOUT):
        parser.error(f"--work: {arguments.work} is inside the checkout")
    if arguments.encoder is None:
        arguments.presets = [preset for preset in arguments.presets if preset != "transformer"]
    return arguments


# ---------------------------------------------------------------------------------------------------------------------
# Training.


def prepare_contenders(arguments: argparse.Namespace, train: Path, dev: Path) -> list[Contender]:
    """Return all contenders; train those that have no model in the work folder."""
    name, threads, work = arguments.treebank.name, arguments.threads, arguments.work
    contenders = []
    for preset in arguments.presets:
        train_longarc(work / f"{name}-{preset}", preset, train, dev, arguments)
    for bits in arguments.bits:  # similar models run one after the other
        for preset in arguments.presets:
            end = "-int8" if bits == 8 else ""
            model = work / f"{name}-{preset}" / f"{name}-{preset}{end}.longarc"
            contenders.append(Contender(f"Longarc, {preset}, {bits}-bit", "longarc", "longarc", model))
    vectors = [arguments.vectors] if arguments.vectors else []
    if "spacy" in arguments.others:
        spacy = build_once(train_spacy, work / f"{name}-spacy", train, dev, *vectors)
        contenders.append(Contender("spaCy", "spacy", "spacy", spacy))
    if "udpipe" in arguments.others:
        udpipe = build_once(train_udpipe, work / f"{name}.udpipe", train, dev, *vectors)
        contenders.append(Contender(f"UDPipe 1, {threads} processes", "ufal.udpipe", "udpipe", udpipe, threads))
    if "supar" in arguments.others:
        supar = build_once(train_supar, work / f"{name}.supar", train, dev, *vectors)
        contenders.append(Contender("SuPar, biaffine", "supar", "supar", supar))
    return contenders


def train_longarc(folder: Path, preset: str, train: Path, dev: Path, arguments: argparse.Namespace) -> None:
    """Run `longarc train` unless the models exist."""
    if (folder / f"{folder.name}-int8.longarc").exists():
        return
    command = [LONGARC, "train", str(train), "--dev", str(dev), "--preset", preset, "--out", str(folder)]
    command += ["--quantize", "--threads", str(arguments.threads)]
    if preset == "transformer":
        command += ["--encoder", str(arguments.encoder)]
    elif arguments.vectors:
        command += ["--vectors", str(arguments.vectors)]
    command += ["--resume"] if (folder / "checkpoint.safetensors").exists() else []
    print(shlex.join(command), file=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)


# ---------------------------------------------------------------------------------------------------------------------
# Measuring.


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
    """Return the scores of each contender from raw text: F1 by the rules of CoNLL 2018.

    A blank line separates paragraphs. A test set that does not record spaces has the usual ones.
    """
    from longarc import read_all
    from longarc.data.usual_spacing import with_spaces
    from longarc.evaluation.conventions import Conventions
    from longarc.evaluation.measures import score_sentences
    from longarc.training.train_tokenizer import labelled_text

    source = folder / "raw.txt"
    source.write_text(labelled_text(with_spaces(test)).text, "utf-8")
    task = Task(source, folder / "raw.conllu", sum(map(len, test)), threads)
    rows = []
    for contender in contenders:
        if contender.load == "supar":  # it reads words
            continue
        measure(contender, task)
        scores = score_sentences(test, read_all(task.output), Conventions("count", "universal"))
        rows.append({"contender": contender.name, **{name: scores[name].f1 for name in RAW_MEASURES}})
    return rows


def size_of(model: Path) -> int:
    """Return the size in bytes of a file or of all files in a folder."""
    return sum(path.stat().st_size for path in (model.rglob("*") if model.is_dir() else [model]) if path.is_file())


# ---------------------------------------------------------------------------------------------------------------------
# The page.


def write_page(treebanks: list[dict[str, Any]]) -> None:
    """Write docs/benchmarks.md and its picture."""
    parts = [
        "# Benchmarks",
        "Generated by `python bench/benchmarks.py --report bench/results/*.json`. The docstring of "
        "[bench/benchmarks.py](../bench/benchmarks.py) has the commands that measured each treebank.",
        f"![LAS against tokens per second]({PICTURE.name})",
        "All parsers read the gold words of the test file and predict the tags themselves. Punctuation and subtypes of "
        "relations count. Speed covers reading, tagging, parsing and writing a file, without loading the model (median "
        "and range); the column *with start-up* includes loading. The parsers alternate on the same machine. Its speed "
        "changes over time, so a speed ratio is the median of the ratios of all rounds.",
        "\n".join(f"- {text}" for text in OPTIONS.values()),
    ]
    for results in treebanks:
        parts += [f"## {results['title']}", describe_setup(results), table(results)]
        parts.append("\n".join(f"- {text}" for text in compare_with_others(results)))
        if results.get("raw_text"):
            parts += ["From raw text, F1 by the rules of CoNLL 2018 (no subtypes):", raw_table(results["raw_text"])]
    PAGE.write_text("\n\n".join(part for part in parts if part) + "\n", "utf-8")
    draw(treebanks)
    print(PAGE, PICTURE, sep="\n")


def describe_setup(results: dict[str, Any]) -> str:
    """Return a paragraph about the data, the machine and the rounds."""
    vectors = f" Word vectors: {results['vectors']} (not for the preset transformer)." if results["vectors"] else ""
    return (
        f"Test file: {results['words']:,} words; training file: {results['train_words']:,} words.{vectors} "
        f"{results['threads']} threads, {results['cores']} cores, {results['machine']}, Python {results['python']}. "
        f"Medians of {results['rounds']} rounds over {results['repeat']} copies of the test file. "
        f"{results.get('remark', '')}"
    ).strip()


def table(results: dict[str, Any]) -> str:
    """Return the measurements of all parsers as a Markdown table."""
    head = ["parser", "version", "UAS", "LAS", "UPOS", "lemmas", "tokens/s", "range", "with start-up"]
    head += ["start-up s", "peak MB", "model MB"]
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "---:|" * (len(head) - 2)]
    row = (
        "| {contender} | {version} | {uas:.2f} | {las:.2f} | {upos_cell} | {lemma_cell} | {speed:,.0f} "
        "| {slowest:,.0f}–{fastest:,.0f} | {with_startup:,.0f} | {startup:.2f} | {peak_mb:,.0f} | {size_mb:,.1f} |"
    )
    for one in results["contenders"]:
        lines.append(row.format(**one, **{f"{key}_cell": score_cell(one, key) for key in ("upos", "lemma")}))
    return "\n".join(lines)


def raw_table(rows: list[dict[str, Any]]) -> str:
    """Return the scores from raw text as a Markdown table."""
    lines = [f"| parser | {' | '.join(RAW_MEASURES.values())} |", "|---|" + "---:|" * len(RAW_MEASURES)]
    for row in rows:
        cells = (score_cell(row, name) for name in RAW_MEASURES)
        lines.append(f"| {row['contender']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def score_cell(row: dict[str, Any], key: str) -> str:
    """Return a score, if it was measured and the contender predicts the column."""
    return f"{row[key]:.2f}" if key in row and is_predicted(row["contender"], key) else "–"


def is_predicted(contender: str, key: str) -> bool:
    """Return whether a contender predicts what a score measures."""
    return not any(part in contender for part in NOT_PREDICTED.get(key, ()))


def compare_with_others(results: dict[str, Any]) -> list[str]:
    """Return a sentence for each 8-bit model of Longarc and each other parser, with every measure in which Longarc is
    worse."""
    ours = [one for one in results["contenders"] if one["contender"].endswith("8-bit")]
    others = [one for one in results["contenders"] if one["kind"] != "longarc"]
    return [compare_pair(one, other) for one in ours for other in others]


def compare_pair(ours: dict[str, Any], other: dict[str, Any]) -> str:
    """Return a sentence about a model of Longarc and another parser."""
    text = f"{ours['contender']}, against {other['contender']}: LAS {ours['las'] - other['las']:+.2f}, "
    ratio = statistics.median(a / b for a, b in zip(ours["speeds"], other["speeds"], strict=True))
    text += f"{ratio:.2f} times the speed, {ours['with_startup'] / other['with_startup']:.2f} times with start-up."
    worse = [
        f"{name} ({ours[key]:{form}} against {other[key]:{form}})"
        for key, (name, form, better) in MEASURES.items()
        if better * ours.get(key, 0) < better * other.get(key, 0) and is_predicted(other["contender"], key)
    ]
    return f"{text} Worse: {', '.join(worse)}." if worse else f"{text} Worse in no measure."


def draw(treebanks: list[dict[str, Any]]) -> None:
    """Plot LAS against speed, one panel per treebank."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "longarc"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(treebanks), figsize=(5.2 * len(treebanks), 4), squeeze=False)
    colours = {"longarc": "#0072b2", "spacy": "#d55e00", "udpipe": "#009e73", "supar": "#cc79a7"}
    for panel, results in zip(panels[0], treebanks, strict=True):
        for one in results["contenders"]:
            panel.scatter(one["speed"], one["las"], color=colours[one["kind"]], s=40, zorder=3)
            label = one["contender"].replace("Longarc,", "Longarc").partition(", 2 p")[0]
            below = one["contender"].endswith("8-bit") or one["kind"] == "udpipe"  # where labels do not overlap
            position = {
                "xytext": (0, -16 if below else 7),
                "textcoords": "offset points",
                "ha": "center",
                "fontsize": 9,
            }
            panel.annotate(label, (one["speed"], one["las"]), **position)
        for preset in PRESETS:
            pair = [one for one in results["contenders"] if one["contender"].startswith(f"Longarc, {preset},")]
            panel.plot([one["speed"] for one in pair], [one["las"] for one in pair], color=colours["longarc"], lw=1)
        panel.set(title=results["title"], xlabel="tokens per second", ylabel="LAS")
        panel.margins(y=0.15)
        panel.set_xlim(0, 1.2 * max(one["speed"] for one in results["contenders"]))
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
