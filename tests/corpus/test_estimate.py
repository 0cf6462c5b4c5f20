"""A dry run counts documents exactly and words approximately."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from longarc.corpus.corpus_options import CorpusOptions
from longarc.corpus.estimate import SAMPLE_BYTES, estimate
from longarc.corpus.input_files import find_inputs
from longarc.runtime.parser import Parser
from tests.helpers.corpora import toy_text
from tests.helpers.toy_treebank import toy_conllu


def test_documents_are_counted_in_every_format(parser: Parser, tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(toy_text(50, 1).encode()))
    (tmp_path / "b.jsonl").write_text('{"text": "The dog sleeps."}\n\n{"text": "The cat sleeps."}\n')
    (tmp_path / "c.conllu").write_text(f"# newdoc\n{toy_conllu(5)}# newdoc\n{toy_conllu(5)}")
    (tmp_path / "d.conllu").write_text(toy_conllu(5))
    pyarrow.parquet.write_table(pa.table({"text": ["The bird sleeps."] * 4}), tmp_path / "e.parquet")
    result = estimate(find_inputs([str(tmp_path)]), CorpusOptions(), parser)
    assert (result.files, result.documents) == (5, 1 + 2 + 2 + 1 + 4)
    assert result.content_bytes > result.input_bytes - (tmp_path / "e.parquet").stat().st_size
    assert result.seconds(1) == pytest.approx(2 * result.seconds(2))


def test_words_are_estimated_from_the_start_of_a_long_text(parser: Parser, tmp_path: Path) -> None:
    text = toy_text(4000, 1)
    assert len(text) > 2 * SAMPLE_BYTES
    (tmp_path / "a.txt").write_text(text)
    words = sum(map(len, parser.split(text)))
    result = estimate(find_inputs([str(tmp_path)]), CorpusOptions(), parser)
    assert result.words == pytest.approx(words, rel=0.05)
    assert result.sample_words < words / 2
