"""Models by name: those that come with Longarc, and those that a user keeps in a folder of models."""

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
    """A model that can be asked for by its name."""

    name: str
    path: Path
    embedded: bool


def user_folder() -> Path:
    """Where a user's models are: the folder that $LONGARC_MODELS names, else the usual place for such data."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "longarc" / "models"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "longarc" / "models"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "longarc" / "models"


def named_models() -> list[NamedModel]:
    """All that there are; one of the user's goes before an embedded one of the same name."""
    found: dict[str, NamedModel] = {}
    for folder, embedded in ((user_folder(), False), (EMBEDDED, True)):
        for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []:
            found.setdefault(path.stem, NamedModel(path.stem, path, embedded))
    return list(found.values())


def find_model(wanted: str | Path | None) -> Path:
    """The file of a model that is named by its path or its name; of the default one where none is named."""
    known = {model.name: model.path for model in named_models()}
    if wanted is None:
        if DEFAULT in known:
            return known[DEFAULT]
        hint = "Train one with `longarc train` and name its file."
        raise LongarcError("no model was named, and none comes with this version", hint)
    path = Path(wanted)
    if path.is_file() or path.suffix == SUFFIX or len(path.parts) > 1:
        return path
    if str(wanted) in known:
        return known[str(wanted)]
    names = f"Known by name: {', '.join(known)}." if known else f"No models are in {user_folder()}."
    raise LongarcError(f"{wanted}: neither a file nor the name of a model", f"{names} `longarc models` lists them.")
