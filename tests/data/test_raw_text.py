"""Raw text in and out of sentences."""

from __future__ import annotations

import io

import pytest

from longarc import InputError
from longarc.data.raw_text import Span, read_text, sentences_of, text_of


def test_sentences_can_be_made_from_spans() -> None:
    text = "I can't.\n\nGo!"
    spans = [[Span(0, 1), Span(2, 7, ["ca", "n't"]), Span(7, 8)], [Span(10, 12), Span(12, 13)]]
    first, second = sentences_of(text, spans)
    assert first.lead == "# sent_id = 1\n# text = I can't.\n"
    assert second.lead == "# newpar\n# sent_id = 2\n# text = Go!\n"
    assert [row[0] for row in first.rows] == ["1", "2-3", "2", "3", "4"]
    assert [row[9] for row in first.rows] == ["_", "SpaceAfter=No", "_", "_", "SpacesAfter=\\n\\n"]
    assert [row[9] for row in second.rows] == ["SpaceAfter=No", "SpaceAfter=No"]
    assert text_of([first, second]) == text


def test_bytes_that_are_no_text_are_named_by_their_line() -> None:
    with pytest.raises(InputError, match=r":3: byte 0xff"):
        list(read_text(io.BytesIO(b"one\ntwo\nth\xffree")))
    with pytest.raises(InputError, match=r":2: a NUL"):
        list(read_text(io.BytesIO(b"one\nt\0wo")))
    assert "".join(read_text(io.BytesIO("é".encode("latin-1")), encoding="latin-1")) == "é"
