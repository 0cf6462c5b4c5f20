"""`longarc fetch-treebank`: download treebanks and word vectors and verify them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from longarc.cli.completion import complete_treebank
from longarc.cli.terminal_tables import print_wrapped


def fetch_treebank(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=complete_treebank,
            help="For example en_ewt. Without a name, list all of them.",
        ),
    ] = None,
    local: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Copy DIR/NAME/train.conllu (or .xz, .gz) and so on; no download."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The data folder; $LONGARC_TREEBANKS, or treebanks/, by default."),
    ] = None,
) -> None:
    """Download the treebanks and word vectors that experiments/ and models/ use, and verify their checksums.

    The files are written to DIR/NAME. Files that are already there are not downloaded again.
    """
    from longarc.data import treebank_sources

    for name in names or treebank_sources.treebank_sources():
        source = treebank_sources.find_source(name)
        print_wrapped(f"{name}: {source.title}; licence: {source.licence}")
        if not names:
            continue
        for path, action in treebank_sources.fetch_treebank(name, to or treebank_sources.data_folder(), local):
            typer.echo(f"{path}: {action}")
