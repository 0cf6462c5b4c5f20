"""`longarc distill`: train a model on a treebank and on what other models think of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from longarc.cli.completion import complete_model
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


def distill(
    teachers: Annotated[
        list[str],
        typer.Argument(
            metavar="TEACHER…",
            autocompletion=complete_model,
            help="Models to learn from, by file or name; several act as an ensemble.",
        ),
    ],
    train: Annotated[str, typer.Option(metavar="TRAIN", help="Training data: CoNLL-U, CoNLL-X or JSON lines.")],
    out: Out,
    text: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Raw text that the teachers parse, as more training data; can be repeated."),
    ] = None,
    dev: Dev = None,
    dev_fraction: DevFraction = 0.0,
    test: Test = None,
    preset: Preset = "fast",
    config: Config = None,
    settings: Settings = None,
    system: System = None,
    vectors: Vectors = None,
    encoder: PretrainedEncoder = None,
    epochs: Epochs = None,
    seed: Seed = None,
    threads: Threads = None,
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
    """Train a small model that learns from larger ones: from their scores of every arc, relation, tag and lemma.

    The teachers score the training data once, before the training. They and the student use the same transition
    system; by default it is that of the first teacher. Everything else is as in `longarc train`.
    """
    require_extra("train")
    from longarc.runtime.installed_models import find_model
    from longarc.runtime.model_file import read_model_file

    models = [find_model(teacher) for teacher in teachers]
    if system is None and not _names_system(config, settings or []):
        system = read_model_file(models[0]).description.system
    configuration = make_configuration(preset, config, settings or [], system, epochs=epochs, seed=seed)
    run_training(
        TrainingRequest(
            configuration=configuration,
            treebank=train,
            out=out,
            dev=dev,
            dev_fraction=dev_fraction,
            test=test,
            vectors=vectors or [],
            encoder=encoder,
            threads=threads,
            memory=memory,
            quantize=quantize,
            name=name,
            licence=licence,
            attribution=attribution,
            resume=resume,
            overwrite=overwrite,
            encoding=encoding,
            skip_invalid=skip_invalid,
            teachers=models,
            texts=text or [],
        )
    )


def _names_system(config: Path | None, settings: Sequence[str]) -> bool:
    """Return whether a configuration file or --set chooses the transition system."""
    from longarc.configuration import parse_setting
    from longarc.data.schema import read_toml

    values = {} if config is None else read_toml(config)
    for setting in settings:
        values |= parse_setting(setting)
    return "system" in values
