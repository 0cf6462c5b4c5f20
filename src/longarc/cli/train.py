"""`longarc train`: train a model on a treebank."""

from __future__ import annotations

from typing import Annotated

import typer

from longarc.cli.extras import require_extra
from longarc.cli.options import Attribution, Encoding, Licence, Memory, Quantize, SkipInvalid, Threads, TreebankName
from longarc.cli.run_training import (
    Config,
    Dev,
    DevFraction,
    Epochs,
    Out,
    Overwrite,
    Preset,
    PretrainedEncoder,
    Resume,
    Seed,
    Settings,
    System,
    Test,
    TrainingRequest,
    Vectors,
    make_configuration,
    run_training,
)


def train(
    treebank: Annotated[str, typer.Argument(metavar="TRAIN", help="Training data: CoNLL-U, CoNLL-X or JSON lines.")],
    out: Out,
    dev: Dev = None,
    dev_fraction: DevFraction = 0.0,
    test: Test = None,
    preset: Preset = "base",
    config: Config = None,
    settings: Settings = None,
    system: System = None,
    vectors: Vectors = None,
    encoder: PretrainedEncoder = None,
    vectors_limit: Annotated[
        int | None, typer.Option(help="Load this many of the most frequent vectors, and those of the words in TRAIN.")
    ] = None,
    epochs: Epochs = None,
    seed: Seed = None,
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
    resume: Resume = False,
    overwrite: Overwrite = False,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Train a tagger and parser on a treebank. `longarc train TRAIN --out DIR` is enough; the rest has defaults.

    Ctrl-C stops after saving a checkpoint; the same command with --resume continues, and yields the same model as an
    uninterrupted training. DIR receives weights.safetensors, model.json, log.jsonl and a plot of the learning curve.
    """
    require_extra("train")
    configuration = make_configuration(
        preset, config, settings or [], system, vectors_limit=vectors_limit, epochs=epochs, seed=seed
    )
    run_training(
        TrainingRequest(
            configuration=configuration,
            treebank=treebank,
            out=out,
            dev=dev,
            dev_fraction=dev_fraction,
            test=test,
            vectors=vectors or [],
            encoder=encoder,
            threads=threads,
            workers=workers,
            device=device,
            memory=memory,
            quantize=quantize,
            name=name,
            licence=licence,
            attribution=attribution,
            resume=resume,
            overwrite=overwrite,
            encoding=encoding,
            skip_invalid=skip_invalid,
        )
    )
