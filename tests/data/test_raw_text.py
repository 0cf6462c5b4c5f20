"""Raw text in and out of sentences."""

from __future__ import annotations

import io

import pytest

from longarc import InputError
from longarc.data.conll import MAX_LINE, parse_conll
from longarc.data.raw_text import Span, read_text, sentences_of, text_of
from longarc.runtime.tokenizer import RuleTokenizer


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


@pytest.mark.parametrize("space", ["\u2028", "\x0c", "\r\n"])
def test_white_space_longer_than_a_line_may_be_comes_back(space: str) -> None:
    long = space * (MAX_LINE // 6 + 1_000)  # escaped, it has more than MAX_LINE characters
    for text in (long, f"{long}a b.", f"a{long}b. C", f"a.{long}", f"one{space}two{space}{space}. Three{space}"):
        sentences = RuleTokenizer().split(text)
        written = "".join(sentence.to_conll() for sentence in sentences) + sentences.tail
        assert text_of(parse_conll(written)) == text, ascii(space)


@pytest.mark.parametrize("space", ["\u2028", "\x85", "\x0b", "\x0c"])
def test_white_space_that_is_no_line_end_is_an_error_in_conll(space: str) -> None:
    for count in (1, MAX_LINE + 1):
        with pytest.raises(InputError, match=r":2: (no tab in|a line of more than 1,000,000)"):
            parse_conll(f"\n{space * count}\n\n")


def test_bytes_that_are_no_text_are_named_by_their_line() -> None:
    with pytest.raises(InputError, match=r":3: byte 0xff"):
        list(read_text(io.BytesIO(b"one\ntwo\nth\xffree")))
    with pytest.raises(InputError, match=r":2: a NUL"):
        list(read_text(io.BytesIO(b"one\nt\0wo")))
    assert "".join(read_text(io.BytesIO("é".encode("latin-1")), encoding="latin-1")) == "é"
