"""`longarc info`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.helpers.command import LONGARC


def test_a_folder_does_not_hide_a_model(tmp_path: Path) -> None:
    (tmp_path / "en_ewt").mkdir()
    found = subprocess.run([*LONGARC, "info", "en_ewt", "--json"], capture_output=True, cwd=tmp_path)
    assert found.returncode == 0
