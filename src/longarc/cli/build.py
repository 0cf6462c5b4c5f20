"""`longarc build`: a model from a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.options import read_sentences
from longarc.cli.train import require_torch

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence


def build(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE.toml", help="What makes the model; see models/.")],
    out: Annotated[Path, typer.Option(help="The folder for training and models.")],
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads; all cores this process may use unless given.")
    ] = None,
) -> None:
    """Make a model from a recipe: train, package in 32 and in 8 bits, measure on dev and test.

    Ctrl-C stops after saving, and the same command goes on where it was; what is done already is not done again.
    DIR/NAME/NAME-int8.longarc is the file to parse with.
    """
    require_torch()
    from longarc.cli.train_progress import PackagingProgress, TrainingProgress
    from longarc.training.packaging import load_trained
    from longarc.training.recipe import read_recipe
    from longarc.training.run import (
        Treebanks,
        clear_folder,
        is_finished,
        is_unfinished,
        measured_on_test,
        train_model,
        write_models,
    )
    from longarc.training.threads import set_up_torch
    from longarc.training.trainer import Interrupted
    from longarc.trees.structure import require_tree

    read = read_recipe(recipe)
    sentences: dict[str, list[Sentence]] = {
        key: list(read_sentences(str(path), encoding=read.recipe.encoding, skip_invalid=False, check=require_tree))
        for key, path in read.files.items()
        if key != "vectors"
    }
    folder = out / read.recipe.name
    set_up_torch(threads)
    clear_folder(folder, everything=False)
    if is_finished(folder):
        prepared = load_trained(folder)
    else:
        try:
            with TrainingProgress() as progress:
                prepared, _ = train_model(
                    read.configuration,
                    Treebanks(sentences["train"], sentences["dev"]),
                    folder,
                    progress,
                    vectors=read.files.get("vectors"),
                    resume=is_unfinished(folder),
                )
        except Interrupted:
            typer.echo(f"longarc: stopped; the state is saved in {folder}. The same command goes on.", err=True)
            raise typer.Exit(130) from None
    with PackagingProgress() as line:
        for path, package in write_models(
            prepared,
            folder,
            sentences["dev"],
            {},
            read.recipe.origin,
            quantize=True,
            most_words=read.recipe.most_words,
            narrow=read.recipe.narrow,
            announce=line.announce,
        ):
            if test := sentences.get("test"):
                package = measured_on_test(path, package, test)
            line.tell(path, package)
