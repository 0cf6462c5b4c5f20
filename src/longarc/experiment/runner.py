"""Run an experiment: train and evaluate its runs one by one, so that it can be stopped and resumed at any time."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Any, Literal, Protocol

from longarc import __version__
from longarc.data.conll import read
from longarc.data.sentence import Sentence
from longarc.data.treebank_sources import PRETRAINED
from longarc.errors import LongarcError
from longarc.experiment.measurement import measure
from longarc.experiment.plan import ExperimentPlan, ExperimentTreebank, Run
from longarc.experiment.results import (
    IDENTITY,
    RUNS,
    Result,
    changes,
    identity,
    read_identity,
    read_results,
    write_identity,
    write_results,
)
from longarc.runtime.parser import load
from longarc.training.packaging import Origin, write_models
from longarc.training.run import Splits, clear_folder, is_finished, is_unfinished, train_model
from longarc.training.threads import set_up_torch
from longarc.training.trained_model import TrainedModel
from longarc.training.trainer import LOG, Reporter
from longarc.trees.structure import require_tree

Start = Literal["trained", "resumed", "measured"]
"""How a run begins: with its training, the rest of its training, or its evaluation."""


Training = Callable[[], AbstractContextManager[Reporter]]
"""Opens the reporter of a training."""


@dataclass(frozen=True)
class RemainingTime:
    """An estimate from the training times of finished runs."""

    seconds: float
    """Of the runs whose treebank was trained with the same preset before"""
    unknown_runs: int
    """Runs of which nothing is known"""


class Observer(Protocol):
    """Receives the progress of the experiment."""

    def run_begins(self, number: int, runs: int, run: Run, start: Start, left: RemainingTime) -> None: ...

    def training(self) -> AbstractContextManager[Reporter]: ...

    def run_done(self, result: Result) -> None: ...


Execute = Callable[[ExperimentPlan, dict[str, Result], Path, Observer], Iterator[Result]]
"""Does the runs that have no result yet and yields their results; the caller adds these to the dictionary."""


def run_in_turn(plan: ExperimentPlan, results: dict[str, Result], out: Path, observer: Observer) -> Iterator[Result]:
    """Do one run after the other in this process."""
    numbers = {run.name: number for number, run in enumerate(plan.runs, 1)}
    set_up_torch(plan.threads)
    for treebank, runs in groupby(remaining_runs(plan, results), key=lambda run: run.treebank):
        splits = load_treebank(treebank)
        for run in runs:
            folder = out / RUNS / run.name
            start, left = start_of(folder), _remaining_time(remaining_runs(plan, results), results.values())
            observer.run_begins(numbers[run.name], len(plan.runs), run, start, left)
            yield do_run(run, splits, folder, observer.training, start, plan.threads)


def run_experiment(
    plan: ExperimentPlan, out: Path, observer: Observer, *, again: bool = False, execute: Execute = run_in_turn
) -> dict[str, Result]:
    """Do all runs that have no result yet, and return all results by run name.

    Raise if the configuration or the files of a finished run have changed, or repeat the run if `again`.
    Raise Interrupted if training was asked to stop; the next call resumes it.
    """
    plan.require_files()
    clear_folder(out, everything=False)
    results = _remove_outdated(plan, out, read_results(out), again)
    remaining = remaining_runs(plan, results)
    _check_treebanks(remaining)
    names = [run.name for run in plan.runs]
    # Nothing is started, such as a cluster, if there is nothing to do.
    for result in execute(plan, results, out, observer) if remaining else ():
        results[result.run] = result
        in_order = sorted(results.values(), key=lambda result: names.index(result.run) if result.run in names else -1)
        write_results(out, in_order)
        observer.run_done(result)
    return results


def remaining_runs(plan: ExperimentPlan, results: Mapping[str, Result]) -> list[Run]:
    """Return the runs that have no result yet."""
    return [run for run in plan.runs if run.name not in results]


def start_of(folder: Path) -> Start:
    """Return how the run in a folder begins or continues."""
    return "measured" if is_finished(folder) else "resumed" if is_unfinished(folder) else "trained"


def _remaining_time(runs: Iterable[Run], results: Iterable[Result]) -> RemainingTime:
    """Estimate the training time of `runs` by the mean of the results with the same treebank and preset."""
    times: dict[tuple[str, str], list[float]] = {}
    for result in results:
        times.setdefault((result.treebank, result.preset), []).append(result.training["seconds"])
    known = [times.get((run.treebank.name, run.preset)) for run in runs]
    return RemainingTime(sum(mean(seconds) for seconds in known if seconds), known.count(None))


def _remove_outdated(plan: ExperimentPlan, out: Path, results: dict[str, Result], again: bool) -> dict[str, Result]:
    """Return the results that are up to date. Delete the others and their trainings if `again`, else raise."""
    outdated = _outdated(plan, out, results)
    if not outdated:
        return results
    if not again:
        lines = [f"{name}: {', '.join(texts)}" for name, texts in outdated.items()]
        message = f"{out}: these runs do not match {plan.path} any more:"
        hint = "Use another output folder, or run them again to replace their results."
        raise LongarcError("\n  ".join([message, *lines]), hint)
    current = {name: result for name, result in results.items() if name not in outdated}
    write_results(out, current.values())
    for name in outdated:
        clear_folder(out / RUNS / name, everything=True)
    return current


def _outdated(plan: ExperimentPlan, out: Path, results: dict[str, Result]) -> dict[str, list[str]]:
    """Return the finished or started runs that differ from the plan, with descriptions of the changes."""
    outdated = {}
    for run in plan.runs:
        folder = out / RUNS / run.name
        if run.name in results:
            before = results[run.name].identity
        elif is_finished(folder) or is_unfinished(folder):
            before = read_identity(folder)
        else:
            continue
        if texts := changes(before, identity(run)) if before else [f"no {IDENTITY} in its folder"]:
            outdated[run.name] = texts
    return outdated


def _check_treebanks(runs: list[Run]) -> None:
    """Read all files once, so that an error in the last one is reported now and not after days of training."""
    for treebank in {run.treebank.name: run.treebank for run in runs}.values():
        for key, path in treebank.files.items():
            if key in PRETRAINED:
                continue
            if not sum(1 for _ in read(path, encoding=treebank.encoding, check=require_tree)):
                raise LongarcError(f"{path}: no sentences", f"It is `{key}` of the treebank {treebank.name}.")


def load_treebank(treebank: ExperimentTreebank) -> Splits:
    def sentences(path: Path | None) -> list[Sentence]:
        return [] if path is None else list(read(path, encoding=treebank.encoding, check=require_tree))

    return Splits(sentences(treebank.train), sentences(treebank.dev), sentences(treebank.test))


def do_run(run: Run, splits: Splits, folder: Path, training: Training, start: Start, threads: int | None) -> Result:
    """Train, package and evaluate, as far as that has not been done yet."""
    clear_folder(folder, everything=start == "trained")
    values = identity(run)
    if start == "trained":
        write_identity(folder, values)
    trained = TrainedModel.load(folder) if start == "measured" else _train(run, splits, folder, training, start)
    origin = Origin(treebank=run.treebank.name)
    ((model, _),) = write_models(trained, folder, splits.dev, {}, origin, quantize=False)
    parser = load(model, threads=threads)
    return Result(
        run=run.name,
        treebank=run.treebank.name,
        preset=run.preset,
        system=run.system,
        variant=run.variant,
        seed=run.seed,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        training=_training(folder, splits, parser.threads),
        versions=versions(),
        identity=values,
        commit=current_commit(),
        **measure(parser, run.treebank, splits.test, folder),
    )


def _train(run: Run, splits: Splits, folder: Path, training: Training, start: Start) -> TrainedModel:
    with training() as reporter:
        trained, _ = train_model(
            run.configuration,
            replace(splits, test=[]),  # the packaged model is evaluated instead
            folder,
            reporter,
            pretrained=run.treebank.pretrained_files,
            resume=start == "resumed",
        )
    return trained


def _training(folder: Path, splits: Splits, threads: int) -> dict[str, Any]:
    curve = [json.loads(line) for line in (folder / LOG).read_text("utf-8").splitlines()]
    return {
        "seconds": round(sum(entry["seconds"] for entry in curve), 1),
        "epochs": len(curve),
        "sentences": len(splits.train),
        "words": sum(map(len, splits.train)),
        "dev_sentences": len(splits.dev),
        "threads": threads,
        "curve": curve,
    }


def current_commit() -> str:
    """Return the commit of the checkout that this code runs from, marked if files have changed since; else nothing."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def versions() -> dict[str, str]:
    """Return the versions of everything that a score can depend on."""
    libraries = {name: version(name) for name in ("numpy", "torch", "onnxruntime")}
    return {
        "longarc": __version__,
        "python": platform.python_version(),
        **libraries,
        "platform": f"{platform.system()} {platform.machine()}",
    }
