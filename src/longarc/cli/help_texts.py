"""How `--help` looks: examples, short names for values, and paragraphs that fill the line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup

EXAMPLES = {
    "parse": [
        'longarc parse --text "She left. Nobody knew why."',
        "longarc parse book.txt -o book.conllu",
        "longarc parse input.conllu --model en -o output.conllu",
    ],
    "parse-corpus": [
        "longarc parse-corpus texts/ --out parsed --dry-run",
        "longarc parse-corpus 'dump/*.jsonl.gz' --column body --id-column url --out parsed",
        "longarc parse-corpus pages.parquet --out parsed --address auto --workers 64",
    ],
    "train": [
        "longarc train train.conllu --dev dev.conllu --out my-model",
        "longarc train train.conllu --dev dev.conllu --out my-model --resume",
    ],
    "distill": [
        "longarc distill big.longarc --train train.conllu --dev dev.conllu --out small",
        "longarc distill a.longarc b.longarc c.longarc --preset fast --train train.conllu --text news.txt --out small",
    ],
    "evaluate": ["longarc evaluate gold.conllu system.conllu --breakdown"],
    "compare": ["longarc compare gold.conllu one.conllu two.conllu"],
    "serve": ["longarc serve", "longarc serve en my-model/my-model.longarc --port 8000"],
    "draw": ["longarc draw trees.conllu -n 3", "longarc draw trees.conllu -n 3 -o tree.svg"],
    "stats": ["longarc stats train.conllu dev.conllu"],
    "models": ["longarc models", "longarc models remove da_ddt"],
    "download": ["longarc download --index https://example.org/models/", "longarc download danish"],
    "oracle": ["longarc oracle trees.conllu --show-states"],
    "convert": ["longarc convert train.conll train.conllu"],
    "info": ["longarc info en"],
    "package": ["longarc package my-model --dev dev.conllu --quantize"],
    "build": ["longarc build models/en_ewt.toml --out build"],
    "experiment": ["longarc experiment experiments/base-open.toml --out results"],
    "fetch-treebank": ["longarc fetch-treebank hu_szeged"],
}
"""Examples of each command that has options or arguments to show."""

PLACEHOLDERS = {
    "int": "N",
    "int range": "N",
    "float": "X",
    "float range": "X",
    "str": "TEXT",
    "list[str]": "TEXT",
    "path": "PATH",
    "file": "FILE",
    "list[path]": "PATH",
    "list[Path]": "PATH",
    "Path": "PATH",
}
"""What stands for a value in the help, by typer's name for its type."""


def paragraphs(function: Callable[..., Any]) -> str:
    """Return the docstring of a command with one line per paragraph, so that the terminal breaks the lines."""
    parts = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


def example_lines(*commands: str) -> str:
    """Return the first example of one command or of several as an epilog."""
    examples = EXAMPLES.get(commands[0], []) if len(commands) == 1 else [EXAMPLES[name][0] for name in commands]
    return "\n\n".join(["Examples:" if len(examples) > 1 else "Example:", *examples]) if examples else ""


class HelpfulCommand(TyperCommand):
    """A command whose help shows no types of flags and arguments, and short names for other values."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with placeholders for the help."""
        return _with_placeholders(super().get_params(ctx))


class HelpfulGroup(TyperGroup):
    """The same for the list of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with placeholders for the help."""
        return _with_placeholders(super().get_params(ctx))


def _with_placeholders(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        # Versions of typer before 0.26 show no types in angle brackets.
        if hasattr(parameter, "display_type_rich"):
            parameter.display_type_rich = partial(_placeholder, parameter)
    return parameters


def _placeholder(parameter: Any, ctx: Any) -> str:
    if parameter.param_type_name == "argument" or parameter.is_flag:
        return ""
    if parameter.metavar:
        return str(parameter.metavar)
    label = str(parameter.display_type(ctx)).strip("<>")
    return PLACEHOLDERS.get(label, label)
