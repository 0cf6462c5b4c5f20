"""Doing the runs of an experiment one after the other, so that it can be stopped at any time and gone on with."""

from __future__ import annotations

import json
import platform
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, Protocol

from longarc import __version__
from longarc.data.conll import read, read_all
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.experiment import results as stored
from longarc.experiment.measurement import measure
from longarc.experiment.plan import Plan, Run, Treebank, require_files
from longarc.experiment.results import Result
from longarc.runtime.parser import load
from longarc.training.packaging import Origin, load_trained
from longarc.training.prepare import Prepared
from longarc.training.run import Treebanks, clear_folder, is_finished, is_unfinished, train_model, write_models
from longarc.training.threads import set_up_torch
from longarc.training.trainer import LOG, Reporter
from longarc.trees.structure import require_tree

Begins = Literal["trained", "resumed", "measured"]
"""What is left to do of a run: all of it, the rest of its training, or only its measurement."""


class Observer(Protocol):
    """Is told how the experiment goes, and shows it to whoever wants to know."""

    def run_begins(self, number: int, runs: int, run: Run, begins: Begins) -> None: ...

    def training(self) -> AbstractContextManager[Reporter]: ...

    def run_done(self, result: Result) -> None: ...


@dataclass(frozen=True)
class _Loaded:
    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]


def run_experiment(plan: Plan, out: Path, observer: Observer, *, again: bool = False) -> dict[str, Result]:
    """Does all runs that have no result yet; gives all results by the names of their runs.

    A run whose result was measured with another configuration or other files is an error, or, with `again`, repeated.
    Raises trainer.Interrupted when training was asked to stop; called once more, it goes on from there.
    """
    require_files(plan)
    clear_folder(out, everything=False)
    results = _forget_outdated(plan, out, stored.read_results(out), again)
    numbers = {run.name: number for number, run in enumerate(plan.runs, 1)}
    left = [run for run in plan.runs if run.name not in results]
    _check_treebanks(left)
    set_up_torch(plan.threads)
    for treebank, runs in groupby(left, key=lambda run: run.treebank):
        loaded = _load(treebank)
        for run in runs:
            folder = out / stored.RUNS / run.name
            begins: Begins = "measured" if is_finished(folder) else "resumed" if is_unfinished(folder) else "trained"
            observer.run_begins(numbers[run.name], len(plan.runs), run, begins)
            results[run.name] = _do(run, loaded, folder, observer, begins, plan.threads)
            stored.write_results(out, results.values())
            observer.run_done(results[run.name])
    return results


def _forget_outdated(plan: Plan, out: Path, results: dict[str, Result], again: bool) -> dict[str, Result]:
    """The results that are still good. If there are others, it needs `again` to take them and their trainings away."""
    outdated = _outdated(plan, out, results)
    if not outdated:
        return results
    if not again:
        lines = [f"{name}: {', '.join(what)}" for name, what in outdated.items()]
        message = f"{out}: runs that were done otherwise than {plan.path} says now:"
        hint = "Use another --out, or --again to repeat them and replace their results."
        raise LongarcError("\n  ".join([message, *lines]), hint)
    kept = {name: result for name, result in results.items() if name not in outdated}
    stored.write_results(out, kept.values())
    for name in outdated:
        clear_folder(out / stored.RUNS / name, everything=True)
    return kept


def _outdated(plan: Plan, out: Path, results: dict[str, Result]) -> dict[str, list[str]]:
    """The runs that were done, or begun, otherwise than the plan says, with what has changed."""
    found = {}
    for run in plan.runs:
        folder = out / stored.RUNS / run.name
        if run.name in results:
            before = results[run.name].identity
        elif is_finished(folder) or is_unfinished(folder):
            before = stored.read_identity(folder)
        else:
            continue
        if what := stored.changes(before, stored.identity(run)) if before else [f"no {stored.IDENTITY} in its folder"]:
            found[run.name] = what
    return found


def _check_treebanks(runs: list[Run]) -> None:
    """Reads all files once, so that a mistake in the last one shows now and not after days of training."""
    for treebank in {run.treebank.name: run.treebank for run in runs}.values():
        for key, path in treebank.files.items():
            if key != "vectors" and not sum(1 for _ in read(path, encoding=treebank.encoding, check=require_tree)):
                raise LongarcError(f"{path}: no sentences in it", f"It is `{key}` of the treebank {treebank.name}.")


def _load(treebank: Treebank) -> _Loaded:
    def sentences(path: Path | None) -> list[Sentence]:
        return [] if path is None else read_all(path, encoding=treebank.encoding, check=require_tree)

    return _Loaded(sentences(treebank.train), sentences(treebank.dev), sentences(treebank.test))


def _do(run: Run, loaded: _Loaded, folder: Path, observer: Observer, begins: Begins, threads: int | None) -> Result:
    """Trains, packages and measures, as far as that is left to do."""
    clear_folder(folder, everything=begins == "trained")
    values = stored.identity(run)
    if begins == "trained":
        stored.write_identity(folder, values)
    prepared = load_trained(folder) if begins == "measured" else _train(run, loaded, folder, observer, begins)
    origin = Origin(treebank=run.treebank.name)
    ((model, _),) = write_models(prepared, folder, loaded.dev, {}, origin, quantize=False)
    parser = load(model, threads=threads)
    measured = measure(parser, run.treebank, loaded.test, folder)
    return Result(
        run=run.name,
        treebank=run.treebank.name,
        preset=run.preset,
        system=run.system,
        seed=run.seed,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        training=_training(folder, loaded, parser.threads),
        versions=versions(),
        fingerprint=stored.fingerprint(values),
        identity=values,
        **measured,
    )


def _train(run: Run, loaded: _Loaded, folder: Path, observer: Observer, begins: Begins) -> Prepared:
    with observer.training() as reporter:
        prepared, _ = train_model(
            run.configuration,
            Treebanks(loaded.train, loaded.dev),
            folder,
            reporter,
            vectors=run.treebank.vectors,
            resume=begins == "resumed",
        )
    return prepared


def _training(folder: Path, loaded: _Loaded, threads: int) -> dict[str, Any]:
    curve = [json.loads(line) for line in (folder / LOG).read_text("utf-8").splitlines()]
    return {
        "seconds": round(sum(entry["seconds"] for entry in curve), 1),
        "epochs": len(curve),
        "sentences": len(loaded.train),
        "words": sum(map(len, loaded.train)),
        "dev_sentences": len(loaded.dev),
        "threads": threads,
        "curve": curve,
    }


def versions() -> dict[str, str]:
    """Of all that a score can depend on."""
    libraries = {name: version(name) for name in ("numpy", "torch", "onnxruntime")}
    return {
        "longarc": __version__,
        "python": platform.python_version(),
        **libraries,
        "platform": f"{platform.system()} {platform.machine()}",
    }
