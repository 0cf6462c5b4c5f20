"""`longarc models`: list the models that are available by name."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from longarc.cli.terminal_tables import print_wrapped
from longarc.data.languages import LANGUAGES


def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """List the models that `--model NAME` finds: those included in Longarc, and those in your model folder.

    A .longarc file in that folder is available under its name without the suffix. A language also stands for a model:
    `--model en` and `--model english` use the first English one, yours before those included in Longarc. Set
    $LONGARC_MODELS to use another folder.
    """
    from longarc.errors import LongarcError
    from longarc.runtime.installed_models import DEFAULT, named_models, user_folder
    from longarc.runtime.model_file import read_card

    entries: list[dict[str, Any]] = []
    for model in named_models():
        entry: dict[str, Any] = {
            "name": model.name,
            "language": model.language,
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
    for entry in entries:
        print_wrapped(_heading(entry))
        for text in (entry.get("damaged"), entry.get("treebank"), entry.get("licence")):
            if text:
                print_wrapped(str(text), first_indent=4)
    typer.echo(f"Your model folder: {user_folder()}")


def _heading(entry: dict[str, Any]) -> str:
    """Return the name, language, size, score and origin of a model."""
    name = entry["name"] + (" (default)" if entry["default"] else "")
    scores = entry.get("scores")
    las = scores.get("dev_las") if isinstance(scores, dict) else None
    parts = [
        name,
        LANGUAGES.get(entry["language"], ""),
        f"{entry['bytes'] / 1e6:.1f} MB",
        f"LAS {las:.2f} on dev" if isinstance(las, float) else "",
        "included in Longarc" if entry["embedded"] else entry["path"],
    ]
    return ", ".join(filter(None, parts))
