"""Run the commands in the `console` blocks of a Markdown page, and compare or replace the output that follows them.

`python -m tests.helpers.console_blocks docs/command-line.md` writes the current output into the page.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.paths import ROOT

BLOCK = re.compile(r"(?P<varies><!-- figures vary -->\n)?```console\n(?P<content>.*?)```\n", re.DOTALL)
PROMPT = "$ "
PROGRAM = "import sys; sys.argv[0] = 'longarc'; from longarc.cli.main import run; run()"
ENVIRONMENT = {"COLUMNS": "80", "NO_COLOR": "1", "LONGARC_MODELS": "~/.local/share/longarc/models"}


@dataclass(frozen=True)
class Command:
    """A command of a page and its output there."""

    line: str
    output: str
    varies: bool
    """Whether figures in the output are different every time, such as times and speeds"""

    def is_like(self, output: str) -> bool:
        """Return whether this is the output in the page, apart from figures that vary."""
        if not self.varies:
            return output == self.output
        return _without_figures(output) == _without_figures(self.output)


def _without_figures(output: str) -> str:
    durations = re.sub(r"\d+ (s|min|h \d+ min)\b", "0 s", output)
    return re.sub(r" +", " ", re.sub(r"[\d.,]*\d", "0", durations))


def commands_of(page: str) -> Iterator[Command]:
    """Yield the commands of a page; the first line of a command begins with a dollar sign."""
    for block in BLOCK.finditer(page):
        for part in re.split(rf"^{re.escape(PROMPT)}", block["content"], flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            yield Command(line, output, block["varies"] is not None)


class Shell:
    """Runs commands in a folder with the examples of this repository; `longarc` is that of this checkout."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        shutil.copytree(ROOT / "examples", folder / "examples")

    def run(self, line: str) -> str:
        """Return everything that a command prints, without white space at the ends of lines and empty lines around."""
        script = f'longarc() {{ {shlex.join([sys.executable, "-c", PROGRAM])} "$@"; }}\n{line}'
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self._folder,
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        lines = "\n".join(text.rstrip() for text in done.stdout.splitlines()).strip("\n")
        return lines + "\n" if lines else ""


def updated(page: str, shell: Shell) -> str:
    """Return the page with the current output of its commands; figures that vary are left as they are."""
    commands = commands_of(page)

    def replace(block: re.Match[str]) -> str:
        parts = []
        for _ in re.findall(rf"^{re.escape(PROMPT)}", block["content"], flags=re.MULTILINE):
            command = next(commands)
            output = shell.run(command.line)
            parts.append(f"{PROMPT}{command.line}\n{command.output if command.is_like(output) else output}")
        return f"{block['varies'] or ''}```console\n{''.join(parts)}```\n"

    return BLOCK.sub(replace, page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as work:
            path = Path(name)
            path.write_text(updated(path.read_text("utf-8"), Shell(Path(work))), "utf-8")
