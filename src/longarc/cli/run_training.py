"""What `longarc train` and `longarc distill` share: their options, and a training from its files to its model files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.completion import complete_preset, complete_system
from longarc.cli.options import check_tree_and_memory, read_sentences
from longarc.errors import LongarcError
from longarc.transitions import SYSTEMS

if TYPE_CHECKING:
    from longarc.configuration import Configuration
    from longarc.data.sentence import Sentence
    from longarc.training.prepare import Distillation
    from longarc.training.run import Splits

BYTES_PER_PAIR = 40
"""Approximate memory of the training on a sentence, per pair of words."""

Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model, its log and its checkpoints.")]
Dev = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Development data, to select the best epoch; without it the last one is used."),
]
DevFraction = Annotated[
    float, typer.Option(min=0.0, max=0.5, help="Use this share of TRAIN, from its end, as development data.")
]
Test = Annotated[str | None, typer.Option(metavar="FILE", help="Test data, to evaluate the finished model once.")]
Preset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=complete_preset,
        help="Network and schedule to start from, such as base or paper.",
    ),
]
Config = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A TOML file whose keys override those of the preset.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override one key; can be repeated.")
]
System = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=complete_system,
        help=f"Transition system: {', '.join(SYSTEMS)}; by default the preset's, or the teacher's.",
    ),
]
Vectors = Annotated[
    list[Path] | None,
    typer.Option(
        help="Pretrained vectors: a file of word vectors (word2vec text or binary, GloVe, fastText .vec), or a "
        "folder of subword vectors; give the option twice for both."
    ),
]
PretrainedEncoder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="A pretrained encoder in Hugging Face's layout, with --preset transformer; see docs/models.md.",
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="Passes over TRAIN; by default as in the preset.")]
Seed = Annotated[int | None, typer.Option(help="Random seed; the same seed gives the same model.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the training in the folder, if there is one.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Start again even if the folder contains a training.")]


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """What a user asked for; the fields are named after the options."""

    configuration: Configuration
    treebank: str
    out: Path
    dev: str | None
    dev_fraction: float
    test: str | None
    vectors: Sequence[Path]
    encoder: Path | None
    threads: int | None
    workers: int | None = None
    device: str | None = None
    memory: int
    quantize: bool
    name: str
    licence: str
    attribution: str
    resume: bool
    overwrite: bool
    encoding: str
    skip_invalid: bool
    teachers: Sequence[Path] = ()
    texts: Sequence[Path] = ()


def make_configuration(
    preset: str, config: Path | None, settings: Sequence[str], system: str | None, **options: Any
) -> Configuration:
    """Return the configuration of a preset with the values of a file, of --set and of other options on top."""
    from longarc.configuration import parse_setting
    from longarc.configuration import preset as load_preset
    from longarc.data.schema import read_toml

    configuration = load_preset(preset)
    if config is not None:
        configuration = configuration.updated(read_toml(config), str(config))
    values: dict[str, Any] = {} if system is None else {"system": system}
    for setting in settings:
        values |= parse_setting(setting)
    if system is not None and values["system"] != system:
        message = f"--system {system} and --set system={values['system']} exclude each other"
        raise LongarcError(message, "Use one of them.")
    configuration = configuration.updated(values, "--set")  # all at once: some keys are valid only together
    overrides = {key: value for key, value in {"system": system, **options}.items() if value is not None}
    return configuration.updated(overrides, "command line")


def run_training(request: TrainingRequest) -> None:
    """Train, alone or in several processes, and write the model files."""
    from longarc.cli.train_progress import PackagingProgress, TrainingProgress, print_next_command
    from longarc.cli.workers import join_processes
    from longarc.training.device import choose_device
    from longarc.training.interruption import Interrupted
    from longarc.training.packaging import Origin, write_models
    from longarc.training.run import clear_folder, is_packaged, lock_folder, train_model
    from longarc.training.threads import set_up_torch
    from longarc.training.trainer import SilentReporter

    if request.encoder is not None and request.configuration.encoder == "words":
        raise LongarcError("--encoder needs a configuration that uses it", "Add --preset transformer.")
    if request.resume and request.overwrite:
        hint = "Use --resume to continue a training, or --overwrite to start again."
        raise LongarcError("--resume and --overwrite exclude each other", hint)
    out, resume = request.out, request.resume
    with join_processes(request.workers) as group, ExitStack() as lock:
        is_done = False
        with group.failing_together():
            if group.is_first:
                lock.enter_context(lock_folder(out))
                is_done = resume and is_packaged(out, quantize=request.quantize)
                resume = not is_done and _can_resume(out, resume, request.overwrite)
        is_done, resume = group.from_first([is_done, resume])
        if is_done:
            if group.is_first:
                typer.echo(f"longarc: {out}: the training is finished", err=True)
            return
        with group.failing_together(), nullcontext() if group.is_first else redirect_stderr(io.StringIO()):
            if group.size > 1 and "-" in (request.treebank, request.dev, request.test):
                raise LongarcError("several processes cannot read standard input", "Write the treebank to a file.")
            splits = _load_splits(request)
            device = choose_device(request.device, group.local_rank)
            distillation = _load_teachers(request) if request.teachers else None
        set_up_torch(request.threads, group.local_size)
        if group.is_first:
            clear_folder(out, everything=not resume)
        try:
            with TrainingProgress() if group.is_first else nullcontext(SilentReporter()) as progress:
                model, scores = train_model(
                    request.configuration,
                    splits,
                    out,
                    progress,
                    pretrained=[*request.vectors, *([request.encoder] if request.encoder else [])],
                    resume=resume,
                    group=group,
                    device=device,
                    distillation=distillation,
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
        origin = Origin(request.name or Path(request.treebank).name, request.licence, request.attribution)
        with PackagingProgress() as line:
            for path, package in write_models(
                model, out, splits.dev, scores, origin, quantize=request.quantize, announce=line.announce
            ):
                line.report(path, package)
        print_next_command(path, request.test or request.dev)


def _load_splits(request: TrainingRequest) -> Splits:
    from longarc.training.run import Splits

    def load(path: str | None) -> list[Sentence]:
        if path is None:
            return []
        check = check_tree_and_memory(request.memory, BYTES_PER_PAIR)
        encoding, skip_invalid = request.encoding, request.skip_invalid
        return list(read_sentences(path, encoding=encoding, skip_invalid=skip_invalid, check=check))

    train, dev, test = load(request.treebank), load(request.dev), load(request.test)
    if not train:
        raise LongarcError(f"{request.treebank}: no sentences to train on")
    if request.dev_fraction:
        if request.dev is not None:
            raise LongarcError("--dev and --dev-fraction exclude each other", "Use one of them.")
        dev_size = max(1, round(request.dev_fraction * len(train)))
        train, dev = train[:-dev_size], train[-dev_size:]
    return Splits(train, dev, test)


def _load_teachers(request: TrainingRequest) -> Distillation:
    """Load the teachers and have them parse the raw texts."""
    from longarc.cli.train_progress import StepProgress
    from longarc.data.files import read_chunks
    from longarc.data.formats import detect_input_format
    from longarc.training.prepare import Distillation
    from longarc.training.teacher import Teacher

    teacher = Teacher(request.teachers, request.threads)
    parsed: list[Sentence] = []
    for path in request.texts:
        progress = StepProgress(f"parsing {path}", "word")
        try:
            content = b"".join(read_chunks(path))
            if detect_input_format(path, content) != "text":
                raise LongarcError(f"{path}: expected raw text, found a treebank", "Use --train for a treebank.")
            text = content.decode(request.encoding)
        except UnicodeDecodeError as error:
            raise LongarcError(f"{path}: not valid {request.encoding}: {error.reason}", "Use --encoding.") from None
        parsed += teacher.parse_text(text, progress.step_done)
    progress = StepProgress("scoring the training data by its teachers", "word")
    return Distillation(teacher, parsed, progress.step_done)


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
