"""`longarc train`: a model from a treebank."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.inputs import Encoding, SkipInvalid, read_sentences
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence
    from longarc.training.configuration import Configuration
    from longarc.training.prepare import Prepared


def train(
    treebank: Annotated[str, typer.Argument(metavar="TRAIN", help="The trees to learn from: CoNLL-U or CoNLL-X.")],
    out: Annotated[Path, typer.Option(help="The folder for the model, its log and its checkpoints.")],
    dev: Annotated[
        str | None, typer.Option(help="Trees to choose the best epoch by; without it the last is kept.")
    ] = None,
    dev_fraction: Annotated[
        float, typer.Option(min=0.0, max=0.5, help="Set aside this share at the end of TRAIN as development data.")
    ] = 0.0,
    test: Annotated[str | None, typer.Option(help="Trees to measure the finished model on, once.")] = None,
    preset: Annotated[str, typer.Option(help="Network and schedule to start from: paper.")] = "paper",
    config: Annotated[Path | None, typer.Option(help="A TOML file whose keys replace those of the preset.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Replace one key; may be given several times."),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            help="The transition system: nl-covington (default), covington, arc-swift, arc-eager, arc-standard, "
            "arc-hybrid."
        ),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Pretrained word vectors: word2vec text or binary, GloVe, fastText .vec.")
    ] = None,
    vectors_limit: Annotated[
        int | None, typer.Option(help="Keep so many of the vectors' most frequent words beside those of TRAIN.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over TRAIN; chosen by its size unless given.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same model.")] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads; all cores this process may use unless given.")
    ] = None,
    quantize: Annotated[bool, typer.Option("--quantize", help="Write an 8-bit model too.")] = False,
    name: Annotated[str, typer.Option("--treebank", help="For the card: what the model is trained on.")] = "",
    licence: Annotated[str, typer.Option(help="For the card: the treebank's licence.")] = "",
    attribution: Annotated[str, typer.Option(help="For the card: whom the licence wants named.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint in the folder.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew although the folder has a training in it.")
    ] = False,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Train a tagger and parser on a treebank. `longarc train TRAIN --out DIR` is enough; the rest has defaults.

    Ctrl-C stops after saving; the same command with --resume goes on and ends with the same model as if it had never
    stopped. DIR gets weights.safetensors, model.json, log.jsonl and a picture of the learning curve.
    """
    require_torch()
    from longarc.training.configuration import parse_setting, read_toml
    from longarc.training.configuration import preset as load_preset

    configuration = load_preset(preset)
    if config is not None:
        configuration = configuration.updated(read_toml(config), str(config))
    for setting in settings or []:
        configuration = configuration.updated(parse_setting(setting), "--set")
    options = {"system": system, "vectors_limit": vectors_limit, "epochs": epochs, "seed": seed}
    given = {key: value for key, value in options.items() if value is not None}
    configuration = configuration.updated(given, "command line")

    def load(path: str) -> list[Sentence]:
        from longarc.trees.structure import require_tree

        return list(read_sentences(path, encoding=encoding, skip_invalid=skip_invalid, check=require_tree))

    _check_folder(out, resume, overwrite)
    train_sentences = load(treebank)
    dev_sentences = load(dev) if dev is not None else []
    test_sentences = load(test) if test is not None else []
    if dev_fraction:
        if dev is not None:
            raise LongarcError("--dev and --dev-fraction exclude each other")
        aside = max(1, round(dev_fraction * len(train_sentences)))
        train_sentences, dev_sentences = train_sentences[:-aside], train_sentences[-aside:]
    treebanks = Treebanks(train_sentences, dev_sentences, test_sentences)
    prepared, scores = _train(configuration, treebanks, vectors, out, resume, threads)
    from longarc.cli.package import write_models
    from longarc.training.package import Origin

    origin = Origin(name or Path(treebank).name, licence, attribution)
    write_models(prepared, out, dev_sentences, scores, origin, quantize)


def require_torch() -> None:
    """Says what to install where training is not."""
    missing = [name for name in ("torch", "safetensors", "onnx") if importlib.util.find_spec(name) is None]
    if missing:
        raise LongarcError(f"training needs {' and '.join(missing)}", "Install it with: pip install 'longarc[train]'")


def _check_folder(out: Path, resume: bool, overwrite: bool) -> None:
    from longarc.training.trainer import BEST, CHECKPOINT, LOG, WEIGHTS

    if out.exists() and not out.is_dir():
        raise LongarcError(f"{out}: is not a folder")
    finished, unfinished = (out / WEIGHTS).exists(), (out / CHECKPOINT).exists()
    if resume and finished:
        raise LongarcError(f"{out}: the training is finished", "Begin anew with --overwrite.")
    if resume and not unfinished:
        raise LongarcError(f"{out}: no checkpoint to go on from", "Leave --resume out to begin.")
    if not resume and (finished or unfinished):
        if not overwrite:
            hint = "Go on with --resume, or begin anew with --overwrite." if unfinished else "Replace with --overwrite."
            raise LongarcError(f"{out}: there is a training in this folder already", hint)
        for name in (WEIGHTS, CHECKPOINT, BEST, LOG):
            (out / name).unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    for left_over in out.glob(".*.part"):  # of a training that was killed while it wrote
        left_over.unlink()


@dataclass(frozen=True)
class Treebanks:
    """What is trained on, chosen by and measured on."""

    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]


def _train(
    configuration: Configuration,
    treebanks: Treebanks,
    vectors: Path | None,
    out: Path,
    resume: bool,
    threads: int | None,
) -> tuple[Prepared, dict[str, float]]:
    """The trained network, and its scores on the test data if there are any."""
    from longarc.cli.train_progress import TrainingProgress
    from longarc.data.files import open_output
    from longarc.training.prepare import prepare
    from longarc.training.threads import set_up_torch
    from longarc.training.trainer import DESCRIPTION, Interrupted, Trainer, write_log

    set_up_torch(threads)
    prepared = prepare(configuration, treebanks.train, treebanks.dev, vectors)
    with open_output(out / DESCRIPTION) as stream:
        stream.write(json.dumps(prepared.description(), ensure_ascii=False, indent=1).encode())
    progress = TrainingProgress()
    trainer = Trainer(prepared, treebanks.dev, out, progress)
    if resume:
        trainer.resume()
        for entry in trainer.position.history:
            progress.epoch_done(entry)
    try:
        with progress:
            trainer.train()
    except Interrupted:
        typer.echo(
            f"longarc: stopped; the state is saved in {out}. Go on with the same command and --resume.", err=True
        )
        raise typer.Exit(130) from None
    finally:
        _draw_curve(trainer.position.history, out)
    scores: dict[str, float] = {}
    if treebanks.test:
        found = prepared.predictor().evaluate(treebanks.test)
        scores = {f"test_{name}": round(score, 4) for name, score in found.items()}
        last: dict[str, Any] = {"epoch": trainer.position.best_epoch or prepared.epochs, **scores}
        write_log(out, [*trainer.position.history, last])
        progress.epoch_done(last)
    return prepared, scores


def _draw_curve(history: list[dict[str, Any]], out: Path) -> None:
    """The learning curve, where there is something to draw and something to draw it with."""
    if history and importlib.util.find_spec("matplotlib") is not None:
        from longarc.evaluation.plots import plot_learning_curve

        plot_learning_curve(history, out / "curve.svg")
