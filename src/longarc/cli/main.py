"""The `longarc` command: puts the commands together and turns users' mistakes into messages."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from longarc import __version__
from longarc.cli.compare import compare
from longarc.cli.convert import convert
from longarc.cli.draw import draw
from longarc.cli.evaluate import evaluate
from longarc.cli.experiment import experiment
from longarc.cli.info import info
from longarc.cli.oracle import oracle
from longarc.cli.package import package
from longarc.cli.parse import parse
from longarc.cli.stats import stats
from longarc.cli.train import train
from longarc.errors import LongarcError

app = typer.Typer(
    name="longarc",
    help="Non-projective dependency parsing: look at treebanks, follow transition systems, convert files.",
    epilog="Every FILE may be - for standard input and may be compressed (.gz, .xz). Try: longarc stats train.conllu",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(stats)
app.command()(oracle)
app.command()(convert)
app.command()(draw)
app.command()(train)
app.command()(evaluate)
app.command()(compare)
app.command()(parse)
app.command()(info)
app.command()(package)
app.command()(experiment)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"longarc {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    pass


def run() -> None:
    """Runs the command line. A user's mistake ends with a message and status 2; a bug keeps its traceback."""
    try:
        app()
    except LongarcError as error:
        typer.echo(f"longarc: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output has had enough; nothing more can be said to it, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
