"""`longarc models`: list the models that are available by name."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer


def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """List the models that `--model NAME` finds: those included in Longarc, and those in your model folder.

    A .longarc file in that folder is available under its name without the suffix. Set $LONGARC_MODELS to use another
    folder.
    """
    from longarc.errors import LongarcError
    from longarc.runtime.installed_models import DEFAULT, named_models, user_folder
    from longarc.runtime.model_file import read_card

    entries: list[dict[str, Any]] = []
    for model in named_models():
        entry: dict[str, Any] = {
            "name": model.name,
            "path": str(model.path),
            "embedded": model.embedded,
            "default": model.name == DEFAULT,
            "bytes": model.path.stat().st_size,
        }
        try:
            card = read_card(model.path)
            entry |= {key: card.get(key, "") for key in ("treebank", "licence", "scores")}
        except LongarcError as error:
            entry["damaged"] = error.message
        entries.append(entry)
    if as_json:
        typer.echo(json.dumps({"folder": str(user_folder()), "models": entries}, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("name", "treebank", "licence", "dev LAS", "size", "where")
    for entry in entries:
        if "damaged" in entry:
            table.add_row(escape(entry["name"]), escape(entry["damaged"]), "", "", "", escape(entry["path"]))
            continue
        las = entry["scores"].get("dev_las") if isinstance(entry["scores"], dict) else None
        table.add_row(
            escape(entry["name"]) + (" (default)" if entry["default"] else ""),
            escape(str(entry["treebank"])),
            escape(str(entry["licence"])),
            f"{las:.2f}" if isinstance(las, float) else "",
            f"{entry['bytes'] / 1e6:.1f} MB",
            "included in Longarc" if entry["embedded"] else escape(entry["path"]),
        )
    if entries:
        Console().print(table)
    typer.echo(f"Your model folder: {user_folder()}")
