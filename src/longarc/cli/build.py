"""`longarc build`: make models from recipes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.extras import require_extra
from longarc.cli.options import Threads, read_sentences
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.configuration import Configuration
    from longarc.training.prepare import Distillation
    from longarc.training.recipe import Recipe
    from longarc.training.run import Splits
    from longarc.training.trained_model import TrainedModel

SCORES = {
    "upos": "UPOS",
    "lemma": "lemmas",
    "uas": "UAS",
    "las": "LAS",
    "text_words": "words",
    "text_sentences": "sentences",
    "text_las": "text LAS",
}
"""The scores on the test data in the table of all models, and their headings."""


def build(
    source: Annotated[
        Path, typer.Argument(metavar="RECIPE.toml", help="How to make the model; or a folder of such files.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the training and the models.")],
    threads: Threads = None,
) -> None:
    """Make a model from a recipe: train, package in 32 and in 8 bits, evaluate on dev and test.

    Ctrl-C saves the state and stops; the same command resumes. Finished steps are not repeated.
    The model to parse with is DIR/NAME/NAME-int8.longarc.

    With a folder, make the models of all recipes in it, one after the other, and print a table of their scores on the
    test data.
    """
    require_extra("train")
    from longarc.training.recipe import read_recipe

    if source.is_dir() and not (files := sorted(source.glob("*.toml"))):
        raise LongarcError(f"{source}: no recipes in this folder", "Their names end in .toml.")
    files = files if source.is_dir() else [source]
    recipes = [read_recipe(file) for file in files]  # mistakes are reported before the first training
    for number, (recipe, configuration) in enumerate(recipes, 1):
        if len(recipes) > 1:
            typer.echo(f"recipe {number} of {len(recipes)}: {recipe.name}")
        _build_one(recipe, configuration, out, threads)
    if source.is_dir():
        _print_table([recipe for recipe, _ in recipes], out)


def _build_one(recipe: Recipe, configuration: Configuration, out: Path, threads: int | None) -> None:
    from longarc.cli.train_progress import PackagingProgress, print_next_command
    from longarc.training.packaging import add_test_scores, write_models
    from longarc.training.run import clear_folder, is_packaged, lock_folder
    from longarc.training.threads import set_up_torch

    folder = out / recipe.name
    set_up_torch(threads)
    with lock_folder(folder):
        clear_folder(folder, everything=False)
        if is_packaged(folder, quantize=True):
            typer.echo(f"longarc: {folder}: the model is finished", err=True)
            return
        splits = _load_splits(recipe)
        trained = _train(recipe, configuration, splits, out, threads)
        with PackagingProgress() as line:
            for path, package in write_models(
                trained,
                folder,
                splits.dev,
                {},
                recipe.origin,
                quantize=True,
                most_words=recipe.most_words,
                narrow=recipe.narrow,
                announce=line.announce,
            ):
                if splits.test:
                    add_test_scores(path, package, splits.test)
                line.report(path, package)
        print_next_command(path, str(recipe.test or recipe.dev))


def _load_splits(recipe: Recipe) -> Splits:
    from longarc.training.run import Splits
    from longarc.trees.structure import require_tree

    train, dev, test = (
        []
        if path is None
        else list(read_sentences(str(path), encoding=recipe.encoding, skip_invalid=False, check=require_tree))
        for path in (recipe.train, recipe.dev, recipe.test)
    )
    if recipe.dev_fraction:
        size = max(1, round(recipe.dev_fraction * len(train)))
        train, dev = train[:-size], train[-size:]
    return Splits(train, dev, test)


def _train(
    recipe: Recipe, configuration: Configuration, splits: Splits, out: Path, threads: int | None
) -> TrainedModel:
    """Train the model, or load it if its training is finished."""
    from longarc.cli.train_progress import TrainingProgress
    from longarc.training.interruption import Interrupted
    from longarc.training.run import Splits, is_finished, is_unfinished, train_model
    from longarc.training.trained_model import TrainedModel

    folder = out / recipe.name
    if is_finished(folder):
        return TrainedModel.load(folder)
    try:
        with TrainingProgress() as progress:
            trained, _ = train_model(
                configuration,
                Splits(splits.train, splits.dev),
                folder,
                progress,
                pretrained=recipe.pretrained_files,
                resume=is_unfinished(folder),
                distillation=_teachers(recipe, out, threads),
            )
            return trained
    except Interrupted:
        typer.echo(f"longarc: stopped; the state is saved in {folder}. Resume with the same command.", err=True)
        raise typer.Exit(130) from None


def _teachers(recipe: Recipe, out: Path, threads: int | None) -> Distillation | None:
    """Load the teachers of a recipe, if it has any."""
    from longarc.cli.train_progress import StepProgress
    from longarc.training.packaging import model_paths
    from longarc.training.prepare import Distillation
    from longarc.training.teacher import Teacher

    models = [model_paths(out / name)[0] for name in recipe.teachers]
    for model in models:
        if not model.exists():
            hint = "Build the recipes of its teachers first, with the same --out."
            raise LongarcError(f"{recipe.name}: its teacher is missing: {model}", hint)
    progress = StepProgress("scoring the training data by its teachers", "word")
    return Distillation(Teacher(models, threads), progress=progress.step_done) if models else None


def _print_table(recipes: list[Recipe], out: Path) -> None:
    """Print the scores of the 8-bit models on the test data."""
    from rich.console import Console

    from longarc.cli.terminal_tables import make_table
    from longarc.runtime.model_file import read_card
    from longarc.training.packaging import model_paths

    table = make_table("model", *SCORES.values(), "MB")
    for recipe in recipes:
        path = model_paths(out / recipe.name)[1]
        scores = read_card(path).get("scores", {})
        cells = [f"{scores[f'test_{name}']:.2f}" if f"test_{name}" in scores else "–" for name in SCORES]
        table.add_row(recipe.name, *cells, f"{path.stat().st_size / 1e6:.1f}")
    Console().print(table)
