"""Folders outside `tests/` that tests read."""

from __future__ import annotations

from pathlib import Path

import pytest

from longarc.data.treebank_sources import data_folder

ROOT = Path(__file__).resolve().parents[2]
TREEBANKS = ROOT / data_folder()
"""Treebanks that are not part of the repository: $LONGARC_TREEBANKS, or the folder treebanks/ of the checkout."""


def treebank_file(treebank: str, name: str) -> Path:
    """Return a file of a treebank, compressed or not; skip the test if it is missing."""
    paths = sorted((TREEBANKS / treebank).glob(f"{name}*"))
    if not paths:
        pytest.skip(f"there is no {treebank}/{name} in {TREEBANKS}")
    return paths[0]
