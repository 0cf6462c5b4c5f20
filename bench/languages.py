"""Score the models of many languages beside UDPipe 1, trained on the same files.

For each recipe in models/languages: accuracy on gold words and from raw text, speed and size. UDPipe is trained first
if its model is not in the work folder yet. Each language is a line of the JSON file as soon as it is measured, and is
not measured again. See contenders.py for the method.

    pip install ufal.udpipe
    longarc build models/languages --out BUILD
    python bench/languages.py --models BUILD --work DIR --json bench/results/languages.jsonl
    python bench/languages.py --report bench/results/languages.jsonl      # writes docs/languages.md
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import measure_raw_text, measure_scores, size_of
from contenders import CHECKOUT, Contender, Task, build_once, measure_in_turn, summary, write_sentences
from train_peers import train_udpipe

if TYPE_CHECKING:
    from longarc import Sentence
    from longarc.training.recipe import Recipe

RECIPES = CHECKOUT / "models" / "languages"
PAGE = CHECKOUT / "docs" / "languages.md"
OURS, UDPIPE = "Longarc", "UDPipe 1"
GOLD = {"upos": "UPOS", "lemma": "lemmas", "uas": "UAS", "las": "LAS"}
RAW = {"words": "words", "sentences": "sentences", "las": "LAS"}


def main() -> None:
    arguments = parse_arguments()
    if arguments.report:
        write_page(read_lines(arguments.report))
        return
    done = {line["model"] for line in read_lines(arguments.json)}
    arguments.work.mkdir(parents=True, exist_ok=True)
    for path in sorted(RECIPES.glob("*.toml")):
        model = arguments.models / path.stem / f"{path.stem}-int8.longarc"
        if path.stem not in done and model.exists():
            line = measure_language(path, model, arguments)
            with arguments.json.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            print(json.dumps(line, ensure_ascii=False), flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--models", type=Path, help="the folder given to `longarc build --out`")
    parser.add_argument("--work", type=Path, help="folder for the models of UDPipe, outside the checkout")
    parser.add_argument("--json", type=Path, help="file for the measurements, one line for each language")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each parser, alternating (default: 3)")
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of each parser (default: 2)")
    parser.add_argument("--report", type=Path, help="write docs/languages.md from this JSON file")
    arguments = parser.parse_args()
    if not arguments.report and None in (arguments.models, arguments.work, arguments.json):
        parser.error("expected --models, --work and --json, or --report")
    return arguments


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the measurements of a file; none if there is no file yet."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def measure_language(path: Path, model: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return all measurements of a language."""
    from longarc.runtime.model_file import read_card
    from longarc.training.recipe import read_recipe

    recipe, _ = read_recipe(path)
    with tempfile.TemporaryDirectory(dir=arguments.work) as temporary:
        folder = Path(temporary)
        train, dev, test = read_splits(recipe)
        files = [write_sentences(folder / f"{name}.conllu", part) for name, part in (("train", train), ("dev", dev))]
        udpipe = build_once(train_udpipe, arguments.work / f"{path.stem}.udpipe", *files)
        contenders = [
            Contender(OURS, "longarc", "longarc", model),
            Contender(UDPIPE, "ufal.udpipe", "udpipe", udpipe, arguments.threads),
        ]
        words = sum(map(len, test))
        task = Task(write_sentences(folder / "test.conllu", test), folder / "out.conllu", words, arguments.threads)
        runs = measure_in_turn(contenders, task, arguments.rounds)
        gold = {contender.name: measure_scores(contender, task) for contender in contenders}
        raw = measure_raw_text(contenders, test, folder, arguments.threads)
    card = read_card(model)
    return {
        "model": path.stem,
        **{key: card.get(key, "") for key in ("treebank", "licence", "attribution")},
        "train_words": sum(map(len, train)),
        "test_words": words,
        "gold": gold,
        "raw": {row.pop("contender"): row for row in raw},
        "speed": {contender.name: summary(contender, rounds)["speed"] for contender, rounds in runs.items()},
        "size_mb": {contender.name: size_of(contender.model) / 1e6 for contender in contenders},
        "has_lemmas": any(word[2] != "_" for sentence in test for word in sentence.word_rows),
    }


