"""Recipes: one TOML file that describes how to make a model, from treebank and vectors to the model card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, field

from longarc.configuration import Configuration, preset
from longarc.data.schema import convert, read_toml
from longarc.data.treebank_sources import WithFiles, require_files, resolve_paths
from longarc.errors import LongarcError
from longarc.training.packaging import Origin


class Recipe(WithFiles, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Paths in the file are relative to its folder."""

    name: Annotated[str, Meta(min_length=1)]
    """The name of the model and of its file"""
    train: Path
    dev: Path | None = None
    dev_fraction: Annotated[float, Meta(ge=0, le=0.5)] = 0.0
    """If there is no `dev`: the share of the training data, from its end, that is used instead"""
    test: Path | None = None
    """Evaluated once, at the end, for the scores on the card"""
    vectors: Path | None = None
    """A file of word vectors"""
    subwords: Path | None = None
    """The file pieces.txt of a table of subword vectors"""
    pretrained: Path | None = None
    """The file config.json of a pretrained encoder"""
    teachers: tuple[str, ...] = ()
    """The names of recipes whose models are teachers; they must be built first, in the same folder"""
    encoding: str = "utf-8"
    preset: str = "base"
    most_words: int = 0
    """Size limit for the vocabulary of the 8-bit model; 0 is no limit"""
    narrow: bool = True
    """Whether LSTMs of the 8-bit model may read fewer dimensions, which is faster, if scores on dev allow it"""
    treebank: str = ""
    """For the card, like the next two"""
    licence: str = ""
    attribution: str = ""
    settings: dict[str, Any] = field(name="set", default_factory=dict)
    """Configuration keys that replace those of the preset"""

    @property
    def origin(self) -> Origin:
        return Origin(self.treebank, self.licence, self.attribution)


def read_recipe(path: Path) -> tuple[Recipe, Configuration]:
    """Read and validate a recipe, and raise if one of its files is missing."""
    recipe = resolve_paths(convert(read_toml(path), Recipe, str(path)), path.parent)
    if (recipe.dev is None) != (recipe.dev_fraction > 0):
        raise LongarcError(f"{path}: expected either dev or dev_fraction", "Development data selects the best epoch.")
    configuration = preset(recipe.preset).updated(recipe.settings, f"{path}: set")
    require_files(recipe.files, path)
    return recipe, configuration
