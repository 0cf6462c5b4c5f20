"""Run the `longarc` command: in this process, through typer's test runner, or in a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from typer.testing import CliRunner, Result

from longarc.cli.main import COMMANDS, make_app, run

LONGARC = [sys.executable, "-c", "from longarc.cli.main import run; run()"]
"""The command line of a process that runs this checkout's `longarc`."""


@dataclass(frozen=True)
class Outcome:
    """Exit status and output of a command."""

    status: int
    stdout: bytes
    stderr: str


def longarc(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
    """Run the command in this process. An exception that a user would see as a traceback is raised here."""
    out, err = io.BytesIO(), io.BytesIO()
    given = io.BufferedReader(cast(io.RawIOBase, io.BytesIO(stdin)))
    status = 0
    with (
        patch("sys.argv", ["longarc", *map(str, arguments)]),
        patch("sys.stdin", io.TextIOWrapper(given, encoding="utf-8")),
        patch("sys.stdout", io.TextIOWrapper(out, encoding="utf-8", write_through=True)),
        patch("sys.stderr", io.TextIOWrapper(err, encoding="utf-8", write_through=True)),
    ):
        try:
            run()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
        return Outcome(status, out.getvalue(), err.getvalue().decode())


def invoke(arguments: list[str], **options: Any) -> Result:
    """Run the command through typer's test runner."""
    return CliRunner().invoke(make_app(list(COMMANDS)), arguments, **options)


def invoke_successfully(*arguments: str | Path) -> Result:
    """Run the command through typer's test runner and check that it succeeds."""
    result = invoke(list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result


def run_longarc(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, with these environment variables added."""
    command = [*LONGARC, *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env={**os.environ, **environment})


def run_text(*arguments: str | Path, code: str = LONGARC[-1], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command, or other Python code, in a process of its own: text streams, a wide terminal, no colours."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        **options,
    )


def succeed(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command as `run_text` does and check that it succeeds."""
    result = run_text(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result
