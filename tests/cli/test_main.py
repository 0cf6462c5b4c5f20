"""The command line as a whole: start-up time, imports and user errors."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import resource
import shlex
import subprocess
from pathlib import Path

import pytest

from longarc.cli.help_texts import EXAMPLES
from longarc.cli.main import COMMANDS
from longarc.runtime import installed_models
from longarc.transitions import SYSTEMS
from tests.helpers.command import LONGARC, longarc, run_text, succeed
from tests.helpers.small_files import HEARING, READS, as_conllu

# ---------------------------------------------------------------------------------------------------------------------
# Users' mistakes.

CYCLE = as_conllu([READS, [("a", 2, "x"), ("b", 1, "x")]])

HEADLESS = as_conllu([READS]).replace("\t2\tobj", "\t_\tobj")

MISTAKES = {
    "no such file": (["stats", "missing.conllu"], "", "missing.conllu"),
    "a folder": (["oracle", "."], "", "folder"),
    "a cycle": (["stats", "-"], CYCLE, "<stdin>:5: the heads form a cycle: 1 → 2 → 1"),
    "a cycle for the oracle": (["oracle", "-"], CYCLE, "<stdin>:5: the heads form a cycle: 1 → 2 → 1"),
    "no head": (["stats", "-"], HEADLESS, "<stdin>:3: HEAD is _"),
    "three columns": (["stats", "-"], "1\tonly\tthree\n\n", "<stdin>:1:"),
    "head out of range": (["stats", "-"], as_conllu([READS]).replace("\t0\t", "\t9\t"), "<stdin>:2:"),
    "unknown system": (["oracle", "-", "--system", "arc-lazy"], as_conllu([READS]), "nl-covington"),
    "root needed": (["oracle", "-", "-s", "arc-eager", "--without-root"], as_conllu([READS]), "--without-root"),
    "unknown picture": (["stats", "-", "--plot", "picture.bmp"], as_conllu([READS]), ".svg"),
    "no such folder": (["stats", "-", "--plot", "nowhere/picture.svg"], as_conllu([READS]), "nowhere/picture.svg"),
    "unknown encoding": (["stats", "-", "--encoding", "klingon"], as_conllu([READS]), "klingon"),
    "nothing to read": (["stats"], "", "FILE"),
    "a text as a file": (["parse", "word " * 100], "", "File name too long"),
    "a long name of a model": (["parse", "-", "-m", "m" * 300], "Hi.", "File name too long"),
    "a long name of an output": (["convert", "-", "o" * 300 + ".conllu"], as_conllu([READS]), "File name too long"),
    "an output below a file": (["convert", "-", "/dev/null/o.conllu"], as_conllu([READS]), "Not a directory"),
    "a model below a file": (["parse", "-", "-m", "/dev/null/m.longarc"], "Hi.", "/dev/null/m.longarc"),
}


@pytest.mark.parametrize(("arguments", "text", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_ends_with_a_message_and_status_2(
    tmp_path: Path, arguments: list[str], text: str, complaint: str
) -> None:
    done = run_text(*arguments, input=text, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [], "nothing half-written is left"


def test_sentences_that_are_not_trees_can_be_skipped() -> None:
    done = succeed("stats", "-", "--json", "--skip-invalid", input=CYCLE + as_conllu([HEARING]))
    assert json.loads(done.stdout)["treebanks"][0]["sentences"] == 2
    assert "skipped" in done.stderr
    assert "<stdin>:5:" in done.stderr


def test_a_symlink_loop_as_output_is_a_message(tmp_path: Path) -> None:
    loop = tmp_path / "loop.conllu"
    loop.symlink_to(loop.name)
    done = run_text("convert", "-", loop, input=as_conllu([READS]))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert f"{loop}: cannot be written" in done.stderr


@pytest.mark.parametrize("value", ["m" * 300, "/dev/null/models", "loop/models"])
def test_a_model_folder_that_cannot_be_read_is_no_traceback(tmp_path: Path, value: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = subprocess.run(
        [*LONGARC, "models"],
        cwd=tmp_path,
        env={**os.environ, "LONGARC_MODELS": value},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr


def test_an_unreadable_model_folder_is_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setenv("LONGARC_MODELS", str(tmp_path))
    monkeypatch.setattr(Path, "is_dir", denied)
    outcome = longarc("models")
    assert (outcome.status, outcome.stderr) == (2, f"longarc: {tmp_path}: Permission denied\n")


def test_a_user_without_a_home_has_the_embedded_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("LONGARC_MODELS", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert installed_models.find_model(None).exists()


CLOSED = {
    "parse <&-": "standard input is closed",
    "stats - <&-": "standard input is closed",
    "parse --text Hi >&-": "cannot write the output",
    "oracle {file} >&-": "cannot write the output",
    "stats {file} >&-": "cannot write the output",
    "convert {file} - <&- >&-": "cannot write the output",
    "--help >&-": "cannot write the output",
}


@pytest.mark.parametrize(("command", "message"), CLOSED.items(), ids=CLOSED)
def test_closed_streams_are_messages(treebank: Path, command: str, message: str) -> None:
    line = shlex.join(LONGARC) + " " + command.format(file=treebank)
    done = subprocess.run(["bash", "-c", line], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_streams_do_no_harm_where_they_are_not_needed(treebank: Path, tmp_path: Path) -> None:
    line = shlex.join([*LONGARC, "convert", str(treebank), str(tmp_path / "out.conllu")]) + " <&- >&- 2>&-"
    assert subprocess.run(["bash", "-c", line]).returncode == 0
    assert (tmp_path / "out.conllu").read_bytes() == treebank.read_bytes()


# ---------------------------------------------------------------------------------------------------------------------
# Help and completion.


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_plain_and_fits_80_columns(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No types of flags and arguments, such as <bool>, and no cut words."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = longarc(*filter(None, [command]), "--help").stdout.decode().splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if re.search(r"<[a-z]|int range|float range", line)] == []


def test_the_first_example_parses_text() -> None:
    for arguments in (["--help"], ["parse", "--help"]):
        examples = longarc(*arguments).stdout.decode().partition("Examples:")[2].split("\n")
        first = next(line.strip() for line in examples if line.strip())
        assert first.startswith('longarc parse --text "')


@pytest.mark.parametrize("command", EXAMPLES)
def test_examples_have_only_options_that_exist(command: str) -> None:
    page = longarc(command, "--help").stdout.decode()
    for example in EXAMPLES[command]:
        program, name, *arguments = shlex.split(example)
        assert (program, name) == ("longarc", command)
        options = [argument for argument in arguments if argument.startswith("-")]
        assert all(re.search(rf"{option}\b", page.partition("Example")[0]) for option in options)


COMPLETED = {
    "parse --model e": ["en_ewt", "en", "english"],
    "info lat": ["latin"],
    "serve en_": ["en_ewt"],
    "train x.conllu --system arc-s": ["arc-swift", "arc-standard"],
    "oracle x.conllu -s po": ["pointer"],
    "train x.conllu --preset b": ["base"],
    "fetch-treebank hu": ["hu_szeged"],
    "fetch": ["fetch-treebank"],
}


@pytest.mark.parametrize(("line", "words"), COMPLETED.items(), ids=COMPLETED)
def test_a_shell_completes_names(
    model_folders: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: list[str]
) -> None:
    monkeypatch.setenv("_LONGARC_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"longarc {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split())))
    assert longarc().stdout.decode().split() == words


def test_a_missing_torch_brings_the_command_for_a_cpu_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find_spec = importlib.util.find_spec

    def find_all_but_torch(name: str) -> object:
        return None if name == "torch" else find_spec(name)

    monkeypatch.setattr(importlib.util, "find_spec", find_all_but_torch)
    outcome = longarc("train", "x.conllu", "--out", tmp_path / "out")
    assert outcome.status == 2
    lines = outcome.stderr.splitlines()
    assert lines[0] == "longarc: this command needs torch"
    assert "whl/cpu && pip install 'longarc[train]'" in lines[1]
    assert "CUDA" in lines[2]


# ---------------------------------------------------------------------------------------------------------------------
# What is imported when.


def test_help_comes_at_once() -> None:
    """In less than 0.3 s of processor time, which a busy machine does not change, in the best of five runs."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert "stats" in succeed("--help").stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.3, times


