"""`longarc stats` and `longarc oracle` from the outside: figures, pictures, transitions, users' mistakes; and what the
package imports."""

from __future__ import annotations

import ast
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import longarc
from longarc.cli.main import COMMANDS, make_app
from longarc.transitions import SYSTEMS
from tests.plain_systems import PLAIN_SYSTEMS, Move, PlainSystem

STACK_SYSTEMS = ("arc-swift", "arc-eager", "arc-standard", "arc-hybrid")

# A projective tree; a non-projective one (`on the issue` belongs to `hearing`); one with two roots, which in the file
# has a multiword token and an empty node as well.
READS = [("She", 2, "nsubj"), ("reads", 0, "root"), ("books", 2, "obj")]
HEARING = [
    *(("A", 2, "det"), ("hearing", 4, "nsubj:pass"), ("is", 4, "aux:pass"), ("scheduled", 0, "root")),
    *(("on", 7, "case"), ("the", 7, "det"), ("issue", 2, "nmod"), ("today", 4, "obl")),
]
TWO_ROOTS = [("Vá", 0, "root"), ("te", 1, "obj"), ("sai", 0, "root"), (".", 3, "punct")]
SENTENCES = [READS, HEARING, TWO_ROOTS]


def rows(sentence: list[tuple[str, int, str]]) -> list[str]:
    return [f"{i}\t{form}\t_\tX\t_\t_\t{head}\t{rel}\t_\t_" for i, (form, head, rel) in enumerate(sentence, 1)]


def as_conllu(sentences: list[list[tuple[str, int, str]]]) -> str:
    return "".join("\n".join(rows(sentence)) + "\n\n" for sentence in sentences)


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    special = rows(TWO_ROOTS)
    special.insert(3, "3.1\telided\t_\tX\t_\t_\t_\t_\t_\t_")
    special.insert(0, "1-2\tVá-te\t_\t_\t_\t_\t_\t_\t_\t_")
    path = tmp_path / "small.conllu"
    path.write_text(as_conllu([READS, HEARING]) + "\n".join(special) + "\n\n", encoding="utf-8")
    return path


