"""Compare the accuracy and speed of Longarc (presets, 32 and 8 bits), spaCy, UDPipe 1 and SuPar, trained on the same
files.

Trains the models that are not in the work folder yet, which takes hours; an interrupted Longarc training is resumed.
All parsers read the gold words of the test file and predict the tags themselves. See contenders.py for the method.
Results are added to those in the JSON file, so the parsers can be scored one by one. Their speeds are only comparable
if they are measured in one run; with --brief, that run uses models of the same sizes that are trained for minutes.

    pip install spacy ufal.udpipe supar
    longarc fetch-treebank eu_bdt_v1.4 en_ewt en_glove100 en_minilm
    python bench/benchmarks.py eu_bdt_v1.4 --work DIR --json bench/results/eu_bdt_v1.4.json --rounds 0
    python bench/benchmarks.py eu_bdt_v1.4 --work DIR --json bench/results/eu_bdt_v1.4.json --brief
    python bench/benchmarks.py en_ewt … --vectors treebanks/en_glove100/glove100.top100k.vec --encoder DIR
    python bench/benchmarks.py --report bench/results/e*.json     # writes docs/benchmarks.md and its picture
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
from importlib.metadata import version
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
PEERS = {
    "spacy": ("spaCy", "spacy", train_spacy),
    "udpipe": ("UDPipe 1", "ufal.udpipe", train_udpipe),
    "supar": ("SuPar", "supar", train_supar),
}
"""By loader: the name of the parser, its package, and how to train it"""
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
    parser.add_argument("--parsers", nargs="+", default=[*PRESETS, *PEERS], help="presets, and others (default: all)")
    parser.add_argument("--bits", nargs="+", type=int, default=[32, 8], help="precisions of Longarc (default: 32 8)")
    parser.add_argument("--vectors", type=Path, help="word vectors for all parsers, in word2vec text format")
    parser.add_argument("--encoder", type=Path, help="pretrained encoder for the preset transformer, left out without")
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
    for bits in arguments.bits:  # similar models run one after the other
        for preset in presets:
            end = "-int8" if bits == 8 else ""
            model = work / f"{name}-{preset}" / f"{name}-{preset}{end}.longarc"
            contenders.append(Contender(f"Longarc, {preset}, {bits}-bit", "longarc", "longarc", model))
    for peer, (title, package, build) in PEERS.items():
        if peer in arguments.parsers:
            model = build_once(build, work / f"{name}-{peer}", train, dev, arguments.vectors, arguments.brief)
            processes = threads if peer == "udpipe" else 1
            contenders.append(Contender(title, package, peer, model, processes))
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
    if arguments.brief:
        command += ["--set", "epochs=1", "--set", "min_updates=0", "--set", "tokenizer_steps=0"]
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
    return {
        "brief": arguments.brief,
        **{name: getattr(arguments, name) for name in ("threads", "rounds", "repeat")},
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "contenders": {contender.name: summary(contender, rounds) for contender, rounds in runs.items()},
    }


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
        "Generated by `python bench/benchmarks.py --report bench/results/e*.json`. The docstring of "
        "[bench/benchmarks.py](../bench/benchmarks.py) has the commands that measured each treebank.",
        f"![LAS against tokens per second]({PICTURE.name})",
        "All parsers read the gold words of the test file and predict the tags themselves. Punctuation and subtypes of "
        "relations count. Speed covers reading, tagging, parsing and writing a file, without loading the model (median "
        "and range); the column *with start-up* includes loading. The parsers alternate on the same machine. Its speed "
        "changes over time, so a speed ratio is the median of the ratios of all rounds.",
        "\n".join(f"- {text}" for text in OPTIONS.values()),
    ]
    for results in treebanks:
        rows = merge(results)
        parts += [f"## {results['treebank']}", describe_setup(results), table(rows)]
        parts.append("\n".join(f"- {text}" for text in compare_with_others(rows)))
        if results.get("raw_text"):
            raw = [{"contender": name, **scores} for name, scores in results["raw_text"].items()]
            parts += ["From raw text, F1 by the rules of CoNLL 2018 (no subtypes):", raw_table(raw)]
    PAGE.write_text("\n\n".join(part for part in parts if part) + "\n", "utf-8")
    draw({results["treebank"]: merge(results) for results in treebanks})
    print(PAGE, PICTURE, sep="\n")


def merge(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the scores and the speed of each contender, as far as they were measured."""
    speeds = results.get("speed", {}).get("contenders", {})
    scores = results.get("scores", {})
    return [{"contender": name, **speeds.get(name, {}), **scores.get(name, {})} for name in {**scores, **speeds}]


def describe_setup(results: dict[str, Any]) -> str:
    """Return a paragraph about the data, the machine and the rounds."""
    parts = [f"Test file: {results['words']:,} words; training file: {results['train_words']:,} words."]
    if results["vectors"]:
        parts.append(f"Word vectors: {results['vectors']} (not for the preset transformer).")
    if speed := results.get("speed"):
        parts.append(
            f"Speed: {speed['threads']} threads, {speed['cores']} cores, {speed['machine']}, Python {speed['python']}, "
            f"medians of {speed['rounds']} rounds over {speed['repeat']} copies of the test file."
        )
        if speed["brief"]:
            parts.append("It was measured with models of the same sizes that were trained for minutes.")
    return " ".join([*parts, results.get("remark", "")]).strip()


