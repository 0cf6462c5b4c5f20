"""Compare the models of many languages with UDPipe 1, trained on the same files, and with published figures.

The models are those in packages/longarc-models, the English one, and those that `longarc build` made from
models/noncommercial. UDPipe is trained unless its model is in the work folder. A language is one line of the JSON file
as soon as it is measured, and is not measured again. Longarc's scores are those on the models' cards, which `longarc
build` writes. See contenders.py for the method.

    pip install ufal.udpipe
    python bench/languages.py --work DIR --json bench/results/languages.jsonl --rounds 0
    python bench/languages.py --work DIR --json bench/results/languages.jsonl      # adds speeds; on a quiet machine
    python bench/languages.py … --models uk_parlamint BUILD/eu_bdt/eu_bdt-int8.longarc      # only these
    python bench/languages.py --report bench/results/languages.jsonl      # writes docs/languages.md
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import measure_raw_text, measure_scores, size_of
from contenders import CHECKOUT, Contender, Task, build_once, measure_in_turn, summary, write_sentences
from longarc.data.languages import LANGUAGES
from longarc.runtime.model_file import read_card
from train_peers import train_udpipe

if TYPE_CHECKING:
    from longarc import Sentence
    from longarc.training.recipe import Recipe

PACKAGE = CHECKOUT / "packages" / "longarc-models" / "longarc_models"
ENGLISH = CHECKOUT / "src" / "longarc" / "models" / "en_ewt.longarc"
PUBLISHED = CHECKOUT / "bench" / "published_scores.json"
RECOGNITION = CHECKOUT / "bench" / "results" / "language_recognition.json"
"""The results of language_recognition.py"""
PAGE = CHECKOUT / "docs" / "languages.md"
OURS, UDPIPE = "Longarc", "UDPipe 1"
GOLD = {"upos": "UPOS", "lemma": "lemmas", "uas": "UAS", "las": "LAS"}
RAW = {"words": "words", "sentences": "sentences", "las": "LAS"}
TWO_FIGURES = "Of two figures, the first is Longarc's, the second UDPipe's."


@dataclass(frozen=True)
class Language:
    """A model and what was measured beside it."""

    name: str
    card: dict[str, Any]
    megabytes: float
    udpipe: dict[str, Any] | None
    """The line of the JSON file, if there is one"""

    @property
    def has_lemmas(self) -> bool:
        return "test_lemma" in self.card["scores"]

    def scores(self, kind: str, measure: str) -> list[float]:
        """Return Longarc's score and, if measured, UDPipe's; none for a column that the treebank does not have."""
        if measure == "lemma" and not self.has_lemmas:
            return []
        ours = self.card["scores"][f"test_{measure}" if kind == "gold" else f"test_text_{measure}"]
        return [ours] if self.udpipe is None else [ours, self.udpipe[kind][measure]]


def main() -> None:
    arguments = parse_arguments()
    lines = read_lines(arguments.report or arguments.json)
    if arguments.report:
        write_page(shipped(lines), not_shipped(lines))
        return
    arguments.work.mkdir(parents=True, exist_ok=True)
    for path in map(find_model, arguments.models) if arguments.models else models():
        name = path.stem.removesuffix("-int8")
        line = lines.setdefault(name, {"model": name})
        if "gold" not in line or ("speed" not in line and arguments.rounds):
            line |= measure_language(name, path, line, arguments)
            text = "".join(json.dumps(lines[key], ensure_ascii=False) + "\n" for key in sorted(lines))
            arguments.json.write_text(text, "utf-8")
            print(json.dumps(line, ensure_ascii=False), flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--work", type=Path, help="folder for the models of UDPipe, outside the checkout")
    parser.add_argument("--json", type=Path, help="file for the measurements, one line for each language")
    parser.add_argument("--models", nargs="+", help="names or files of models (default: all in the checkout)")
    parser.add_argument(
        "--rounds", type=int, default=3, help="timed runs of each parser, alternating; 0: scores only (default: 3)"
    )
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of each parser (default: 2)")
    parser.add_argument("--report", type=Path, help="write docs/languages.md from this JSON file")
    arguments = parser.parse_args()
    if not arguments.report and None in (arguments.work, arguments.json):
        parser.error("expected --work and --json, or --report")
    return arguments


def models() -> list[Path]:
    """Return the models of the package, and the English model."""
    return sorted([*PACKAGE.glob("*.longarc"), ENGLISH], key=lambda path: path.stem)


def find_model(name: str) -> Path:
    """Return the model file with this path, or the model of the checkout with this name."""
    known = {path.stem: path for path in models()}
    return known.get(name) or Path(name)


def read_lines(path: Path) -> dict[str, dict[str, Any]]:
    """Return the measurements of a file by the name of the model; none if there is no file yet."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {line["model"]: line for line in map(json.loads, lines)}


