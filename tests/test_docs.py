"""Documentation: links lead somewhere, examples and notebooks run, the site builds, the README has two commands."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import longarc
from longarc.runtime.steps import oracle_steps
from longarc.transitions import SYSTEMS
from tests.helpers.console_blocks import Shell, commands_of
from tests.helpers.paths import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)\s]*)\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_of_the_repository(page: Path) -> None:
    for link in LINK.findall(page.read_text("utf-8")):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT) and target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_readme_has_two_commands_to_run_and_the_second_runs_the_tests() -> None:
    commands = re.findall(r"^```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(commands) == 2
    assert "pytest" in commands[1]


@pytest.mark.slow
def test_the_python_examples_run(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text("utf-8"), re.DOTALL)
    for example in examples:
        run = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
    assert (tmp_path / "copy.conllu").read_bytes() == (ROOT / "examples" / "nonprojective.conllu").read_bytes()


def test_every_transition_system_has_a_page_with_an_up_to_date_picture() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "pictures" / "make_system_pictures.py"))
    overview = (ROOT / "docs" / "transition_systems.md").read_text("utf-8")
    for name, system in SYSTEMS.items():
        assert f"`{name}`" in overview
        picture = ROOT / "docs" / "systems" / f"{name}.svg"
        if not name.startswith("non-monotonic"):
            sentence = script["example"](system.projective)
            assert script["draw"](oracle_steps(sentence, name), sentence.forms) == picture.read_text("utf-8")


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr
    reference = (tmp_path / "site" / "reference" / "index.html").read_text("utf-8")
    missing = [name for name in longarc.__all__ if name != "__version__" and name not in reference]
    assert missing == [] and "&gt;&gt;&gt;" in reference and "<blockquote>" not in reference


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebooks_run(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()


@pytest.mark.slow
def test_the_commands_print_what_the_walk_through_shows(tmp_path: Path) -> None:
    """If they do not, `python -m tests.helpers.console_blocks docs/command-line.md` writes what they print now."""
    shell = Shell(tmp_path)
    commands = list(commands_of((ROOT / "docs" / "command-line.md").read_text("utf-8")))
    assert len(commands) >= 14
    for command in commands:
        output = shell.run(command.line)
        assert command.is_like(output), f"$ {command.line}\n{output}"
