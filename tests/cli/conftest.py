"""Fixtures of the command-line tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.small_files import HEARING, READS, TWO_ROOTS, as_conllu, rows


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    special = rows(TWO_ROOTS)
    special.insert(3, "3.1\telided\t_\tX\t_\t_\t_\t_\t_\t_")
    special.insert(0, "1-2\tVá-te\t_\t_\t_\t_\t_\t_\t_\t_")
    path = tmp_path / "small.conllu"
    path.write_text(as_conllu([READS, HEARING]) + "\n".join(special) + "\n\n", encoding="utf-8")
    return path
