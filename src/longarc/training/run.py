"""A whole training in a folder: from trees to the weights that are kept, and from those to the files to parse with."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from longarc.data.files import open_output
from longarc.data.sentence import Sentence
from longarc.data.vocabulary import TAG_COLUMNS
from longarc.errors import LongarcError
from longarc.evaluation.attachment import attachment_scores
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import count, judge, total
from longarc.runtime.model_file import ModelFile, write_model_file
from longarc.runtime.parser import Parser
from longarc.training.configuration import Configuration
from longarc.training.packaging import Origin, lstm_moments, make_int8, make_package, model_card
from longarc.training.prepare import Prepared, prepare
from longarc.training.train_tokenizer import (
    TOKENIZER,
    TrainedTokenizer,
    has_text,
    labelled_text,
    load_tokenizer,
    save_tokenizer,
    train_tokenizer,
)
from longarc.training.trainer import BEST, CHECKPOINT, DESCRIPTION, LOG, WEIGHTS, Reporter, Trainer, write_log

LSTM_INPUTS = (0.25, 0.4, 0.6)
"""What is tried of a faster 8-bit model, for each LSTM in turn; see `make_int8`."""
MOST_LOST = 0.2
"""What LAS, and every other score on the development data, may lose by a model's being made faster."""


@dataclass(frozen=True)
class Treebanks:
    """What is trained on, chosen by and, in the end, measured on."""

    train: Sequence[Sentence]
    dev: Sequence[Sentence] = field(default_factory=list)
    test: Sequence[Sentence] = field(default_factory=list)


def is_finished(out: Path) -> bool:
    """Whether a folder has a training that went to its end."""
    return (out / WEIGHTS).exists()


def is_unfinished(out: Path) -> bool:
    """Whether a folder has a training that can be gone on with."""
    return (out / CHECKPOINT).exists()


def clear_folder(out: Path, *, everything: bool) -> None:
    """Makes the folder and takes away what a killed training half wrote, or all that an earlier one left."""
    if out.exists() and not out.is_dir():
        raise LongarcError(f"{out}: is not a folder")
    out.mkdir(parents=True, exist_ok=True)
    for left_over in out.glob(".*.part"):
        left_over.unlink()
    if everything:
        for name in (WEIGHTS, CHECKPOINT, BEST, LOG, TOKENIZER):
            (out / name).unlink(missing_ok=True)


def train_model(
    configuration: Configuration,
    treebanks: Treebanks,
    out: Path,
    reporter: Reporter,
    *,
    vectors: Path | None = None,
    resume: bool = False,
) -> tuple[Prepared, dict[str, float]]:
    """Trains to the end and gives the network with its scores on the test data, where there are any.

    Raises trainer.Interrupted when it was asked to stop; with `resume` it goes on from there.
    """
    prepared = prepare(configuration, treebanks.train, treebanks.dev, vectors)
    with open_output(out / DESCRIPTION) as stream:
        stream.write(json.dumps(prepared.description(), ensure_ascii=False, indent=1).encode())
    tokenizer = _tokenizer(configuration, treebanks.train, out, reporter, resume)
    prepared = replace(prepared, tokenizer=tokenizer)
    trainer = Trainer(prepared, treebanks.dev, out, reporter)
    if resume:
        trainer.resume()
        for entry in trainer.position.history:
            reporter.epoch_done(entry)
    try:
        trainer.train()
    finally:
        _draw_curve(trainer.position.history, out)
    scores: dict[str, float] = {}
    if treebanks.test:
        found = prepared.predictor().evaluate(treebanks.test)
        scores = {f"test_{name}": round(score, 4) for name, score in found.items()}
        last: dict[str, Any] = {"epoch": trainer.position.best_epoch or prepared.epochs, **scores}
        write_log(out, [*trainer.position.history, last])
        reporter.epoch_done(last)
    return prepared, scores


def _tokenizer(
    configuration: Configuration, train: Sequence[Sentence], out: Path, reporter: Reporter, resume: bool
) -> TrainedTokenizer | None:
    """What splits text as the treebank does: learnt now, or before this training was stopped."""
    steps = configuration.tokenizer_steps
    if not steps:
        return None
    if not has_text(train):
        reporter.note("the treebank does not say where its text has spaces: raw text will be split by rules")
        return None
    if resume and (found := load_tokenizer(out)) is not None:
        return found
    trained = train_tokenizer(train, configuration.seed, steps, reporter.tokenizer_step_done)
    save_tokenizer(out, trained)
    return trained


