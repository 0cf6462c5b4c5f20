"""Real treebanks: every file is written back byte for byte, and the oracle's transitions rebuild every tree.

The treebanks are not part of the repository. Without $LONGARC_TREEBANKS or a folder treebanks/ these tests are skipped.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longarc.data.conll import read, read_all, write
from longarc.data.document import Document
from longarc.data.files import read_chunks
from longarc.errors import InputError
from longarc.transitions import SYSTEMS, get_system
from longarc.transitions.static_oracle import run_oracle
from longarc.trees.structure import Heads, is_projective, require_tree
from tests.helpers.paths import TREEBANKS, treebank_file

FILES = sorted(TREEBANKS.glob("*/*.conll*"))

pytestmark = pytest.mark.skipif(not FILES, reason=f"there are no treebanks in {TREEBANKS}")

LATIN_1 = {"eu_3lb_conll2007"}


def transitions_per_sentence(system: str, trees: list[Heads]) -> float:
    return float(np.concatenate([run.transitions for run in run_oracle(get_system(system), trees)]).mean())


@pytest.fixture(scope="module", params=[pytest.param(path, id=f"{path.parent.name}-{path.name}") for path in FILES])
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture(scope="module")
def data(path: Path) -> bytes:
    return b"".join(read_chunks(path))


@pytest.fixture(scope="module")
def encoding(path: Path, data: bytes) -> str:
    if path.parent.name in LATIN_1:
        return "latin-1"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


@pytest.fixture(scope="module")
def treebank(path: Path, encoding: str) -> Document:
    return read_all(path, encoding=encoding, check=require_tree)


@pytest.fixture(scope="module")
def trees(treebank: Document) -> list[Heads]:
    return [sentence.node_heads for sentence in treebank]


@pytest.fixture(scope="module")
def projective_trees(trees: list[Heads]) -> list[Heads]:
    return [heads for heads in trees if is_projective(heads)]


def test_a_treebank_is_written_back_byte_for_byte(
    path: Path, data: bytes, encoding: str, treebank: Document, tmp_path: Path
) -> None:
    write(tmp_path / "out", treebank, encoding=encoding)
    assert (tmp_path / "out").read_bytes() == data
    assert len(treebank) > 100
    assert treebank.format == ("conllu" if ".conllu" in path.name else "conllx")
    assert sum(map(len, treebank)) == sum(line.split(b"\t")[0].isdigit() for line in data.split(b"\n"))


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_oracle_rebuilds_all_trees_that_a_system_can_build(
    system: str, trees: list[Heads], projective_trees: list[Heads]
) -> None:
    possible = projective_trees if get_system(system).projective else trees
    replayed = 0
    for run in run_oracle(get_system(system), possible):
        assert run.recovered.tolist() == [len(possible[index]) - 1 for index in run.indices]
        replayed += len(run.indices)
    assert replayed == len(possible) > 100


@pytest.mark.parametrize("folder", sorted(LATIN_1))
def test_a_treebank_in_latin_1_is_not_read_as_utf_8(folder: str) -> None:
    for path in (path for path in FILES if path.parent.name == folder):
        with pytest.raises(InputError, match="is not valid utf-8") as caught:
            read_all(path)
        assert "for example latin-1" in caught.value.hint


@pytest.mark.parametrize(("system", "expected"), [("covington", 66.77), ("nl-covington", 36.35)])
def test_danish_takes_as_many_transitions_as_in_the_paper(system: str, expected: float) -> None:
    danish = [sentence.node_heads for sentence in read(treebank_file("da_ddt", "test.conll"))]
    assert round(transitions_per_sentence(system, danish), 2) == expected
