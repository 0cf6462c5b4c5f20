"""Find models by name or language: those in the user's model folder, those embedded in Longarc, and those of installed
model packages.

A model package is a Python package with `.longarc` files. It announces itself by an entry point in the group
`longarc_models` whose value is the name of the package. The package is not imported.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from longarc.data.languages import LANGUAGES, find_language, language_in_title
from longarc.errors import LongarcError

SUFFIX = ".longarc"
FOLDER_VARIABLE = "LONGARC_MODELS"
EMBEDDED = Path(__file__).parents[1] / "models"
DEFAULT = "en_ewt"
ENTRY_POINTS = "longarc_models"


@dataclass(frozen=True)
class NamedModel:
    """A model with a name."""

    name: str
    path: Path
    embedded: bool = False
    package: str = ""
    """The model package that contains it, if any"""

    @property
    def is_users(self) -> bool:
        """Whether it is in the user's folder."""
        return not self.embedded and not self.package

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
    """Return all models. Of several with the same name, the user's comes first, then the embedded one."""
    models: dict[str, NamedModel] = {}
    for model in (*_own_and_embedded(), *_packaged()):
        models.setdefault(model.name, model)
    return list(models.values())


def _own_and_embedded() -> Iterator[NamedModel]:
    for folder, embedded in ((user_folder(), False), (EMBEDDED, True)):
        for path in _model_files(folder):
            yield NamedModel(path.stem, path, embedded)


def _packaged() -> Iterator[NamedModel]:
    """Yield the models of installed model packages."""
    for name in sorted({entry.value for entry in entry_points(group=ENTRY_POINTS)}):
        # A name with dots would have its parent packages imported.
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
        for folder in (spec.submodule_search_locations or []) if spec is not None else []:
            for path in _model_files(Path(folder)):
                yield NamedModel(path.stem, path, package=name)


def _model_files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []


def find_model(name_or_path: str | Path | None) -> Path:
    """Return the file of a model given by path, name, language code or language name, or of the default model.

    If there are several models of a language, use the user's before embedded ones, then those of model packages; among
    these the first in the alphabet. Warn that there are others.
    """
    if name_or_path is None:
        default = next((model for model in _own_and_embedded() if model.name == DEFAULT), None)
        if default is not None:
            return default.path
        hint = "Train a model and name its file."
        raise LongarcError("no model was named, and none is embedded in this version", hint)
    path = Path(name_or_path)
    if path.is_file() or path.suffix == SUFFIX or len(path.parts) > 1:
        return path
    known = {model.name: model for model in named_models()}
    name = str(name_or_path)
    if name in known:
        return known[name].path
    languages = {model.name: model.language for model in known.values()}
    matches = match_names(name, languages)
    if not matches:
        hint = list_names(name, languages) if known else f"No models are in {user_folder()}."
        language = find_language(name)
        problem = f"no model for {LANGUAGES[language]}" if language else "neither a file nor the name of a model"
        raise LongarcError(f"{name}: {problem}", hint)
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