def run(*arguments: str | Path, code: str = "from longarc.cli.main import run; run()", **options: Any) -> Any:
    """The command line in a process of its own, on a wide screen without colours."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        **options,
    )


def succeed(*arguments: str | Path, **options: Any) -> Any:
    done = run(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done


def inside(*arguments: str | Path) -> Any:
    """The command line within this process, where it is what the command prints that matters."""
    done = CliRunner().invoke(
        make_app(list(COMMANDS)), [str(argument) for argument in arguments], catch_exceptions=False
    )
    assert done.exit_code == 0, done.stderr
    return done


# ---------------------------------------------------------------------------------------------------------------------
# stats


def test_stats_prints_one_json_object_with_the_figures(treebank: Path) -> None:
    printed = json.loads(succeed("stats", "--json", treebank).stdout)
    (figures,) = printed["treebanks"]
    systems = figures.pop("systems")
    assert figures == {
        "file": str(treebank),
        "sentences": 3,
        "words": 15,
        "words_per_sentence": 5.0,
        "longest_sentence": 8,
        "relations": 10,
        "relation_counts": {
            **{"root": 4, "det": 2, "obj": 2, "nsubj": 1, "nsubj:pass": 1, "aux:pass": 1, "case": 1},
            **{"nmod": 1, "obl": 1, "punct": 1},
        },
        "nonprojective_arcs": 1,
        "nonprojective_arcs_percent": 6.6667,
        "nonprojective_sentences": 1,
        "nonprojective_sentences_percent": 33.3333,
        "crossing_arcs_percent": 20.0,  # hearing → issue with scheduled → today and with 0 → scheduled
        "gap_degrees": {"0": 2, "1": 1},
        "several_roots": 1,
        "several_roots_percent": 33.3333,
        "multiword_tokens": 1,
        "empty_nodes": 1,
    }
    assert list(systems) == list(SYSTEMS)
    whole = {"representable_sentences": 3, "representable_sentences_percent": 100.0, "arcs_recovered_percent": 100.0}
    assert systems["nl-covington"] == {"transitions_per_sentence": 10.0, **whole}
    assert systems["covington"] == {"transitions_per_sentence": 12.6667, **whole}  # 6, 22 and 10
    for name in STACK_SYSTEMS:
        assert systems[name]["representable_sentences"] == 2
        assert systems[name]["representable_sentences_percent"] == 66.6667
        assert 50 < systems[name]["arcs_recovered_percent"] < 100
        assert systems[name]["transitions_per_sentence"] <= 10


def test_stats_prints_tables_that_say_the_same(treebank: Path) -> None:
    printed = succeed("stats", treebank.name, cwd=treebank.parent).stdout
    cells = [[cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")] for line in printed.splitlines()]
    for row in (
        ["sentences", "3"],
        ["words", "15"],
        ["words per sentence", "5.00"],
        ["non-projective arcs", "1 (6.67 %)"],
        ["non-projective sentences", "1 (33.33 %)"],
        ["several roots", "1 (33.33 %)"],
        ["largest gap degree", "1"],
        ["multiword tokens", "1"],
        ["empty nodes", "1"],
        ["system", "transitions per sentence", "represented sentences %", "arcs recovered %"],
        ["covington", "12.67", "100.00", "100.00"],
        ["nl-covington", "10.00", "100.00", "100.00"],
    ):
        assert row in cells
    assert printed.startswith("small.conllu")


def test_stats_takes_several_treebanks_and_standard_input(treebank: Path) -> None:
    done = succeed("stats", "--json", treebank, "-", input=as_conllu([READS]))
    first, second = json.loads(done.stdout)["treebanks"]
    assert (first["file"], first["sentences"]) == (str(treebank), 3)
    assert (second["file"], second["sentences"]) == ("-", 1)


def test_stats_of_an_empty_file_are_zeros(tmp_path: Path) -> None:
    empty = tmp_path / "empty.conllu"
    empty.touch()
    (figures,) = json.loads(inside("stats", "--json", empty).stdout)["treebanks"]
    assert figures["sentences"] == figures["words"] == figures["words_per_sentence"] == 0


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG\r\n")])
def test_stats_draws_a_picture(treebank: Path, tmp_path: Path, suffix: str, start: bytes) -> None:
    picture = tmp_path / f"transitions{suffix}"
    printed = succeed("stats", treebank, "--plot", picture).stdout
    drawn = picture.read_bytes()
    assert drawn.startswith(start)
    assert len(drawn) > 5000
    if suffix == ".svg":
        assert all(f"<!-- {name} -->".encode() in drawn for name in SYSTEMS), "a legend with every system"
    assert "nl-covington" in printed


# ---------------------------------------------------------------------------------------------------------------------
# oracle


def move_named(system: PlainSystem, transition: str) -> Move:
    """The legal move that a transition's name means."""
    kind, _, k = transition.partition("_")
    lists = system.lists()
    words = (lists["λ1"] if "λ1" in lists else lists["Stack"])[::-1]
    found = []
    for move in system.moves():
        partner = move.second if move.kind == "Left-Arc" else move.first
        if move.kind == kind and (not k or words.index(partner) == int(k) - 1):
            found.append(move)
    (move,) = found
    return move


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_printed_transitions_build_the_trees(name: str, treebank: Path) -> None:
    done = inside("oracle", treebank, "--system", name)
    assert done.stdout.endswith("\n") and not done.stdout.endswith("\n\n")
    blocks = done.stdout.rstrip("\n").split("\n\n")
    assert len(blocks) == len(SENTENCES)
    for sentence, block in zip(SENTENCES, blocks, strict=True):
        lossy = sentence is HEARING and name in STACK_SYSTEMS
        system = PLAIN_SYSTEMS[name](len(sentence), single_root=False)
        for line in block.split("\n"):
            transition, *relation = line.split("\t")
            move = move_named(system, transition)
            system.take(move)
            if move.is_arc:
                _, head, label = sentence[move.second - 1]
                assert relation == [label if head == move.first else "_"]
            else:
                assert relation == []
        assert not system.moves(), "the end is reached"
        assert (system.heads[1:] == [head for _, head, _ in sentence]) != lossy
    assert ("1 non-projective sentence" in done.stderr) == (name in STACK_SYSTEMS)


