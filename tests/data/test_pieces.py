"""Subword vectors: words are split greedily, and tables are read safely."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longarc.data.pieces import Pieces, is_piece_table, read_piece_vectors
from longarc.errors import LongarcError

TEXTS = ["▁", "▁un", "happi", "ness", "▁happy", "a", "é", "s"]


def write_table(folder: Path, texts: list[str], vectors: np.ndarray | None = None) -> Path:
    folder.mkdir()
    (folder / "pieces.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    table = np.random.default_rng(1).normal(size=(len(texts), 3)) if vectors is None else vectors
    np.save(folder / "vectors.npy", table.astype(np.float16))
    return folder


def test_words_are_split_into_the_longest_pieces_from_the_left() -> None:
    pieces = Pieces(TEXTS)
    split = [[TEXTS[number - 1] for number in pieces.split(form)] for form in ("unhappiness", "happys", "xax", "")]
    assert split == [["▁un", "happi", "ness"], ["▁happy", "s"], ["▁", "a"], ["▁"]]
    arrays, counts = pieces.arrays(["unhappiness", "é"])
    assert arrays.T.tolist() == [[0, 0, 0], [2, 3, 4], [1, 7, 0]]
    assert counts.tolist() == [1, 3, 2]


def test_a_table_is_reduced_to_an_alphabet_and_standardised(tmp_path: Path) -> None:
    folder = write_table(tmp_path / "table", TEXTS)
    assert is_piece_table(folder) and is_piece_table(folder / "pieces.txt") and not is_piece_table(tmp_path)
    table = read_piece_vectors(folder, set("unhapies"), 5)
    assert table.pieces.texts == ["▁", "▁un", "happi", "ness", "a"]
    assert table.vectors.shape == (6, 3) and not table.vectors[0].any()
    np.testing.assert_allclose(table.vectors[1:].mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(table.vectors[1:].std(axis=0), 1, atol=1e-5)


@pytest.mark.parametrize("kind", ["other rows", "not numbers", "objects"])
def test_a_bad_table_is_refused(tmp_path: Path, kind: str) -> None:
    rows = np.zeros((3 if kind == "other rows" else len(TEXTS), 3)) + (np.nan if kind == "not numbers" else 0)
    folder = write_table(tmp_path / "table", TEXTS, rows)
    if kind == "objects":
        np.save(folder / "vectors.npy", np.array([{}] * len(TEXTS), dtype=object), allow_pickle=True)
    with pytest.raises(LongarcError, match=r"pieces|numbers|subword"):
        read_piece_vectors(folder, set("unhapies"), 5)
