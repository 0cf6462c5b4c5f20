"""`longarc experiment`: many trainings, measured and compared."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.train import require_torch

if TYPE_CHECKING:
    from longarc.cli.train_progress import TrainingProgress
    from longarc.experiment.plan import Run
    from longarc.experiment.results import Result
    from longarc.experiment.runner import Begins


def experiment(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Treebanks, systems, presets and seeds.")],
    out: Annotated[Path, typer.Option(help="The folder for trainings, results and report.")],
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Train nothing; make the report from the results that are there.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Repeat the runs whose settings or files have changed since.")
    ] = False,
) -> None:
    """Train and measure every system on every treebank, and write DIR/report.md and DIR/report.html.

    Ctrl-C stops after saving, and the same command goes on. A run that has a line in DIR/results.jsonl is not repeated.
    docs/reproduce.md has an example and says how the paper's figures come about.
    """
    from longarc.experiment.plan import read_plan
    from longarc.experiment.report import write_report
    from longarc.experiment.results import read_results

    plan = read_plan(file)
    command = shlex.join(["longarc", "experiment", str(file), "--out", str(out)])
    if report_only:
        results = read_results(out)
    else:
        require_torch()
        from longarc.experiment.runner import run_experiment
        from longarc.training.trainer import Interrupted

        try:
            results = run_experiment(plan, out, _Display(), again=again)
        except (Interrupted, KeyboardInterrupt):
            message = f"longarc: stopped; what is done is kept in {out}. Go on with the same command: {command}"
            typer.echo(message, err=True)
            raise typer.Exit(130) from None
    for path in write_report(plan, results, out, command):
        typer.echo(str(path))


class _Display:
    """Shows which run it is; see longarc.experiment.runner.Observer."""

    def run_begins(self, number: int, runs: int, run: Run, begins: Begins) -> None:
        note = {"trained": "", "resumed": " (goes on from its checkpoint)", "measured": " (trained already)"}[begins]
        typer.echo(f"run {number} of {runs}: {run}{note}")

    def training(self) -> TrainingProgress:
        from longarc.cli.train_progress import TrainingProgress

        return TrainingProgress()

    def run_done(self, result: Result) -> None:
        typer.echo(f"test UAS {result.scores['uas']:.2f} LAS {result.scores['las']:.2f}  {result.run}")