def _draw_curve(history: list[dict[str, Any]], out: Path) -> None:
    """The learning curve, where there is something to draw and something to draw it with."""
    if history and importlib.util.find_spec("matplotlib") is not None:
        from longarc.evaluation.plots import plot_learning_curve

        plot_learning_curve(history, out / "curve.svg")


def write_models(
    prepared: Prepared,
    out: Path,
    dev: Sequence[Sentence],
    scores: dict[str, float],
    origin: Origin,
    *,
    quantize: bool,
    most_words: int = 0,
    narrow: bool = True,
    announce: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Path, ModelFile]]:
    """Packages a trained network in its folder, measured on dev, and tells of each file as it is written.

    `most_words`: how many words the 8-bit model knows at most; 0 is all. `narrow`: whether its LSTMs read less, as far
    as scores on dev allow. `announce` is told what is being done.
    """
    name = out.resolve().name
    announce("measuring the model")
    package = make_package(prepared, model_card(name, prepared.configuration, scores, origin))
    found = _scores(package, dev)
    measured = _for_card(found, "dev")
    package.card["scores"] |= measured
    write_model_file(out / f"{name}.longarc", package)
    yield out / f"{name}.longarc", package
    if quantize:
        small = _narrow_int8(package, found, dev, most_words, announce) if narrow else make_int8(package, most_words)
        announce("measuring the 8-bit model")
        small.card["scores"] = {**scores, **_for_card(_scores(small, dev), "dev")}
        if dev:
            small.card["float32_scores"] = measured
        write_model_file(out / f"{name}-int8.longarc", small)
        yield out / f"{name}-int8.longarc", small


def _narrow_int8(
    package: ModelFile,
    whole: Mapping[str, float],
    dev: Sequence[Sentence],
    most_words: int,
    announce: Callable[[str], None],
) -> ModelFile:
    """The 8-bit model whose LSTMs read as little as the scores on dev allow: those that read most come first. `whole`:
    what the 32-bit model has there."""
    moments = lstm_moments(package, dev)
    sizes = [len(products) for products in moments.values()]
    inputs, best = [1.0] * len(sizes), make_int8(package, most_words)
    for number, place in enumerate(sorted(range(len(sizes)), key=lambda place: -sizes[place]), 1):
        for share in LSTM_INPUTS:
            announce(f"making the 8-bit model faster: {share:.0%} of the inputs of LSTM {number} of {len(sizes)}")
            less = [*inputs[:place], share, *inputs[place + 1 :]]
            small = make_int8(package, most_words, less, moments)
            found = _scores_on_words(Parser(small), dev)
            # Rounded, since 58.96 − 58.76 is a little more than 0.2 otherwise.
            if max(round(whole[name] - score, 6) for name, score in found.items()) <= MOST_LOST:
                inputs, best = less, small
                break
    return best


def measured_on_test(path: Path, package: ModelFile, test: Sequence[Sentence]) -> ModelFile:
    """The same model file with the scores on the test data on its card too."""
    package.card["scores"] |= _for_card(_scores(package, test), "test")
    write_model_file(path, package)
    return package


def _for_card(scores: Mapping[str, float], part: str) -> dict[str, float]:
    """Scores as a card has them: rounded, under names that begin with the part of the data."""
    return {f"{part}_{name}": round(score, 2) for name, score in scores.items()}


def _scores(package: ModelFile, gold: Sequence[Sentence]) -> dict[str, float]:
    """All scores of a packaged model."""
    if not gold:
        return {}
    parser = Parser(package)
    scores = _scores_on_words(parser, gold)
    if package.description.tokenizer is not None and has_text(gold):
        scores |= _scores_on_text(parser, gold)
    return scores


def _scores_on_words(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """UAS, LAS and tag accuracy when the words are given."""
    parsed = list(parser.stream([sentence.copy() for sentence in gold]))
    found = attachment_scores(
        ((sentence.heads, sentence.relations) for sentence in gold),
        ((sentence.heads, sentence.relations) for sentence in parsed),
    )
    scores = {"uas": found.uas, "las": found.las}
    for name in parser.description.tags:
        column = TAG_COLUMNS[name]
        pairs = [
            (right[column], own[column])
            for sentence, result in zip(gold, parsed, strict=True)
            for right, own in zip(sentence.words, result.words, strict=True)
        ]
        scores[name] = 100 * sum(right == own for right, own in pairs) / len(pairs)
    return scores


def _scores_on_text(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """F1 of words, sentences and LAS when only the text is given, by the conventions of CoNLL 2018."""
    found = parser(labelled_text(gold).text)
    conventions = Conventions("count", "universal")
    scores = total(count(judge(Corpus("gold", gold), Corpus("parsed", found), conventions)))
    return {f"text_{name}": scores[name].f1 for name in ("words", "sentences", "las")}
