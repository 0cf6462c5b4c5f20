"""`longarc info`: what a model is."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def info(
    model: Annotated[
        str | None, typer.Argument(help="A .longarc file or a name that `longarc models` lists; else the default one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """Print a model's card: what it was trained on, by which command, its scores, licence and versions."""
    from longarc.runtime.installed_models import find_model
    from longarc.runtime.model_file import read_model_file

    path = find_model(model)
    package = read_model_file(path)
    if as_json:
        typer.echo(json.dumps(package.card, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, title=escape(str(path)), title_justify="left")
    for key, value in package.card.items():
        if isinstance(value, dict):
            value = "\n".join(f"{name}: {item}" for name, item in value.items())
        if value not in ("", None):
            table.add_row(escape(key), escape(str(value)))
    table.add_row("words known", f"{len(package.description.words):,}")
    table.add_row("relations", escape(" ".join(package.description.relations.names)))
    Console().print(table)
