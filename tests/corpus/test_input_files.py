"""Files, folders and patterns become a list of files and chunks of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longarc import LongarcError
from longarc.corpus.input_files import (
    CHUNK_SHARDS,
    LARGEST_SHARD,
    SMALLEST_SHARD,
    USUAL_SHARD,
    InputFile,
    default_shard_bytes,
    detect_corpus_input,
    digest_of,
    divide_into_chunks,
    find_inputs,
)
from tests.helpers.small_files import CONLLU, JSON


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    for name in ("a/2.txt", "a/1.txt", "a/deep/3.txt", "a/.hidden", "b[1].txt"):
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["a"], ["a/1.txt", "a/2.txt", "a/deep/3.txt"]),
        (["a/*.txt"], ["a/1.txt", "a/2.txt"]),
        (["a/**/*.txt"], ["a/1.txt", "a/2.txt", "a/deep/3.txt"]),
        (["a/2.txt", "a"], ["a/2.txt", "a/1.txt", "a/deep/3.txt"]),
        (["b[1].txt"], ["b[1].txt"]),
    ],
)
def test_each_file_is_found_once_and_keeps_the_name_that_the_user_gave(
    folder: Path, patterns: list[str], names: list[str]
) -> None:
    files = find_inputs(patterns)
    assert [file.name for file in files] == names
    assert [file.path for file in files] == [str(folder / name) for name in names]


def test_a_pattern_without_files_is_a_mistake(folder: Path) -> None:
    with pytest.raises(LongarcError, match=r"\*\.md: there is no such file"):
        find_inputs(["a", "*.md"])


def test_a_changed_file_changes_the_digest(folder: Path) -> None:
    before = digest_of(find_inputs(["a"]))
    assert before == digest_of(find_inputs(["a"]))
    os.utime(folder / "a" / "1.txt", ns=(1, 1))
    assert before != digest_of(find_inputs(["a"]))


def test_chunks_contain_each_file_once_and_small_ones_share_a_chunk() -> None:
    limit = CHUNK_SHARDS * 10
    sizes = [0, limit - 1, 1, 1, 5 * limit, 0, 1, limit]
    files = [InputFile(str(n), str(n), size) for n, size in enumerate(sizes)]
    chunks = divide_into_chunks(files, 10)
    assert [file for chunk in chunks for file in chunk] == files
    assert [[file.size for file in chunk] for chunk in chunks] == [
        [0, limit - 1, 1],
        [1],
        [5 * limit],
        [0, 1],
        [limit],
    ]


@pytest.mark.parametrize(
    ("size", "shard"),
    [(0, SMALLEST_SHARD), (200 << 20, 400 << 10), (1 << 30, USUAL_SHARD), (10**12, 10**7), (10**13, LARGEST_SHARD)],
)
def test_shards_are_neither_tiny_nor_huge(size: int, shard: int) -> None:
    assert default_shard_bytes([InputFile("a", "a", size)]) == shard


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.txt", "Dogs bark.", "text"),
        ("a.txt", CONLLU, "conll"),
        ("a.conllu", CONLLU, "conll"),
        ("a.jsonl", '{"text": "Dogs bark."}', "jsonl"),
        ("a", JSON, "jsonl"),
        ("a.parquet", "", "parquet"),
        ("a.PQ", "", "parquet"),
    ],
)
def test_the_format_is_detected(name: str, content: str, format: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert detect_corpus_input(str(tmp_path / name)) == format
