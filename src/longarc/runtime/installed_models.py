"""Find models by name or language: those embedded in the package and those in the user's model folder."""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longarc.data.languages import LANGUAGES, find_language, language_in_title
from longarc.errors import LongarcError

SUFFIX = ".longarc"
FOLDER_VARIABLE = "LONGARC_MODELS"
EMBEDDED = Path(__file__).parents[1] / "models"
DEFAULT = "en_ewt"


@dataclass(frozen=True)
class NamedModel:
    """A model with a name."""

    name: str
    path: Path
    embedded: bool

    @property
    def language(self) -> str:
        """The code of the model's language, such as `en`; "" if it is unknown."""
        from longarc.runtime.model_file import read_card  # which imports this module

        try:
            return language_of_model(self.name, read_card(self.path))
        except LongarcError:  # a damaged file still has a name
            return language_of_model(self.name, {})


def language_of_model(name: str, card: Mapping[str, Any]) -> str:
    """Return the code of the language in a model's card, or else in its name; "" if neither has one."""
    return language_in_title(str(card.get("treebank") or "")) or find_language(name) or language_in_title(name)


def user_folder() -> Path:
    """Return the user's model folder: $LONGARC_MODELS, else the platform's usual data folder."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:  # a user without an entry in the system's list, as in some containers
        home = Path(os.sep)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "longarc" / "models"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "longarc" / "models"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "longarc" / "models"


def named_models() -> list[NamedModel]:
    """Return all models; a user's model hides an embedded one of the same name."""
    models: dict[str, NamedModel] = {}
    for folder, embedded in ((user_folder(), False), (EMBEDDED, True)):
        for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []:
            models.setdefault(path.stem, NamedModel(path.stem, path, embedded))
    return list(models.values())


def find_model(name_or_path: str | Path | None) -> Path:
    """Return the file of a model given by path, name, language code or language name, or of the default model.

    If there are several models of a language, use the user's before embedded ones, then the first in the alphabet, and
    warn that there are others.
    """
    known = {model.name: model for model in named_models()}
    if name_or_path is None:
        if DEFAULT in known:
            return known[DEFAULT].path
        hint = "Train a model and name its file."
        raise LongarcError("no model was named, and none is embedded in this version", hint)
    path = Path(name_or_path)
    if path.is_file() or path.suffix == SUFFIX or len(path.parts) > 1:
        return path
    name = str(name_or_path)
    if name in known:
        return known[name].path
    languages = {model.name: model.language for model in known.values()}
    matches = match_names(name, languages)
    if not matches:
        hint = list_names(name, languages) if known else f"No models are in {user_folder()}."
        raise LongarcError(f"{name}: neither a file nor the name of a model", hint)
    if len(matches) > 1:
        warnings.warn(f"{name}: using the model {matches[0]}; also possible: {', '.join(matches[1:])}", stacklevel=2)
    return known[matches[0]].path


def match_names(requested: str, languages: Mapping[str, str]) -> list[str]:
    """Return the names of the models that a request stands for, the preferred one first.

    `requested`: a model's name, a language code or a language name, in any case and with hyphens or underscores.
    `languages`: the language code of each model by name, in order of preference.
    """
    if requested in languages:
        return [requested]
    if same := [name for name in languages if _normalized(name) == _normalized(requested)]:
        return same
    code = find_language(requested)
    return [name for name, language in languages.items() if code and language == code]


def list_names(requested: str, languages: Mapping[str, str]) -> str:
    """Return a hint for an unknown name: the nearest name and a list of all models."""
    aliases = {alias: name for name in languages for alias in _aliases(name, languages[name])}
    # Danish is no misspelling of English.
    nearest = [] if find_language(requested) else difflib.get_close_matches(_normalized(requested), aliases, n=1)
    suggestion = f"Did you mean {aliases[nearest[0]]}? " if nearest else ""
    names = [f"{name} ({LANGUAGES[code]})" if code else name for name, code in languages.items()]
    return f"{suggestion}Known models: {', '.join(names)}."


def _aliases(name: str, language: str) -> list[str]:
    """Return everything that stands for a model, normalized."""
    return [_normalized(alias) for alias in (name, language, LANGUAGES.get(language, "")) if alias]


def _normalized(name: str) -> str:
    return name.casefold().replace("-", "_")
