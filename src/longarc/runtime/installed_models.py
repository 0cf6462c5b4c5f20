"""Find models by name: those embedded in the package and those in the user's model folder."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

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
    """Return the file of a model given by path or name, or of the default model."""
    known = {model.name: model.path for model in named_models()}
    if name_or_path is None:
        if DEFAULT in known:
            return known[DEFAULT]
        hint = "Train a model and name its file."
        raise LongarcError("no model was named, and none is embedded in this version", hint)
    path = Path(name_or_path)
    if path.is_file() or path.suffix == SUFFIX or len(path.parts) > 1:
        return path
    if str(name_or_path) in known:
        return known[str(name_or_path)]
    names = f"Known names: {', '.join(known)}." if known else f"No models are in {user_folder()}."
    raise LongarcError(f"{name_or_path}: neither a file nor the name of a model", names)
