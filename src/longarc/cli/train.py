"""`longarc train`: train a model on a treebank."""

from __future__ import annotations

import io
from contextlib import ExitStack, nullcontext, redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.completion import complete_preset, complete_system
from longarc.cli.extras import require_extra
from longarc.cli.options import (
    Attribution,
    Encoding,
    Licence,
    Memory,
    Quantize,
    SkipInvalid,
    Threads,
    TreebankName,
    check_tree_and_memory,
    read_sentences,
)
from longarc.errors import LongarcError
from longarc.transitions import SYSTEMS

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence

BYTES_PER_PAIR = 40
"""Approximate memory of the training on a sentence, per pair of words."""


def train(
    treebank: Annotated[str, typer.Argument(metavar="TRAIN", help="Training data: CoNLL-U, CoNLL-X or JSON lines.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model, its log and its checkpoints.")],
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Development data, to select the best epoch; without it the last one is used."
        ),
    ] = None,
    dev_fraction: Annotated[
        float, typer.Option(min=0.0, max=0.5, help="Use this share of TRAIN, from its end, as development data.")
    ] = 0.0,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Test data, to evaluate the finished model once.")
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=complete_preset,
            help="Network and schedule to start from, such as base or paper.",
        ),
    ] = "base",
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file whose keys override those of the preset.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override one key; can be repeated."),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=complete_system,
            help=f"Transition system: {', '.join(SYSTEMS)}; by default the preset's.",
        ),
    ] = None,
    vectors: Annotated[
        list[Path] | None,
        typer.Option(
            help="Pretrained vectors: a file of word vectors (word2vec text or binary, GloVe, fastText .vec), or a "
            "folder of subword vectors; give the option twice for both."
        ),
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A pretrained encoder in Hugging Face's layout, with --preset transformer; see docs/models.md.",
        ),
    ] = None,
    vectors_limit: Annotated[
        int | None, typer.Option(help="Load this many of the most frequent vectors, and those of the words in TRAIN.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over TRAIN; by default chosen by the size of TRAIN.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed; the same seed gives the same model.")] = None,
    threads: Threads = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes on this machine that train together; see docs/scale_training.md."),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Where to train: cuda, cuda:1, mps or cpu; by default the fastest that is there.")
    ] = None,
    memory: Memory = 1024,
    quantize: Quantize = False,
    name: TreebankName = "",
    licence: Licence = "",
    attribution: Attribution = "",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the training in the folder, if there is one.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start again even if the folder contains a training.")
    ] = False,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Train a tagger and parser on a treebank. `longarc train TRAIN --out DIR` is enough; the rest has defaults.

    Ctrl-C stops after saving a checkpoint; the same command with --resume continues, and yields the same model as an
    uninterrupted training. DIR receives weights.safetensors, model.json, log.jsonl and a plot of the learning curve.
    """
    require_extra("train")
    from longarc.cli.workers import join_processes
    from longarc.configuration import parse_setting
    from longarc.configuration import preset as load_preset
    from longarc.data.schema import read_toml

    configuration = load_preset(preset)
    if config is not None:
        configuration = configuration.updated(read_toml(config), str(config))
    values: dict[str, Any] = {} if system is None else {"system": system}
    for setting in settings or []:
        values |= parse_setting(setting)
    configuration = configuration.updated(values, "--set")  # all at once: some keys are valid only together
    options = {"system": system, "vectors_limit": vectors_limit, "epochs": epochs, "seed": seed}
    overrides = {key: value for key, value in options.items() if value is not None}
    configuration = configuration.updated(overrides, "command line")

    if encoder is not None and configuration.encoder == "words":
        raise LongarcError("--encoder needs a configuration that uses it", "Add --preset transformer.")

    def load(path: str) -> list[Sentence]:
        check = check_tree_and_memory(memory, BYTES_PER_PAIR)
        return list(read_sentences(path, encoding=encoding, skip_invalid=skip_invalid, check=check))

    def load_splits() -> Splits:
        train_sentences = load(treebank)
        dev_sentences = load(dev) if dev is not None else []
        test_sentences = load(test) if test is not None else []
        if dev_fraction:
            if dev is not None:
                raise LongarcError("--dev and --dev-fraction exclude each other", "Use one of them.")
            dev_size = max(1, round(dev_fraction * len(train_sentences)))
            train_sentences, dev_sentences = train_sentences[:-dev_size], train_sentences[-dev_size:]
        return Splits(train_sentences, dev_sentences, test_sentences)

    from longarc.cli.train_progress import PackagingProgress, TrainingProgress, print_next_command
    from longarc.training.device import choose_device
    from longarc.training.interruption import Interrupted
    from longarc.training.packaging import Origin, write_models
    from longarc.training.run import Splits, clear_folder, is_packaged, lock_folder, train_model
    from longarc.training.threads import set_up_torch
    from longarc.training.trainer import SilentReporter

    with join_processes(workers) as group, ExitStack() as lock:
        is_done = False
        with group.failing_together():
            if group.is_first:
                lock.enter_context(lock_folder(out))
                is_done = resume and is_packaged(out, quantize=quantize)
                resume = not is_done and _can_resume(out, resume, overwrite)
        is_done, resume = group.from_first([is_done, resume])
        if is_done:
            if group.is_first:
                typer.echo(f"longarc: {out}: the training is finished", err=True)
            return
        with group.failing_together(), nullcontext() if group.is_first else redirect_stderr(io.StringIO()):
            if group.size > 1 and "-" in (treebank, dev, test):
                raise LongarcError("several processes cannot read standard input", "Write the treebank to a file.")
            splits = load_splits()
            chosen_device = choose_device(device, group.local_rank)
        set_up_torch(threads, group.local_size)
        if group.is_first:
            clear_folder(out, everything=not resume)
        try:
            with TrainingProgress() if group.is_first else nullcontext(SilentReporter()) as progress:
                model, scores = train_model(
                    configuration,
                    splits,
                    out,
                    progress,
                    pretrained=[*(vectors or []), *([encoder] if encoder else [])],
                    resume=resume,
                    group=group,
                    device=chosen_device,
                )
        except Interrupted:
            if group.is_first:
                message = (
                    f"longarc: stopped; a checkpoint is saved in {out}. Continue with the same command and --resume."
                )
                typer.echo(message, err=True)
            raise typer.Exit(130) from None
        if not group.is_first:
            return
        origin = Origin(name or Path(treebank).name, licence, attribution)
        with PackagingProgress() as line:
            for path, package in write_models(
                model, out, splits.dev, scores, origin, quantize=quantize, announce=line.announce
            ):
                line.report(path, package)
        print_next_command(path, test or dev)


def _can_resume(out: Path, resume: bool, overwrite: bool) -> bool:
    """Return whether to resume the training in the folder; raise if there is one that the options do not mention."""
    from longarc.training.run import is_finished, is_unfinished

    contains_training = is_finished(out) or is_unfinished(out)
    if resume and not contains_training:
        typer.echo(f"longarc: {out}: nothing was saved yet; the training starts from the beginning", err=True)
    if contains_training and not resume and not overwrite:
        hint = "Use --resume to continue it, or --overwrite to start again."
        raise LongarcError(f"{out}: the folder already contains a training", hint)
    return resume and contains_training
