"""Folders outside `tests/` that tests read."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED_DATA = ROOT.parent / "shared" / "data"
"""Treebanks that are not part of the repository; tests that need them are skipped where the folder is missing."""
