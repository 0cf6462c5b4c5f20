"""Documents in Arrow batches are parsed like any other text, whatever engine supplies the batches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from longarc import LongarcError
from longarc.corpus.arrow_batches import (
    DOCUMENT_SCHEMA,
    parse_batches,
    parse_to_documents,
    parse_to_sentences,
)
from longarc.corpus.sentence_columns import SENTENCE_SCHEMA
from longarc.data.sentence import DEPREL, UPOS
from longarc.runtime.parser import Parser
from tests.helpers.corpora import toy_text
from tests.helpers.text_treebank import TEXT

TEXTS = [toy_text(5, 1), "", toy_text(2, 2)]


def batch_of(*texts: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {"id": [f"d{n}" for n in range(len(texts))], "text": pa.array(texts, pa.string())}
    )


def test_the_rows_are_the_sentences_of_the_parser(parser: Parser) -> None:
    rows = parse_to_sentences(parser, batch_of(*TEXTS), text="text", id="id").to_pylist()
    expected = [(f"d{n}", number, s) for n, text in enumerate(TEXTS) for number, s in enumerate(parser(text), 1)]
    assert [(row["id"], row["sentence"]) for row in rows] == [(id, number) for id, number, _ in expected]
    for row, (_, _, sentence) in zip(rows, expected, strict=True):
        assert row["forms"] == sentence.forms
        assert row["upos"] == sentence.node_column(UPOS)[1:]
        assert row["heads"] == sentence.node_heads[1:].tolist()
        assert row["relations"] == sentence.node_column(DEPREL)[1:]
        assert sentence.probabilities is not None
        assert row["probabilities"] == pytest.approx(sentence.probabilities[1:].tolist(), abs=1e-5)


def test_words_can_be_cut_out_of_the_text_by_their_positions(parser: Parser) -> None:
    text = " \n " + TEXTS[0]
    for row in parse_to_sentences(parser, batch_of(text), text="text", id="id").to_pylist():
        spans = zip(row["starts"], row["ends"], strict=True)
        assert [text[start:end] for start, end in spans] == row["forms"]


@pytest.mark.slow
def test_the_words_of_a_multiword_token_share_its_position(text_model: str) -> None:
    rows = [row for batch in parse_batches([batch_of(TEXT)], text_model) for row in batch.to_pylist()]
    cut = [TEXT[start:end] for start, end in zip(rows[0]["starts"], rows[0]["ends"], strict=True)]
    assert rows[0]["forms"][1:3] == ["ca", "n't"]
    assert cut[1:3] == ["can't", "can't"]


def test_a_document_that_cannot_be_parsed_does_not_spoil_the_others(parser: Parser) -> None:
    batch = batch_of("The dog sees the cat.", "a\0b", None)
    good, bad, empty = parse_to_documents(parser, batch, text="text", id="id").to_pylist()
    assert [len(sentence["forms"]) for sentence in good["sentences"]] == [6]
    assert good["error"] is None
    assert bad["sentences"] is None
    assert "NUL" in bad["error"]
    assert empty["sentences"] == []
    assert parse_to_sentences(parser, batch, text="text", id="id").num_rows == 1


def test_documents_contain_the_sentences(parser: Parser) -> None:
    table = parse_to_documents(parser, batch_of(*TEXTS), text="text", id="id")
    assert table.schema == DOCUMENT_SCHEMA
    flat = [{"id": row["id"], **sentence} for row in table.to_pylist() for sentence in row["sentences"]]
    assert flat == parse_to_sentences(parser, batch_of(*TEXTS), text="text", id="id").to_pylist()


def test_batches_have_the_schema_also_if_they_are_empty(parser: Parser) -> None:
    for batch in (batch_of(), batch_of("")):
        assert parse_to_sentences(parser, batch, text="text", id="id").schema == SENTENCE_SCHEMA
        assert parse_to_documents(parser, batch, text="text", id="id").num_rows == batch.num_rows


def test_a_batch_in_batches_out(model: str, parser: Parser) -> None:
    batches = [batch_of(TEXTS[0]), batch_of(), batch_of(TEXTS[2])]
    parsed = list(parse_batches(iter(batches), model))
    assert all(isinstance(batch, pa.RecordBatch) and batch.schema == SENTENCE_SCHEMA for batch in parsed)
    assert sum(batch.num_rows for batch in parsed) == sum(len(parser.split(TEXTS[n])) for n in (0, 2))


def test_a_missing_column_is_named(parser: Parser) -> None:
    with pytest.raises(LongarcError, match="no column 'body'"):
        parse_to_sentences(parser, batch_of("a"), text="body", id="id")
    with pytest.raises(LongarcError, match="expected strings"):
        parse_to_sentences(parser, pa.RecordBatch.from_pydict({"id": [1], "text": [2]}), text="text", id="id")
