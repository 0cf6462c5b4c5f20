"""The `longarc` command: puts the commands together and turns users' mistakes into messages."""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
from typing import Annotated

import typer

from longarc import __version__
from longarc.errors import LongarcError

COMMANDS = {
    "parse": "Parse sentences: tags, heads and relations are predicted, everything else stays as it is.",
    "train": "Train a tagger and parser on a treebank.",
    "evaluate": "Compare a parser's output with gold trees.",
    "compare": "Compare parsers with each other: is the difference more than luck?",
    "serve": "Serve models: a page to look at trees, a JSON interface, the UDPipe service.",
    "draw": "Draw trees in the terminal, as SVG or for LaTeX.",
    "stats": "Show what treebanks are like, and how each transition system fares.",
    "oracle": "Print the transitions that build the trees of a treebank.",
    "convert": "Convert treebanks between CoNLL-U, CoNLL-X and JSON lines.",
    "models": "List the models that can be asked for by name.",
    "info": "Show what a model is.",
    "package": "Write the model file of a finished training.",
    "build": "Make a model from a recipe: train, package, measure.",
    "experiment": "Train and measure systems on treebanks, and write a report.",
}
"""Each command is a function of its own name in a module of that name; the line is for the list of commands."""

CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a full or broken disk says."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"longarc {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    pass


def _only_listed() -> None:
    """Stands for a command in the list of commands."""


def make_app(commands: list[str], *, listed: bool = False) -> typer.Typer:
    """The command line with some of the commands; if they are only to be listed, their modules are not imported."""
    app = typer.Typer(
        name="longarc",
        help="Non-projective dependency parsing: parse, train, evaluate, look at trees and treebanks.",
        epilog="Every FILE may be - for standard input and may be compressed (.gz, .xz). "
        "`longarc COMMAND --help` says more. Try: longarc stats train.conllu",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in commands:
        function = _only_listed if listed else getattr(importlib.import_module(f"longarc.cli.{name}"), name)
        app.command(name, short_help=COMMANDS[name])(function)
    return app


def run() -> None:
    """Runs the command line. A user's mistake ends with a message and status 2; a bug keeps its traceback."""
    _prepare_process()
    wanted = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    # Only the command that was asked for is imported: the list of all of them has to come at once.
    if wanted in COMMANDS:
        app = make_app([wanted])
    else:
        app = make_app(list(COMMANDS), listed="_LONGARC_COMPLETE" not in os.environ)
    try:
        app()
    except LongarcError as error:
        typer.echo(f"longarc: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        _forget_output()  # its reader has had enough
        sys.exit(1)
    except OSError as error:
        if error.errno not in CANNOT_WRITE:
            raise
        _forget_output()
        typer.echo(f"longarc: the output cannot be written: {error.strerror}", err=True)
        sys.exit(2)


def _prepare_process() -> None:
    """A terminal that lacks a character gets another in its place; who is told to stop tidies up first."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")

    def stop(number: int, _: object) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, stop)


def _forget_output() -> None:
    """Nothing more can be said to standard output, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
