"""The `longarc` command: assembles the sub-commands and turns users' mistakes into messages."""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from longarc import __version__
from longarc.cli.help_texts import HelpfulCommand, HelpfulGroup, example_lines, paragraphs
from longarc.errors import LongarcError

COMMANDS = {
    "parse": "Parse text or sentences: predict lemmas, tags, heads and relations, keep the rest.",
    "parse-corpus": "Parse a corpus of many documents, on one machine or on a Ray cluster.",
    "train": "Train a tagger and parser on a treebank.",
    "distill": "Train a small model that learns from larger ones.",
    "evaluate": "Evaluate a parser's output against gold trees.",
    "compare": "Compare parsers: is the difference statistically significant?",
    "serve": "Serve models: a web page, a JSON API, and an API compatible with UDPipe.",
    "draw": "Draw trees in the terminal, as SVG or for LaTeX.",
    "stats": "Show statistics of treebanks and how each transition system covers them.",
    "oracle": "Print the transitions that build the trees of a treebank.",
    "convert": "Convert treebanks between CoNLL-U, CoNLL-X and JSON lines.",
    "models": "List the models that are available by name.",
    "download": "Download models that an index lists.",
    "info": "Show a model's card.",
    "package": "Write the model file of a finished training.",
    "build": "Build a model from a recipe: train, package, evaluate.",
    "experiment": "Train and evaluate systems on treebanks, and write a report.",
    "fetch-treebank": "Download and verify the treebanks that recipes and experiments use.",
}
"""Each command, with its line in the list of commands, is a function in the module of the same name."""

OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""The output cannot be written because a disk is full or broken, or standard output is closed."""


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"longarc {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    pass


def _placeholder() -> None:
    """Stand in for a command that is only listed."""


def make_app(commands: list[str], *, list_only: bool = False) -> typer.Typer:
    """Return the command line with these commands. With `list_only`, the commands are not imported and cannot run."""
    app = typer.Typer(
        name="longarc",
        help="Non-projective dependency parsing: parse, train, evaluate, inspect trees and treebanks.",
        epilog=example_lines("parse", "train", "evaluate", "stats")
        + "\n\nEvery input FILE may be - for standard input and may be compressed (.gz, .xz). "
        "Run `longarc COMMAND --help` for details.",
        cls=HelpfulGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in commands:
        module = name.replace("-", "_")
        function = _placeholder if list_only else getattr(importlib.import_module(f"longarc.cli.{module}"), module)
        app.command(
            name,
            cls=HelpfulCommand,
            help=paragraphs(function),
            short_help=COMMANDS[name],
            epilog=example_lines(name),
        )(function)
    return app


def run() -> None:
    """Run the command line. A user's mistake ends with a message and exit status 2; a bug keeps its traceback."""
    _prepare_streams()
    _exit_on_signals()
    warnings.showwarning = lambda message, *_, **__: typer.echo(f"longarc: {message}", err=True)
    app = _requested_app()
    try:
        _run_and_flush(app)
    except LongarcError as error:
        _fail(str(_with_flags(error, app)))
    except BrokenPipeError:
        _discard_output()
        sys.exit(1)
    except OSError as error:
        if error.errno in OUTPUT_ERRORS:
            _discard_output()
            _fail(f"cannot write the output: {error.strerror}")
        if error.filename is None:
            raise
        _fail(f"{error.filename}: {error.strerror}")


def _run_and_flush(app: typer.Typer) -> None:
    try:
        app()
    except SystemExit:
        sys.stdout.flush()  # the interpreter would flush it at exit, and print a traceback if that fails
        raise


def _requested_app() -> typer.Typer:
    """Return the command line with the requested command only, so that the list of commands appears at once."""
    words = sys.argv[1:]
    if "_LONGARC_COMPLETE" in os.environ:  # a shell asks how to complete a command: bash, or another
        words = (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()[1:]
    command = next((word for word in words if not word.startswith("-")), "")
    if command in COMMANDS:
        return make_app([command])
    return make_app(list(COMMANDS), list_only=True)


def _fail(message: str) -> NoReturn:
    typer.echo(f"longarc: {message}", err=True)
    sys.exit(2)


def _prepare_streams() -> None:
    """Replace characters that the terminal's encoding lacks, and occupy the descriptors of closed streams.

    Otherwise a file opened later would get the number of a closed stream. Writing to a closed standard output fails.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: PTH123, SIM115 (a descriptor)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (open until exit)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _with_flags(error: LongarcError, app: typer.Typer) -> LongarcError:
    """Name the option in a hint of a lower layer, which does not know the command line, if the command has it."""
    from longarc.data.files import ENCODING_HINT, OUTPUT_ENCODING_HINT
    from longarc.data.sentence_memory import MEMORY_HINT

    flags = {
        ENCODING_HINT: "--encoding latin-1",
        OUTPUT_ENCODING_HINT: "--output-encoding utf-8",
        MEMORY_HINT: "--memory MEGABYTES",
    }
    flag = flags.get(error.hint, "")
    option = flag.partition(" ")[0].lstrip("-").replace("-", "_")
    if flag and any(option in command.callback.__annotations__ for command in app.registered_commands):
        return LongarcError(error.message, f"{error.hint.removesuffix('.')}: {flag}")
    return error


def _exit_on_signals() -> None:
    """Exit cleanly on SIGTERM and SIGHUP: open `with` blocks remove their temporary files."""

    def exit_on_signal(number: int, _: object) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, exit_on_signal)
    # Windows has no SIGHUP, and nohup ignores it.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, exit_on_signal)


def _discard_output() -> None:
    """Redirect stdout to /dev/null, so that flushing it at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