def table(rows: list[dict[str, Any]]) -> str:
    """Return the measurements of all parsers as a Markdown table."""
    columns = {
        **{"parser": "{contender}", "version": "{version}", "UAS": "{uas:.2f}", "LAS": "{las:.2f}"},
        **{"UPOS": "{upos:.2f}", "lemmas": "{lemma:.2f}", "tokens/s": "{speed:,.0f}"},
        **{"range": "{slowest:,.0f}–{fastest:,.0f}", "with start-up": "{with_startup:,.0f}"},
        **{"start-up s": "{startup:.2f}", "peak MB": "{peak_mb:,.0f}", "model MB": "{size_mb:,.1f}"},
    }
    lines = [f"| {' | '.join(columns)} |", "|---|---|" + "---:|" * (len(columns) - 2)]
    for row in rows:
        known = {key: value for key, value in row.items() if is_predicted(row["contender"], key)}
        lines.append(f"| {' | '.join(cell(form, known) for form in columns.values())} |")
    return "\n".join(lines)


def cell(form: str, values: dict[str, Any]) -> str:
    """Return a formatted value, or a dash if it was not measured."""
    try:
        return form.format(**values)
    except KeyError:
        return "–"


def raw_table(rows: list[dict[str, Any]]) -> str:
    """Return the scores from raw text as a Markdown table."""
    lines = [f"| parser | {' | '.join(RAW_MEASURES.values())} |", "|---|" + "---:|" * len(RAW_MEASURES)]
    for row in rows:
        known = {key: value for key, value in row.items() if is_predicted(row["contender"], key)}
        cells = [cell(f"{{{name}:.2f}}", known) for name in RAW_MEASURES]
        lines.append(f"| {row['contender']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def is_predicted(contender: str, key: str) -> bool:
    """Return whether a contender predicts what a score measures."""
    return not any(part in contender for part in NOT_PREDICTED.get(key, ()))


def compare_with_others(rows: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each 8-bit model of Longarc and each other parser, with every measure in which Longarc is
    worse."""
    ours = [row for row in rows if row["contender"].endswith("8-bit")]
    others = [row for row in rows if not row["contender"].startswith("Longarc")]
    return [compare_pair(one, other) for one in ours for other in others]


def compare_pair(ours: dict[str, Any], other: dict[str, Any]) -> str:
    """Return a sentence about a model of Longarc and another parser."""
    text = f"{ours['contender']}, against {other['contender']}: LAS {ours['las'] - other['las']:+.2f}"
    if "speeds" in ours and "speeds" in other:
        ratio = statistics.median(a / b for a, b in zip(ours["speeds"], other["speeds"], strict=True))
        with_startup = ours["with_startup"] / other["with_startup"]
        text += f", {ratio:.2f} times the speed, {with_startup:.2f} times with start-up"
    worse = [
        f"{name} ({ours[key]:{form}} against {other[key]:{form}})"
        for key, (name, form, better) in MEASURES.items()
        if key in ours and key in other and better * ours[key] < better * other[key]
        if is_predicted(ours["contender"], key) and is_predicted(other["contender"], key)
    ]
    return f"{text}. Worse: {', '.join(worse)}." if worse else f"{text}. Worse in no measure."


def draw(treebanks: dict[str, list[dict[str, Any]]]) -> None:
    """Plot LAS against speed, one panel per treebank."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "longarc"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(treebanks), figsize=(5.2 * len(treebanks), 4), squeeze=False)
    colours = {"longarc": "#0072b2", "spacy": "#d55e00", "udpipe": "#009e73", "supar": "#cc79a7"}
    for panel, (treebank, rows) in zip(panels[0], treebanks.items(), strict=True):
        rows = [row for row in rows if "speed" in row and "las" in row]
        for one in rows:
            panel.scatter(one["speed"], one["las"], color=colours[one["kind"]], s=40, zorder=3)
            label = one["contender"].replace("Longarc,", "Longarc")
            below = one["contender"].endswith("8-bit") or one["kind"] == "udpipe"  # where labels do not overlap
            position = {
                "xytext": (0, -16 if below else 7),
                "textcoords": "offset points",
                "ha": "center",
                "fontsize": 9,
            }
            panel.annotate(label, (one["speed"], one["las"]), **position)
        for preset in PRESETS:
            pair = [one for one in rows if one["contender"].startswith(f"Longarc, {preset},")]
            panel.plot([one["speed"] for one in pair], [one["las"] for one in pair], color=colours["longarc"], lw=1)
        panel.set(title=treebank, xlabel="tokens per second", ylabel="LAS")
        panel.margins(y=0.15)
        panel.set_xlim(0, 1.2 * max(one["speed"] for one in rows))
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
