"""Word vectors: every format gives the same vectors, only what is wanted is kept, bad files are errors."""

from __future__ import annotations

import gzip
import lzma
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from longarc.data.vectors import WordVectors, read_vectors
from longarc.data.vocabulary import ROOT, UNKNOWN, Words
from longarc.errors import InputError

WORDS = ["the", "of", "New York", "straße", "rare"]
VECTORS = (np.arange(15) / 4).astype(np.float32).reshape(5, 3)


def text(header: bool, end: str = "") -> bytes:
    rows = [f"{word} {' '.join(map(str, vector))}{end}" for word, vector in zip(WORDS, VECTORS, strict=True)]
    return "\n".join(([f"{len(WORDS)} 3"] if header else []) + rows + [""]).encode()


def binary(newlines: bool) -> bytes:
    body = b"".join(
        word.replace(" ", "_").encode() + b" " + vector.tobytes() + (b"\n" if newlines else b"")
        for word, vector in zip(WORDS, VECTORS, strict=True)
    )
    return b"5 3\n" + body


FORMATS = {
    "word2vec.txt": text(header=True),
    "glove.txt": text(header=False),
    "fasttext.vec": text(header=True, end=" "),
    "word2vec.bin": binary(newlines=True),
    "word2vec-tight.bin": binary(newlines=False),
    "glove.txt.gz": gzip.compress(text(header=False)),
    "word2vec.txt.xz": lzma.compress(text(header=True)),
    "word2vec.bin.gz": gzip.compress(binary(newlines=True)),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_vectors(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FORMATS[name])
    found = read_vectors(tmp_path / name, set(), limit=10)
    assert [word.replace("_", " ") for word in found.words] == WORDS
    np.testing.assert_array_equal(found.vectors, VECTORS)


@pytest.mark.parametrize("name", FORMATS)
def test_wanted_words_and_the_most_frequent_ones_are_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FORMATS[name])
    found = read_vectors(tmp_path / name, {"rare", "absent"}, limit=2)
    assert found.words == ["the", "of", "rare"]
    np.testing.assert_array_equal(found.vectors, VECTORS[[0, 1, 4]])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", 1),
        (b"5 3\nthe 1 2 3\nof 1 2\n", 3),
        (b"the 1 2 3\nof 1 x 3\n", 2),
        (b"the 1 2 3\nof 1 nan 3\n", 2),
        (b"5 0\n", 1),
        (b"2 3\nthe " + b"\x00" * 7, 2),
    ],
)
def test_a_bad_file_is_an_error_with_its_line(tmp_path: Path, content: bytes, line: int) -> None:
    (tmp_path / "bad.vec").write_bytes(content)
    with pytest.raises(InputError) as error:
        read_vectors(tmp_path / "bad.vec", set(), limit=10)
    assert error.value.line == line


def test_standardised_vectors_have_mean_0_and_deviation_1() -> None:
    scaled = WordVectors(WORDS, VECTORS).standardised().vectors
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(scaled.std(axis=0), 1, atol=1e-6)


def test_words_that_only_the_vectors_have_are_known() -> None:
    words = Words.build(Counter({"the": 9, "rare": 1, "unseen": 1}), 3, ["rare", "extra"])
    assert words.forms[2:] == ["the", "rare", "extra"]
    assert words.trained == 4
    assert words.numbers(["the", "The", "extra", "unseen"]).tolist() == [ROOT, 2, 2, 4, UNKNOWN]