def shipped(lines: dict[str, dict[str, Any]]) -> list[Language]:
    """Return the models in the checkout."""
    return [Language(path.stem, read_card(path), size_of(path) / 1e6, lines.get(path.stem)) for path in models()]


def not_shipped(lines: dict[str, dict[str, Any]]) -> list[Language]:
    """Return the measured models that are not in the checkout."""
    known = {path.stem for path in models()}
    return [
        Language(name, line["card"], line["longarc_mb"], line)
        for name, line in sorted(lines.items())
        if name not in known
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Measuring.


def measure_language(name: str, model: Path, line: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what a line does not have yet: the scores of UDPipe; the speed of both parsers, if it is to be measured.

    Also return the facts about Longarc's model that the page needs if the model is not in the checkout.
    """
    from longarc.training.recipe import read_recipe

    (path,) = (CHECKOUT / "models").rglob(f"{name}.toml")
    recipe, _ = read_recipe(path)
    with tempfile.TemporaryDirectory(dir=arguments.work) as temporary:
        folder = Path(temporary)
        train, dev, test = read_splits(recipe)
        files = [
            write_sentences(folder / f"{part}.conllu", sentences)
            for part, sentences in (("train", train), ("dev", dev))
        ]
        peer = build_once(train_udpipe, arguments.work / f"{name}.udpipe", *files)
        udpipe = Contender(UDPIPE, "ufal.udpipe", "udpipe", peer, arguments.threads)
        words = sum(map(len, test))
        task = Task(write_sentences(folder / "test.conllu", test), folder / "out.conllu", words, arguments.threads)
        card = read_card(model)
        measured: dict[str, Any] = {
            "train_words": sum(map(len, train)),
            "test_words": words,
            "card": {
                **{key: card[key] for key in ("treebank", "licence", "attribution")},
                "scores": {key: score for key, score in card["scores"].items() if key.startswith("test_")},
            },
            "longarc_mb": size_of(model) / 1e6,
            "size_mb": size_of(peer) / 1e6,
        }
        if "gold" not in line:
            measured["gold"] = measure_scores(udpipe, task)
            (raw,) = measure_raw_text([udpipe], test, folder, arguments.threads)
            measured["raw"] = {key: raw[key] for key in RAW}
        if arguments.rounds:
            runs = measure_in_turn([Contender(OURS, "longarc", "longarc", model), udpipe], task, arguments.rounds)
            measured["speed"] = {
                contender.name: summary(contender, rounds)["speed"] for contender, rounds in runs.items()
            }
    return measured


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


# ---------------------------------------------------------------------------------------------------------------------
# The page.


def write_page(languages: list[Language], others: list[Language]) -> None:
    """Write docs/languages.md."""
    measured = [language for language in [*languages, *others] if language.udpipe is not None]
    missing = ", ".join(f"`{language.name}`" for language in languages if language.udpipe is None)
    parts = [
        "# Languages",
        "Generated by `python bench/languages.py --report bench/results/languages.jsonl`. The docstring of "
        "[bench/languages.py](../bench/languages.py) has the commands that measure the models.",
        "English is part of Longarc. The other models are in the package "
        "[longarc-models](../packages/longarc-models/README.md): preset `fast`, subword vectors, 8 bits, made with the "
        "recipes in [models/languages](../models/languages). `longarc info NAME` prints the card of a model. "
        "UDPipe 1 is trained on the same files, without vectors; [Benchmarks](benchmarks.md) has its options. "
        f"Everything is measured on the test sets. {TWO_FIGURES}",
        f"UDPipe is not measured yet: {missing}." if missing else "",
        "## Gold words",
        "Punctuation and subtypes of relations count.",
        table(languages, "gold", GOLD),
        "## Raw text",
        "F1 by the rules of CoNLL 2018, without subtypes. A blank line separates paragraphs. The treebanks of Ancient "
        "Greek, Danish, Dutch, Italian, Swedish and Vietnamese do not record spaces: their text has the usual ones, "
        "where punctuation adjoins words, both in training and here.",
        table(languages, "raw", RAW),
        *published(languages),
        *beside(others),
        "## Where UDPipe 1 is ahead" if measured else "",
        "\n".join(f"- {text}" for text in behind_udpipe(measured)) or "In none of these figures." if measured else "",
        "## Sizes, speed and licences",
        f"Speed is that of parsing gold words with two threads or processes. {TWO_FIGURES}",
        details(languages),
        *recognition(),
    ]
    PAGE.write_text("\n\n".join(filter(None, parts)) + "\n", "utf-8")
    print(PAGE)


def beside(others: list[Language]) -> Iterator[str]:
    """Yield a section about the models that are not distributed, if any are measured."""
    if others:
        yield "## Models that are not distributed"
        yield (
            "The licences of these treebanks exclude commercial use. Their recipes are in "
            "[models/noncommercial](../models/noncommercial). Gold words, and raw text:"
        )
        yield table(others, "gold", GOLD)
        yield table(others, "raw", RAW)


def table(languages: list[Language], kind: str, measures: dict[str, str]) -> str:
    """Return a row of scores for each language."""
    rows = [f"| model | treebank | {' | '.join(measures.values())} |", "|---|---|" + "---:|" * len(measures)]
    for language in languages:
        cells = [" / ".join(f"{score:.2f}" for score in language.scores(kind, name)) or "–" for name in measures]
        rows.append(f"| `{language.name}` | {short_treebank(language)} | {' | '.join(cells)} |")
    return "\n".join(rows)


def short_treebank(language: Language) -> str:
    """Return the name of the treebank without its repository."""
    return str(language.card["treebank"]).partition(" (")[0]


def published(languages: list[Language]) -> Iterator[str]:
    """Yield a section with the published figures of other parsers, if there are any for these treebanks."""
    sources: list[dict[str, Any]] = json.loads(PUBLISHED.read_text("utf-8"))
    rows = []
    for language in languages:
        figures = [source["las"].get(language.name) for source in sources]
        if any(figures):
            cells = ["–" if las is None else f"{las:.2f}" for las in (language.scores("raw", "las")[0], *figures)]
            rows.append(f"| `{language.name}` | {' | '.join(cells)} |")
    if not rows:
        return
    yield "## Published figures of other parsers"
    yield (
        "LAS from raw text, F1 by the rules of CoNLL 2018, as the authors publish it. The versions of the "
        "treebanks differ, so the figures are not strictly comparable."
    )
    yield "\n".join(
        f"- {source['parser']}: [{source['title']}]({source['url']}). {source['remark']}" for source in sources
    )
    parsers = [OURS, *(source["parser"] for source in sources)]
    yield "\n".join([f"| model | {' | '.join(parsers)} |", "|---|" + "---:|" * len(parsers), *rows])


def details(languages: list[Language]) -> str:
    """Return a row for each language with the model's size, speed and licence."""
    rows = ["| model | MB | words/s | licence | attribution |", "|---|---:|---:|---|---|"]
    for language in languages:
        sizes, speeds = [f"{language.megabytes:.1f}"], []
        if language.udpipe is not None:
            sizes.append(f"{language.udpipe['size_mb']:.1f}")
        if language.udpipe is not None and "speed" in language.udpipe:
            speeds = [f"{language.udpipe['speed'][parser]:,.0f}" for parser in (OURS, UDPIPE)]
        cells = [" / ".join(sizes), " / ".join(speeds) or "–", language.card["licence"], language.card["attribution"]]
        rows.append(f"| `{language.name}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def recognition() -> Iterator[str]:
    """Yield a section about recognizing the language of a text, if that is measured."""
    if not RECOGNITION.exists():
        return
    results: dict[str, dict[str, Any]] = json.loads(RECOGNITION.read_text("utf-8"))
    lengths = list(next(iter(results.values()))["lengths"])
    rows = [f"| language | {' | '.join(lengths)} | mistaken for |", "|---|" + "---:|" * len(lengths) + "---|"]
    for language, result in results.items():
        shares = [share_right([result], length) for length in lengths]
        rows.append(f"| {LANGUAGES[language]} | {' | '.join(shares)} | {mistaken_for(result)} |")
    everything = " | ".join(f"**{share_right(results.values(), length)}**" for length in lengths)
    rows.append(f"| **all** | {everything} | |")
    yield "## Recognizing the language"
    yield (
        "Percentage of texts whose language `--lang auto` recognizes when all these models are installed, by the "
        "length of the text in characters. The texts are the beginnings of up to 300 test sentences per language "
        "(`python bench/language_recognition.py --json bench/results/language_recognition.json`)."
    )
    yield "\n".join(rows)


def share_right(results: Iterable[dict[str, Any]], length: str) -> str:
    """Return the percentage of texts of a length whose language is recognized."""
    counts = [result["lengths"][length] for result in results]
    texts = sum(count["texts"] for count in counts)
    return f"{100 * sum(count['right'] for count in counts) / texts:.1f}" if texts else "–"


def mistaken_for(result: dict[str, Any]) -> str:
    """Return the languages that a language is most often mistaken for."""
    return ", ".join(LANGUAGES[code] for code in result["mistaken_for"]) or "–"


def behind_udpipe(languages: list[Language]) -> list[str]:
    """Return a text for each score in which UDPipe is ahead."""
    texts = []
    for language in languages:
        for kind, title, measures in (("gold", "gold words", GOLD), ("raw", "raw text", RAW)):
            for measure, name in measures.items():
                scores = language.scores(kind, measure)
                if scores and scores[0] < scores[1]:
                    texts.append(f"{short_treebank(language)}, {title}: {name} {scores[0]:.2f} against {scores[1]:.2f}")
    return texts


if __name__ == "__main__":
    main()
