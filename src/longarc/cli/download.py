"""`longarc download`: fetch models that an index lists."""

from __future__ import annotations

from typing import Annotated

import typer

from longarc.cli.terminal_tables import print_wrapped
from longarc.data.languages import LANGUAGES


def download(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="A model or a language. Without a name, list the models of the index."),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The index, or a folder with a file index.json; $LONGARC_INDEX by default."),
    ] = None,
) -> None:
    """Download models to your model folder, where `--model NAME` finds them.

    An index is a JSON file with the address, size, SHA-256 checksum and licence of each model. A download that was
    interrupted continues. A model is moved into place when its checksum is right.
    """
    from longarc.cli.progress import show_bytes
    from longarc.runtime.model_index import ModelIndex

    models = ModelIndex(index)
    if not names:
        for name, model in sorted(models.models.items()):
            las = "" if model.las is None else f"LAS {model.las:.2f} on dev"
            parts = [name, LANGUAGES.get(model.language, ""), f"{model.bytes / 1e6:.1f} MB", las]
            print_wrapped(", ".join(filter(None, parts)))
            print_wrapped(". ".join(filter(None, [model.treebank, f"Licence: {model.licence}"])), first_indent=4)
        return
    for name in map(models.find, names):
        model = models.models[name]
        print_wrapped(f"{name}: {model.bytes / 1e6:.1f} MB. Licence: {model.licence}")
        with show_bytes(name, model.bytes) as progress:
            path = models.download(name, progress)
        typer.echo(str(path))
