"""`longarc info`: print a model's card."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from longarc.cli.completion import complete_model
from longarc.cli.terminal_tables import make_table


def info(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            autocompletion=complete_model,
            help="A .longarc file, or a name or language that `longarc models` lists; en_ewt by default.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """Print a model's card: its training data and command, scores, licence and versions."""
    from longarc.runtime.installed_models import find_model
    from longarc.runtime.model_file import read_model_file

    path = find_model(model)
    model_file = read_model_file(path)
    if as_json:
        typer.echo(json.dumps(model_file.card, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.markup import escape

    table = make_table("", "", left=2, title=escape(str(path)))
    for key, value in {**model_file.card, "bytes": f"{path.stat().st_size:,}"}.items():
        if isinstance(value, dict):
            value = "\n".join(f"{name}: {item}" for name, item in value.items())
        if value not in ("", None):
            table.add_row(escape(key), escape(str(value)))
    table.add_row("columns", escape(" ".join(model_file.description.columns)))
    table.add_row("relations", escape(" ".join(model_file.description.relations.names)))
    Console().print(table)
