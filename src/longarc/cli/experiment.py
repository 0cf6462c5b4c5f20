"""`longarc experiment`: train, evaluate and compare many models."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.extras import require_extra

if TYPE_CHECKING:
    from longarc.cli.train_progress import TrainingProgress
    from longarc.experiment.plan import Run
    from longarc.experiment.results import Result
    from longarc.experiment.runner import Execute, RemainingTime, Start


def experiment(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The treebanks, systems, presets and seeds.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for models, results and report.")],
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Train nothing; write the report from existing results.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Repeat the runs whose settings or files have changed.")
    ] = False,
    address: Annotated[
        str | None,
        typer.Option(help="Do the runs on a Ray cluster: its address, auto for this machine's, local for all cores."),
    ] = None,
) -> None:
    """Train and evaluate every system on every treebank, and write DIR/report.md and DIR/report.html.

    Ctrl-C saves the state and stops; the same command resumes. A run with a line in DIR/results.jsonl is not repeated.
    See docs/reproduce.md for an example and for how to reproduce the paper's figures.
    """
    from longarc.experiment.plan import read_plan
    from longarc.experiment.report import write_report
    from longarc.experiment.results import read_results

    plan = read_plan(file)
    command = shlex.join(["longarc", "experiment", str(file), "--out", str(out)])
    if report_only:
        results = read_results(out)
    else:
        require_extra("train")
        from longarc.experiment.runner import run_experiment
        from longarc.training.interruption import Interrupted
        from longarc.training.run import lock_folder

        try:
            with lock_folder(out):
                results = run_experiment(plan, out, _Display(), again=again, execute=_executor(address))
        except (Interrupted, KeyboardInterrupt):
            message = f"longarc: stopped; finished runs and the state are saved in {out}. Resume with: {command}"
            message += f" --address {shlex.quote(address)}" if address is not None else ""
            typer.echo(message, err=True)
            raise typer.Exit(130) from None
    for path in write_report(plan, results, out, command):
        typer.echo(str(path))


def _executor(address: str | None) -> Execute:
    """Return what does the runs: this process, or the Ray cluster at an address."""
    if address is None:
        from longarc.experiment.runner import run_in_turn

        return run_in_turn
    require_extra("ray")
    from longarc.experiment.ray_runs import RayRuns

    return RayRuns(address)


class _Display:
    """Prints the progress of the runs; see longarc.experiment.runner.Observer."""

    def run_begins(self, number: int, runs: int, run: Run, start: Start, left: RemainingTime) -> None:
        from longarc.cli.remaining_time import format_duration

        note = {"trained": "", "resumed": " (resumed from its checkpoint)", "measured": " (already trained)"}[start]
        typer.echo(f"run {number} of {runs}: {run}{note}")
        if left.seconds:
            more = "more than " if left.unknown_runs else ""
            typer.echo(f"left for training, by the finished runs: {more}{format_duration(left.seconds)}")

    def training(self) -> TrainingProgress:
        from longarc.cli.train_progress import TrainingProgress

        return TrainingProgress()

    def run_done(self, result: Result) -> None:
        typer.echo(f"test UAS {result.scores['uas']:.2f} LAS {result.scores['las']:.2f}  {result.run}")