LOADED = "import sys; print([name for name in ('numpy', 'torch', 'onnxruntime', 'matplotlib') if name in sys.modules])"


LISTING_SYSTEMS = ["distill", "oracle", "train"]
"""The help of these commands lists the transition systems, which need numpy."""


def test_help_of_any_command_waits_for_no_large_library() -> None:
    code = f"""
import contextlib, io
from longarc.cli.main import COMMANDS, make_app
for commands in ([command for command in COMMANDS if command not in {LISTING_SYSTEMS}], {LISTING_SYSTEMS}):
    for command in commands:
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
            make_app(commands)([command, "--help"])
        assert "--help" in printed.getvalue(), command
    {LOADED}
"""
    assert succeed(code=code).stdout == "[]\n['numpy']\n"


@pytest.mark.parametrize("command", LISTING_SYSTEMS)
def test_help_lists_every_transition_system(command: str) -> None:
    text = " ".join(succeed(command, "--help").stdout.replace("│", " ").split())
    assert ", ".join(SYSTEMS) in text


def test_importing_longarc_imports_no_large_library() -> None:
    assert succeed(code=f"import longarc; {LOADED}").stdout == "[]\n"


def test_stats_and_oracle_need_no_torch(treebank: Path) -> None:
    code = f"""
import contextlib
from longarc.cli.main import COMMANDS, make_app
for command in ("stats", "oracle"):
    with contextlib.suppress(SystemExit):
        make_app([command])([command, {str(treebank)!r}])
{LOADED}
"""
    assert succeed(code=code).stdout.splitlines()[-1] == "['numpy']"
