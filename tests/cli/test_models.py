"""`longarc models`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers.command import invoke


def test_the_list_names_damaged_models_too(model_folders: Path) -> None:
    result = invoke(["models", "--json"])
    listed = json.loads(result.output)
    assert listed["folder"] == str(model_folders / "own")
    assert ["damaged" in model for model in listed["models"]] == [True, True]
    shown = invoke(["models"])
    assert shown.exit_code == 0 and "latin" in shown.output
