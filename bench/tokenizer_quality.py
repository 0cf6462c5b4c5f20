"""Train only the tokenizer on a treebank and score it: words and sentences on raw text, and short texts of the web.

The F1 scores follow the conventions of CoNLL 2018; a blank line separates the paragraphs of the treebank's text. The
web texts (tests/helpers/web_text.tsv) are English and follow the conventions of UD_English-EWT.

    python bench/tokenizer_quality.py TREEBANK_FOLDER [--test] [--web-text] [--set tokenizer_steps=2000] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import longarc
from longarc import Sentence
from longarc.configuration import parse_setting, preset
from longarc.data.usual_spacing import with_spaces
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.measures import score_sentences
from longarc.runtime.graph import Graph
from longarc.runtime.tokenizer import LearnedTokenizer, Tokenizer
from longarc.training.threads import set_up_torch
from longarc.training.train_tokenizer import labelled_text, train_tokenizer
from longarc.training.trained_model import TrainedTokenizer, load_tokenizer, save_tokenizer

sys.path.append(str(Path(__file__).parents[1]))
from tests.helpers.web_text import read_web_text, surface_tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", type=Path, help="a folder with train, dev and test files (.conllu or .conllu.xz)")
    parser.add_argument("--test", action="store_true", help="also score the test file; choose options without it")
    parser.add_argument("--web-text", action="store_true", help="also score the English web texts and show the errors")
    parser.add_argument("--set", action="append", default=[], help="an option of the configuration (key=value)")
    parser.add_argument(
        "--out", type=Path, help="save the tokenizer in this folder; a tokenizer that is there is scored again"
    )
    arguments = parser.parse_args()
    set_up_torch(1)
    start = time.perf_counter()
    trained = load_tokenizer(arguments.out) if arguments.out else None
    if trained is None:
        trained = train(arguments.treebank, arguments.set)
        print(f"trained in {time.perf_counter() - start:.0f} s", flush=True)
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            save_tokenizer(arguments.out, trained, "")
    tokenizer = make_runnable(trained)
    for split in ["dev", *(["test"] if arguments.test else [])]:
        print(
            f"{arguments.treebank.name} {split}: {score(tokenizer, read_split(arguments.treebank, split))}", flush=True
        )
    if arguments.web_text:
        check_web_text(tokenizer)


def read_split(folder: Path, split: str) -> Sequence[Sentence]:
    """Return the sentences of a split of a treebank."""
    plain, compressed = folder / f"{split}.conllu", folder / f"{split}.conllu.xz"
    return longarc.read_all(plain if plain.exists() else compressed)


def train(folder: Path, settings: Sequence[str]) -> TrainedTokenizer:
    """Train the tokenizer of the preset `base`."""
    configuration = preset("base")
    for setting in settings:
        configuration = configuration.updated(parse_setting(setting), "--set")
    return train_tokenizer(
        read_split(folder, "train"),
        configuration.seed,
        configuration.tokenizer_steps,
        lambda step, steps: print(f"step {step} of {steps}", flush=True) if step % 500 == 0 else None,
        augmentation=configuration.tokenizer_augmentation,
        abbreviations=configuration.tokenizer_abbreviations,
    )


def make_runnable(trained: TrainedTokenizer) -> LearnedTokenizer:
    """Return the tokenizer as a packaged model runs it."""
    graph = trained.network.export()
    return LearnedTokenizer(trained.description, Graph(graph, lambda: graph, "tokenizer"), "tokenizer")


def score(tokenizer: Tokenizer, gold: Sequence[Sentence]) -> str:
    """Return the F1 of words and sentences on the text of a treebank, with the usual spaces if it records none."""
    split = tokenizer.split(labelled_text(with_spaces(gold)).text)
    for sentence in split:  # evaluation expects trees
        sentence.set_tree([-1, *range(len(sentence))], ["", *["root"] * len(sentence)])
    scores = score_sentences(gold, split, Conventions("count", "universal"))
    return ", ".join(f"{name} {scores[name].f1:.2f}" for name in ("words", "sentences"))


def check_web_text(tokenizer: Tokenizer) -> None:
    """Print the web texts that are split in another way than expected, and how many are split right."""
    cases = read_web_text()
    errors = 0
    for case in cases:
        sentences = surface_tokens(tokenizer, case.text)
        if sentences != case.sentences:
            errors += 1
            print(f"{case.text!r}: {' ‖ '.join(map(' '.join, sentences))}")
    print(f"web texts: {len(cases) - errors} of {len(cases)}", flush=True)


if __name__ == "__main__":
    main()
