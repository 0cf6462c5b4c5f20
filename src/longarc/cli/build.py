"""`longarc build`: make a model from a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.extras import require_extra
from longarc.cli.options import Threads, read_sentences

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence


def build(
    file: Annotated[
        Path, typer.Argument(metavar="RECIPE.toml", help="How to make the model; see models/ for an example.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the training and the models.")],
    threads: Threads = None,
) -> None:
    """Make a model from a recipe: train, package in 32 and in 8 bits, evaluate on dev and test.

    Ctrl-C saves the state and stops; the same command resumes. Finished steps are not repeated.
    The model to parse with is DIR/NAME/NAME-int8.longarc.
    """
    require_extra("train")
    from longarc.cli.train_progress import PackagingProgress, TrainingProgress, print_next_command
    from longarc.data.treebank_sources import PRETRAINED
    from longarc.training.interruption import Interrupted
    from longarc.training.packaging import add_test_scores, write_models
    from longarc.training.recipe import read_recipe
    from longarc.training.run import (
        Splits,
        clear_folder,
        is_finished,
        is_unfinished,
        lock_folder,
        train_model,
    )
    from longarc.training.threads import set_up_torch
    from longarc.training.trained_model import TrainedModel
    from longarc.trees.structure import require_tree

    recipe, configuration = read_recipe(file)
    sentences: dict[str, list[Sentence]] = {
        key: list(read_sentences(str(path), encoding=recipe.encoding, skip_invalid=False, check=require_tree))
        for key, path in recipe.files.items()
        if key not in PRETRAINED
    }
    folder = out / recipe.name
    set_up_torch(threads)
    with lock_folder(folder):
        clear_folder(folder, everything=False)
        if is_finished(folder):
            trained = TrainedModel.load(folder)
        else:
            try:
                with TrainingProgress() as progress:
                    trained, _ = train_model(
                        configuration,
                        Splits(sentences["train"], sentences["dev"]),
                        folder,
                        progress,
                        pretrained=recipe.pretrained_files,
                        resume=is_unfinished(folder),
                    )
            except Interrupted:
                typer.echo(f"longarc: stopped; the state is saved in {folder}. Resume with the same command.", err=True)
                raise typer.Exit(130) from None
        with PackagingProgress() as line:
            for path, package in write_models(
                trained,
                folder,
                sentences["dev"],
                {},
                recipe.origin,
                quantize=True,
                most_words=recipe.most_words,
                narrow=recipe.narrow,
                announce=line.announce,
            ):
                if test := sentences.get("test"):
                    add_test_scores(path, package, test)
                line.report(path, package)
        print_next_command(path, str(recipe.test or recipe.dev))