def read_splits(recipe: Recipe) -> tuple[list[Sentence], list[Sentence], list[Sentence]]:
    """Return training, development and test data as `longarc build` uses them, converted to CoNLL-U, and with the usual
    spaces if the treebank does not record any: UDPipe's tokenizer needs them."""
    from longarc import read_all
    from longarc.data.conllx import to_conllu
    from longarc.data.usual_spacing import with_spaces

    train, dev, test = (
        []
        if path is None
        else list(with_spaces([to_conllu(sentence) for sentence in read_all(path, encoding=recipe.encoding)]))
        for path in (recipe.train, recipe.dev, recipe.test)
    )
    size = round(recipe.dev_fraction * len(train))
    return (train[:-size], train[-size:], test) if size else (train, dev, test)


def write_page(lines: list[dict[str, Any]]) -> None:
    """Write docs/languages.md."""
    lines = sorted(lines, key=lambda line: line["treebank"])
    parts = [
        "# Languages",
        "Generated by `python bench/languages.py --report bench/results/languages.jsonl`. The docstring of "
        "[bench/languages.py](../bench/languages.py) has the commands that build and measure the models.",
        "All models are trained with the preset `fast` and subword vectors, in 8 bits, by the recipes in "
        "[models/languages](../models/languages). UDPipe 1 is trained on the same files without vectors; see "
        "[Benchmarks](benchmarks.md). Of two figures, the first is Longarc's, the second UDPipe's. Everything is "
        "measured on the test set. Speed is that of the gold words, with two threads or processes.",
        "## Gold words",
        "Punctuation and subtypes of relations count.",
        table(lines, "gold", GOLD),
        "## Raw text",
        "F1 by the rules of CoNLL 2018, without subtypes. A blank line separates paragraphs. The treebanks of Ancient "
        "Greek, Danish, Dutch, Swedish and Vietnamese do not record spaces: their text has the usual ones, where "
        "punctuation adjoins words, both in training and here.",
        table(lines, "raw", RAW),
        "## Sizes, speed and licences",
        details(lines),
    ]
    behind = list(behind_udpipe(lines))
    parts += ["## Where UDPipe 1 is ahead", "\n".join(f"- {text}" for text in behind) or "In none of these figures."]
    PAGE.write_text("\n\n".join(parts) + "\n", "utf-8")
    print(PAGE)


def table(lines: list[dict[str, Any]], key: str, measures: dict[str, str]) -> str:
    """Return a row of scores for each language, Longarc's and UDPipe's."""
    rows = [f"| treebank | {' | '.join(measures.values())} |", "|---|" + "---:|" * len(measures)]
    for line in lines:
        cells = [f"{line[key][OURS][name]:.2f} / {line[key][UDPIPE][name]:.2f}" for name in measures]
        if not line["has_lemmas"]:
            cells = ["–" if name == "lemma" else cell for name, cell in zip(measures, cells, strict=True)]
        rows.append(f"| {line['treebank']} | {' | '.join(cells)} |")
    return "\n".join(rows)


def details(lines: list[dict[str, Any]]) -> str:
    """Return a row for each language with the model's name, training words, size, speed and licence."""
    rows = ["| model | training words | MB | words/s | licence | attribution |", "|---|---:|---:|---:|---|---|"]
    for line in lines:
        sizes, speeds = line["size_mb"], line["speed"]
        rows.append(
            f"| `{line['model']}` | {line['train_words']:,} | {sizes[OURS]:.1f} / {sizes[UDPIPE]:.1f} "
            f"| {speeds[OURS]:,.0f} / {speeds[UDPIPE]:,.0f} | {line['licence']} | {line['attribution']} |"
        )
    return "\n".join(rows)


def behind_udpipe(lines: list[dict[str, Any]]) -> list[str]:
    """Return a text for each score in which UDPipe is ahead."""
    return [
        f"{line['treebank']}, {kind}: {name} {line[key][OURS][measure]:.2f} against {line[key][UDPIPE][measure]:.2f}"
        for line in lines
        for key, kind, measures in (("gold", "gold words", GOLD), ("raw", "raw text", RAW))
        for measure, name in measures.items()
        if (measure != "lemma" or line["has_lemmas"]) and line[key][OURS][measure] < line[key][UDPIPE][measure]
    ]


if __name__ == "__main__":
    main()
