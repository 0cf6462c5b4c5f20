"""Names of served models."""

from __future__ import annotations

from pathlib import Path

from longarc.server.served_models import load_models


def test_models_are_named_by_their_files(model: Path) -> None:
    assert list(load_models([str(model)], threads=1).parsers) == ["toy"]
