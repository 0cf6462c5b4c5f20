"""Compare the lemmas of packaged models with those of UDPipe 1, on gold words of the test sets.

UDPipe's tagger is trained on the same files as each model, with the options of train_peers.py, unless it is in the work
folder. Its parser, which takes much longer to train, plays no part in the lemmas. Each model is one line of the JSON
file.

    pip install ufal.udpipe
    python bench/lemmas.py --work DIR --json bench/results/lemmas.jsonl en_ewt pt_bosque fr_sequoia \\
        BUILD/eu_bdt/eu_bdt-int8.longarc BUILD/tr_imst/tr_imst-int8.longarc
    python bench/benchmarks.py --report bench/results/e*.json     # shows them in docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measure_scores
from contenders import CHECKOUT, Contender, Task, build_once, write_sentences
from languages import find_model, read_lines, read_splits
from longarc.runtime.model_file import read_card
from train_peers import train_udpipe_tagger

COLUMNS = ("upos", "lemma")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("models", nargs="+", help="names of models in the checkout, or files")
    parser.add_argument("--work", type=Path, required=True, help="folder for the models of UDPipe")
    parser.add_argument("--json", type=Path, required=True, help="add the measurements to this file")
    parser.add_argument("--threads", type=int, default=2, help="threads or processes (default: 2)")
    arguments = parser.parse_args()
    lines = read_lines(arguments.json)
    arguments.work.mkdir(parents=True, exist_ok=True)
    for model in map(find_model, arguments.models):
        line = compare_lemmas(model, arguments.work, arguments.threads)
        lines[line["model"]] = line
        text = "".join(json.dumps(lines[name], ensure_ascii=False) + "\n" for name in sorted(lines))
        arguments.json.write_text(text, "utf-8")
        print(json.dumps(line, ensure_ascii=False), flush=True)


def compare_lemmas(model: Path, work: Path, threads: int) -> dict[str, Any]:
    """Return the accuracies of a model and of UDPipe's tagger."""
    from longarc.training.recipe import read_recipe

    name = model.stem.removesuffix("-int8")
    (path,) = (CHECKOUT / "models").rglob(f"{name}.toml")
    recipe, _ = read_recipe(path)
    train, dev, test = read_splits(recipe)
    with tempfile.TemporaryDirectory(dir=work) as temporary:
        folder = Path(temporary)
        files = [
            write_sentences(folder / f"{part}.conllu", sentences)
            for part, sentences in (("train", train), ("dev", dev))
        ]
        tagger = build_once(train_udpipe_tagger, work / f"{name}.tagger.udpipe", *files)
        words = sum(map(len, test))
        task = Task(write_sentences(folder / "test.conllu", test), folder / "out.conllu", words, threads)
        ours = measure_scores(Contender("Longarc", "longarc", "longarc", model.resolve()), task)
        theirs = measure_scores(Contender("UDPipe 1", "ufal.udpipe", "udpipe-tagger", tagger), task)
    return {
        "model": name,
        "treebank": read_card(model)["treebank"],
        "test_words": words,
        "longarc": {column: ours[column] for column in COLUMNS},
        "udpipe": {column: theirs[column] for column in COLUMNS},
    }


if __name__ == "__main__":
    main()
