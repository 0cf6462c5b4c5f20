"""Each package imports only from its own layer and lower ones."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import longarc

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
    "corpus",
    "spacy_component",
    "configuration",
    "model",
    "training",
    "experiment",
    "server",
    "cli",
    "__main__",
)

CONVENIENCES = ("data/sentence.py", "data/document.py", "data/word.py")
"""Public objects whose methods, such as `to_svg`, import from any layer when they are called."""

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
    if path.relative_to(HOME).as_posix() in CONVENIENCES:
        allowed = LAYERS[: LAYERS.index("runtime") + 1]
    imported = {name.split(".")[1] for name in imported_by(path) if name.startswith("longarc.")}
    assert {layer for layer in imported if layer in LAYERS} <= set(allowed)


def test_torch_is_imported_by_the_network_and_its_training_only() -> None:
    users = [path for path in MODULES for name in imported_by(path) if name.split(".")[0] == "torch"]
    assert [str(path) for path in users if layer_of(path) not in ("model", "training")] == []


def test_the_imports_of_a_module_are_seen() -> None:
    """So that the tests above cannot pass for want of sight."""
    seen = imported_by(HOME / "cli" / "stats.py")
    assert {"longarc.evaluation.treebank_stats.treebank_stats", "longarc.cli.options.read_sentences", "typer"} <= seen