def test_nl_covington_is_what_the_oracle_follows_unless_told(treebank: Path) -> None:
    expected = ["Shift", "Left-Arc_1\tnsubj", "Right-Arc_1\troot", "Shift", "Right-Arc_1\tobj", "Shift"]
    assert inside("oracle", treebank).stdout.split("\n\n")[0].split("\n") == expected


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
    "nothing to read": (["stats"], "", "treebanks"),
}


@pytest.mark.parametrize(("arguments", "text", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_ends_with_a_message_and_status_2(
    tmp_path: Path, arguments: list[str], text: str, complaint: str
) -> None:
    done = run(*arguments, input=text, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [], "nothing half-written is left"


def test_sentences_that_are_not_trees_can_be_skipped() -> None:
    done = succeed("stats", "-", "--json", "--skip-invalid", input=CYCLE + as_conllu([HEARING]))
    assert json.loads(done.stdout)["treebanks"][0]["sentences"] == 2
    assert "skipped" in done.stderr
    assert "<stdin>:5:" in done.stderr


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    """`longarc oracle … | head -1` ends quietly."""
    treebank = tmp_path / "long.conllu"
    treebank.write_text(as_conllu([READS] * 20_000), encoding="utf-8")
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()", "oracle", str(treebank)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"Shift\n"
        process.stdout.close()
        assert process.stderr.read() == b""


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


def test_help_of_any_command_waits_for_no_large_library() -> None:
    code = f"""
import contextlib, io
from longarc.cli.main import COMMANDS, make_app
for command in COMMANDS:
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        make_app(list(COMMANDS))([command, "--help"])
    assert "--help" in printed.getvalue(), command
{LOADED}
"""
    assert succeed(code=code).stdout == "[]\n"


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


# ---------------------------------------------------------------------------------------------------------------------
# The layers.

LAYERS = (
    "errors",
    "cores",
    "data",
    "trees",
    "transitions",
    "decoding",
    "evaluation",
    "drawing",
    "runtime",
    "spacy_component",
    "model",
    "training",
    "experiment",
    "server",
    "cli",
)
HOME = Path(longarc.__file__).parent
MODULES = sorted(path for path in HOME.rglob("*.py") if path != HOME / "__init__.py")


def layer_of(path: Path) -> str:
    return path.relative_to(HOME).parts[0].removesuffix(".py")


def imported_by(path: Path) -> set[str]:
    """The full names of the modules that a file imports anywhere, in functions and for type checkers included."""
    package = ("longarc", *path.relative_to(HOME).parts[:-1])
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


def test_every_package_has_its_layer() -> None:
    packages = {path.name for path in HOME.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    modules = {path.stem for path in HOME.glob("*.py")} - {"__init__"}
    assert packages | modules <= set(LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(HOME)))
def test_a_module_imports_from_the_layers_above_its_own_only(path: Path) -> None:
    allowed = LAYERS[: LAYERS.index(layer_of(path)) + 1]
    imported = {name.split(".")[1] for name in imported_by(path) if name.startswith("longarc.")}
    assert {layer for layer in imported if layer in LAYERS} <= set(allowed)


def test_torch_is_imported_by_the_network_and_its_training_only() -> None:
    users = [path for path in MODULES for name in imported_by(path) if name.split(".")[0] == "torch"]
    assert [str(path) for path in users if layer_of(path) not in ("model", "training")] == []


def test_the_imports_of_a_module_are_seen() -> None:
    """So that the tests above cannot pass for want of sight."""
    seen = imported_by(HOME / "cli" / "stats.py")
    assert {"longarc.evaluation.treebank_stats.treebank_stats", "longarc.cli.options.read_sentences", "typer"} <= seen
