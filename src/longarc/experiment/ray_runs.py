"""Do the runs of an experiment as tasks on a Ray cluster, or on all cores of this machine.

All machines must see the files of the experiment and its output folder under the same paths. A task that Ray starts
again, because its machine was lost, resumes from the run's last checkpoint.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import ray

from longarc.cores import available_cores
from longarc.errors import LongarcError
from longarc.experiment.plan import ExperimentPlan, Run
from longarc.experiment.results import RUNS, Result
from longarc.experiment.runner import Observer, RemainingTime, do_run, load_treebank, remaining_runs, start_of
from longarc.training.interruption import Interrupted
from longarc.training.run import lock_folder
from longarc.training.threads import set_up_torch
from longarc.training.trainer import Reporter, SilentReporter

LOCAL = "local"
"""The address that stands for this machine."""
SAVING_SECONDS = 120
"""How long an interrupted experiment waits until its trainings have saved their states."""


class RayRuns:
    """Does runs on the cluster at an address: one thread per run unless the plan says otherwise, or one GPU."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __call__(
        self, plan: ExperimentPlan, results: dict[str, Result], out: Path, observer: Observer
    ) -> Iterator[Result]:
        """Yield the results of the remaining runs in the order in which they end."""
        _connect(self.address)
        try:
            yield from _do_runs(plan, results, out.resolve(), observer)
        finally:
            ray.shutdown()


def _connect(address: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"num_cpus": available_cores(), "include_dashboard": False} if address == LOCAL else {}
    try:
        ray.init(address, logging_level=logging.ERROR, log_to_driver=False, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        hint = "Start a cluster with `ray start --head`, or use the address local for this machine alone."
        raise LongarcError(f"no Ray cluster at {address}: {str(error).splitlines()[0]}", hint) from None


def _do_runs(plan: ExperimentPlan, results: dict[str, Result], out: Path, observer: Observer) -> Iterator[Result]:
    threads = plan.threads or 1
    has_gpus = ray.cluster_resources().get("GPU", 0) > 0
    task = ray.remote(num_cpus=threads, num_gpus=int(has_gpus))(_do_run)
    numbers = {run.name: number for number, run in enumerate(plan.runs, 1)}
    pending = []
    for run in remaining_runs(plan, results):
        start = start_of(out / RUNS / run.name)
        observer.run_begins(numbers[run.name], len(plan.runs), run, start, RemainingTime(0.0, 0))
        pending.append(task.remote(run, out, threads, Path.cwd()))
    try:
        while pending:
            (done,), pending = ray.wait(pending)
            yield _result(done)
    except BaseException:
        for reference in pending:
            ray.cancel(reference)  # the training saves its state
        if pending:
            ray.wait(pending, num_returns=len(pending), timeout=SAVING_SECONDS)
        raise


def _do_run(run: Run, out: Path, threads: int, working_folder: Path) -> Result:
    """Do one run, in a process of the cluster."""
    os.chdir(working_folder)
    set_up_torch(threads)
    folder = out / RUNS / run.name
    with lock_folder(folder):
        return do_run(run, load_treebank(run.treebank), folder, _silent_training, start_of(folder), threads)


def _silent_training() -> AbstractContextManager[Reporter]:
    return nullcontext(SilentReporter())


def _result(reference: Any) -> Result:
    try:
        result: Result = ray.get(reference)
        return result
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, (LongarcError, Interrupted)):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        hint = "Run the same command again: finished runs are kept, and the others resume."
        raise LongarcError(f"the Ray cluster lost a run: {error}", hint) from None
