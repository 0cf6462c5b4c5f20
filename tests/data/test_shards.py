"""Shards: whole sentences each, and all bytes of the file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longarc.data.conll import read_all
from longarc.data.jsonl import read_jsonl, to_json
from longarc.data.shards import shards
from tests.helpers.generators import PACK, RawFile, raw_files, trickle, word

SENTENCE = f"# text = w\n{word(1, 0)}{word(2, 1)}\n".encode()
SIZES = st.sampled_from([1, 40, 100, 1_000_000])


def check_shards(data: bytes, max_bytes: int) -> None:
    """Each shard gives the sentences that it has in the file, with all that belongs to them."""
    parts = list(shards(io.BytesIO(data), max_bytes))
    assert b"".join(parts) == data
    assert all(parts)
    treebank = read_all(io.BytesIO(data))
    read = [read_all(io.BytesIO(part), format=treebank.format) for part in parts]
    texts = [sentence.to_conll() for part in read for sentence in part]
    assert texts == [sentence.to_conll() for sentence in treebank]
    assert "".join(part.tail for part in read) == treebank.tail
    assert all(len(part) == 1 for part, data in zip(read, parts, strict=True) if len(data) > max_bytes and part)


@given(raw_files(), SIZES)
@example(RawFile(b"\xef\xbb\xbf\n# a\n\n" + SENTENCE * 2, []), 1)
@example(RawFile(b"\xef\xbb\xbf# a\n\n" + SENTENCE * 2, []), 1)
@example(RawFile((SENTENCE * 3).replace(b"\n", b"\r\n"), []), 100)
@example(RawFile(SENTENCE + SENTENCE[:-1], []), 1)
@example(RawFile(SENTENCE + SENTENCE[:-2], []), 1)
def test_shards_are_whole_sentences_and_give_the_file_back(file: RawFile, max_bytes: int) -> None:
    check_shards(file.data, max_bytes)


def test_a_shard_is_as_full_as_it_may_be() -> None:
    parts = list(shards(io.BytesIO(SENTENCE * 10), 3 * len(SENTENCE)))
    assert [len(part) // len(SENTENCE) for part in parts] == [3, 3, 3, 1]


@pytest.mark.parametrize("packing", [".gz", ".xz"])
def test_a_compressed_file_is_split_by_its_content(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"in.conllu{packing}"
    path.write_bytes(PACK[packing](SENTENCE * 5))
    assert list(shards(path, len(SENTENCE))) == [SENTENCE] * 5


def test_json_lines_are_split_at_any_line_end() -> None:
    sentences = read_all(io.BytesIO(SENTENCE * 5))
    data = "".join(to_json(sentence) + "\n" for sentence in sentences).encode().rstrip(b"\n")
    parts = list(shards(io.BytesIO(data), len(data) // 2, format="jsonl"))
    assert b"".join(parts) == data
    assert [sum(1 for _ in read_jsonl(io.BytesIO(part))) for part in parts] == [2, 2, 1]


def test_a_shard_is_there_before_the_file_has_been_read() -> None:
    stream = trickle(SENTENCE * 100_000, 1000)
    assert next(shards(stream, len(SENTENCE))) == SENTENCE
    assert len(stream.read(1_000_000)) > 900
