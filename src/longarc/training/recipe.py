"""A recipe: all that makes a model, from treebank and vectors to the card of the packaged file, in one TOML file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from longarc.errors import LongarcError
from longarc.training.configuration import Configuration, preset, read_toml
from longarc.training.packaging import Origin


@dataclass(frozen=True)
class Recipe:
    """Paths are relative to the folder of the file that they stand in."""

    name: str
    """Of the model and its file"""
    train: str
    dev: str
    test: str = ""
    """Measured once, in the end; the card gets the scores"""
    vectors: str = ""
    encoding: str = "utf-8"
    preset: str = "base"
    most_words: int = 0
    """Words that the 8-bit model knows at most; 0 is all"""
    narrow: bool = True
    """Whether LSTMs of the 8-bit model read less, which is faster, where scores on dev allow it"""
    treebank: str = ""
    """For the card, as the next two"""
    licence: str = ""
    attribution: str = ""
    set: dict[str, Any] | None = None
    """Keys of the configuration that replace those of the preset"""

    @property
    def origin(self) -> Origin:
        return Origin(self.treebank, self.licence, self.attribution)


@dataclass(frozen=True)
class ReadRecipe:
    """A recipe with what follows from it."""

    recipe: Recipe
    configuration: Configuration
    files: dict[str, Path]
    """Those that it names: train, dev, test, vectors"""


def read_recipe(path: Path) -> ReadRecipe:
    """Reads and checks a recipe; every mistake is told before anything begins."""
    values = read_toml(path)
    types = get_type_hints(Recipe)
    valid = f"Valid keys: {', '.join(types)}."
    for key, value in values.items():
        if key not in types:
            raise LongarcError(f"{path}: unknown key {key!r}", valid)
        wanted = dict if key == "set" else types[key]
        if type(value) is not wanted:
            kind = {str: "text", int: "a whole number", bool: "true or false", dict: "a table"}[wanted]
            raise LongarcError(f"{path}: {key} is {value!r}, expected {kind}")
    for field in fields(Recipe):
        if field.name in ("name", "train", "dev") and not values.get(field.name):
            raise LongarcError(f"{path}: {field.name} is missing", valid)
    recipe = Recipe(**values)
    configuration = preset(recipe.preset).updated(recipe.set or {}, f"{path}: set")
    named = {key: values[key] for key in ("train", "dev", "test", "vectors") if values.get(key)}
    files = {key: path.parent / name for key, name in named.items()}
    missing = [f"{key}: {file}" for key, file in files.items() if not file.is_file()]
    if missing:
        hint = f"Paths are relative to the folder of {path.name}."
        raise LongarcError("\n  ".join([f"{path}: files are missing", *missing]), hint)
    return ReadRecipe(recipe, configuration, files)
