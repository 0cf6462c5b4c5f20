"""`longarc train`: a model from a treebank."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.options import Encoding, SkipInvalid, read_sentences
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence


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
    preset: Annotated[str, typer.Option(help="Network and schedule to start from: base or paper.")] = "base",
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

    from longarc.cli.train_progress import PackagingProgress, TrainingProgress
    from longarc.training.packaging import Origin
    from longarc.training.run import Treebanks, clear_folder, train_model, write_models
    from longarc.training.threads import set_up_torch
    from longarc.training.trainer import Interrupted

    set_up_torch(threads)
    clear_folder(out, everything=not resume)
    treebanks = Treebanks(train_sentences, dev_sentences, test_sentences)
    try:
        with TrainingProgress() as progress:
            prepared, scores = train_model(configuration, treebanks, out, progress, vectors=vectors, resume=resume)
    except Interrupted:
        message = f"longarc: stopped; the state is saved in {out}. Go on with the same command and --resume."
        typer.echo(message, err=True)
        raise typer.Exit(130) from None
    origin = Origin(name or Path(treebank).name, licence, attribution)
    with PackagingProgress() as line:
        for path, package in write_models(
            prepared, out, dev_sentences, scores, origin, quantize=quantize, announce=line.announce
        ):
            line.tell(path, package)


def require_torch() -> None:
    """Says what to install where training is not."""
    missing = [name for name in ("torch", "safetensors", "onnx") if importlib.util.find_spec(name) is None]
    if missing:
        raise LongarcError(f"training needs {' and '.join(missing)}", "Install it with: pip install 'longarc[train]'")


def _check_folder(out: Path, resume: bool, overwrite: bool) -> None:
    from longarc.training.run import is_finished, is_unfinished

    if resume and is_finished(out):
        raise LongarcError(f"{out}: the training is finished", "Begin anew with --overwrite.")
    if resume and not is_unfinished(out):
        raise LongarcError(f"{out}: no checkpoint to go on from", "Leave --resume out to begin.")
    if not resume and not overwrite and (is_finished(out) or is_unfinished(out)):
        hint = "Go on with --resume, or begin anew with --overwrite." if is_unfinished(out) else "Add --overwrite."
        raise LongarcError(f"{out}: there is a training in this folder already", hint)
