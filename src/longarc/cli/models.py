"""`longarc models`: list the models that are available by name, and remove some."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from longarc.cli.terminal_tables import print_wrapped
from longarc.data.languages import LANGUAGES


def models(
    remove: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[remove NAME…]", help="Delete these models from your model folder.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """List the models that `--model NAME` finds: those in your model folder, those included in Longarc, and those of
    installed model packages.

    A .longarc file in that folder is available under its name without the suffix. A language also stands for a model:
    `--model en` and `--model english` use the first English one, yours before those included in Longarc. Set
    $LONGARC_MODELS to use another folder. `longarc models remove NAME` deletes a model from that folder.
    """
    from longarc.errors import LongarcError
    from longarc.runtime.installed_models import DEFAULT, named_models, user_folder
    from longarc.runtime.model_file import read_card

    if remove:
        _remove(remove)
        return
    entries: list[dict[str, Any]] = []
    for model in named_models():
        entry: dict[str, Any] = {
            "name": model.name,
            "language": model.language,
            "path": str(model.path),
            "embedded": model.embedded,
            "package": model.package,
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
        _place(entry),
    ]
    return ", ".join(filter(None, parts))


def _place(entry: dict[str, Any]) -> str:
    if entry["embedded"]:
        return "included in Longarc"
    return f"in the package {entry['package']}" if entry["package"] else str(entry["path"])


def _remove(words: list[str]) -> None:
    """Delete models from the user's folder, if all of them are there."""
    from longarc.errors import LongarcError
    from longarc.runtime.installed_models import named_models, user_folder

    action, *names = words
    if action != "remove" or not names:
        raise LongarcError(f"{' '.join(words)}: expected `remove` and the names of models")
    models = {model.name: model for model in named_models() if model.is_users}
    for name in names:
        if name not in models:
            raise LongarcError(f"{name}: not in your model folder", f"The folder is {user_folder()}.")
    for name in names:
        models[name].path.unlink()
        typer.echo(f"removed {models[name].path}")
