"""Tokenizers lose no character of a text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from longarc import LongarcError, Sentence, read_all
from longarc.data.characters import LineBreaks, TextCharacters
from longarc.data.multiword import MultiwordRules
from longarc.data.raw_text import MAX_WORDS, spaces_around, surface_rows, text_of
from longarc.data.spelling import Characters
from longarc.runtime import tokenizer as tokenizer_module
from longarc.runtime import tokenizer as tokenizing
from longarc.runtime.description import TokenizerDescription
from longarc.runtime.parser import Parser
from longarc.runtime.tokenizer import (
    INSIDE,
    SENTENCE_END,
    TOKEN_END,
    LearnedTokenizer,
    RuleTokenizer,
    Tokenizer,
)


def test_a_text_is_split_alike_however_it_comes(english: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizing, "PIECE", 700)
    text = "".join(f"This is number {n}, which we like.  Is it (not) so?\n" + "\n" * (n % 3 == 0) for n in range(90))
    whole = [sentence.to_conll() for sentence in english.tokenizer.split(text, ranges=True)]
    for size in (1, 333, 699, 700, 701, 5_000):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert [s.to_conll() for s in english.tokenizer.split_stream(pieces, ranges=True)] == whole
    spaces = " " * 5_000
    assert not english.tokenizer.split(spaces)
    assert [s.forms for s in english.tokenizer.split(f"{spaces}Hi{spaces}")] == [["Hi"]]


ODD_TEXTS = [
    "She left.  He\tstayed.\r\n\r\nThey came back",
    "\ufeff\n\n  Begins late. Ends late. \n ",
    "👩‍👩‍👧 and 🇩🇰 ❤️ at https://example.org/a?b=c#d, e-mail: me@example.org!",
    "a\u200bb c\u200d d\u2028e\u2029f\x85g\x0bh\x0ci\u00a0j\u3000k",
    "هل ترى هذا؟ نعم، أراه. שלום עולם",
    "क्या हाल है? ठीक है।",
    "नमस्ते e\u0301te\u0301",
    "no final stop",
    "...",
    "x|y SpaceAfter=No \\n = \\s _ # not a comment",
    "他来了。她走了！",
]

LOSSLESS = st.text(
    st.one_of(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), st.sampled_from(" \n\t\r.,'a A")),
    max_size=80,
)

LINE_BREAKS = st.sampled_from(get_args(LineBreaks))


def joined(sentences: Sequence[Sentence]) -> str:
    """What the sentences give back once they have been written and read."""
    return text_of(read_all(io.BytesIO("".join(s.to_conll() for s in sentences).encode("utf-8", "surrogatepass"))))


@pytest.fixture(params=["rules", pytest.param("learnt", marks=pytest.mark.slow)])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return RuleTokenizer() if request.param == "rules" else request.getfixturevalue("learnt_tokenizer")


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_come_back_character_for_character(tokenizer: Tokenizer, text: str) -> None:
    sentences = tokenizer.split(text)
    assert joined(sentences) == text
    for sentence in sentences:
        assert all(row[1] and not row[1].isspace() for row in sentence.rows)


def check_lossless(tokenizer: Tokenizer, text: str, line_breaks: LineBreaks) -> None:
    sentences = tokenizer.split(text, ranges=True, line_breaks=line_breaks)
    if not sentences:
        assert not text.replace("\ufeff", " ").strip()
        return
    assert joined(sentences) == text
    for sentence in sentences:
        for row in surface_rows(sentence):
            start, end = row[9].rpartition("TokenRange=")[2].split(":")
            assert text[int(start) : int(end)] == row[1]
        plain = "".join(row[1] + (" " if spaces_around(row)[1] else "") for row in surface_rows(sentence))
        assert f"# text = {plain.rstrip(' ')}" in sentence.lead or plain.endswith(" ")


@settings(max_examples=150, deadline=None)
@given(LOSSLESS, LINE_BREAKS)
def test_any_text_comes_back_from_rules(text: str, line_breaks: LineBreaks) -> None:
    check_lossless(RuleTokenizer(), text, line_breaks)


def test_any_text_comes_back_from_what_was_learnt(learnt_tokenizer: Tokenizer) -> None:
    @settings(max_examples=150, deadline=None)
    @given(LOSSLESS, LINE_BREAKS)
    def check(text: str, line_breaks: LineBreaks) -> None:
        check_lossless(learnt_tokenizer, text, line_breaks)

    check()


def test_text_in_pieces_gives_the_same_text_and_numbers(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_module, "PIECE", 100)
    text = "\n\n".join("Ann sees the house. Bob cannot find it! " * 3 for _ in range(5))
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    sentences = list(tokenizer.split_stream(pieces, ranges=True))
    assert joined(sentences) == text
    whole = [word.forms for word in tokenizer.split(text)]
    assert [sentence.forms for sentence in sentences] == whole
    assert [s.lead.partition("sent_id = ")[2].split("\n")[0] for s in sentences] == [
        str(number) for number in range(1, len(sentences) + 1)
    ]
    assert sum("# newpar" in sentence.lead for sentence in sentences) == 4


@pytest.mark.slow
@pytest.mark.parametrize("line", ["a " * 20_000, "a" * 1_000_000, " " * 1_000_000 + "x", "a.b" * 20_000])
def test_a_line_of_a_megabyte_is_split_in_bounded_sentences(tokenizer: Tokenizer, line: str) -> None:
    sentences = tokenizer.split(line)
    assert text_of(sentences) == line
    assert max(map(len, sentences)) <= 2 * MAX_WORDS


def test_a_nul_character_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(LongarcError, match="NUL"):
        tokenizer.split("a\0b")


def test_rules_split_words_punctuation_and_sentences() -> None:
    sentences = RuleTokenizer().split("Mr Low's dog (a well-known one) left. “Really?” he said. It cost 10.5 pounds…")
    assert [sentence.forms for sentence in sentences] == [
        ["Mr", "Low's", "dog", "(", "a", "well-known", "one", ")", "left", "."],
        ["“", "Really", "?", "”", "he", "said", "."],
        ["It", "cost", "10.5", "pounds", "…"],
    ]


def test_lines_are_paragraphs_or_parts_of_one(tokenizer: Tokenizer) -> None:
    text = "Ann sees\nthe house.\n\nBob likes\n\nit"
    lines = tokenizer.split(text, line_breaks="paragraphs")
    assert [" ".join(sentence.forms) for sentence in lines] == ["Ann sees", "the house .", "Bob likes", "it"]
    assert ["# newpar" in sentence.lead for sentence in lines] == [False, True, True, True]
    wrapped = tokenizer.split(text, line_breaks="spaces")
    assert [" ".join(sentence.forms) for sentence in wrapped] == ["Ann sees the house .", "Bob likes", "it"]
    assert ["# newpar" in sentence.lead for sentence in wrapped] == [False, True, True]
    assert joined(lines) == joined(wrapped) == text


def test_lines_that_arrive_in_pieces_are_paragraphs(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_module, "PIECE", 50)
    text = "".join(f"Ann sees the house {number}\n" for number in range(30))
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    sentences = list(tokenizer.split_stream(pieces, line_breaks="paragraphs"))
    assert [sentence.text for sentence in sentences] == text.splitlines()
    assert sum("# newpar" in sentence.lead for sentence in sentences) == 29


def test_an_older_model_reads_line_breaks_as_spaces(english: Parser) -> None:
    text = "She was here\nyesterday."
    if not english.tokenizer.description.line_breaks:  # type: ignore[attr-defined]
        assert english.tokenizer.spans(text) == english.tokenizer.spans(text.replace("\n", " "))


class SplittingTokenizer(LearnedTokenizer):
    """Ends a token after each word and full stop, and a sentence after each full stop."""

    def _labels(self, characters: TextCharacters) -> NDArray[np.int64]:
        following = np.append(characters.codes[1:], ord(" "))
        is_stop = characters.codes == ord(".")
        ends_word = np.isin(following, [ord("."), ord(" "), ord(")")]) | (characters.codes == ord("("))
        return np.where(is_stop, SENTENCE_END, np.where(ends_word, TOKEN_END, INSIDE))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("All meals incl. drinks are free.", ["All meals incl. drinks are free ."]),
        ("Smith et al. (2014) left.", ["Smith et al. ( 2014 ) left ."]),
        ("Tea (Incl. two biscuits)", ["Tea ( Incl. two biscuits )"]),
        ("It costs approx. 5 dollars.", ["It costs approx. 5 dollars ."]),
        ("See Smith et al. He left.", ["See Smith et al .", "He left ."]),
        ("He left. she stayed.", ["He left .", "she stayed ."]),
        ("A gal. of milk", ["A gal .", "of milk"]),
        ("Drinks incl.\n\nfood not", ["Drinks incl .", "food not"]),
        ("Drinks incl.", ["Drinks incl ."]),
        ("incl. x", ["incl. x"]),
    ],
)
def test_no_sentence_ends_after_an_abbreviation_that_goes_on(text: str, sentences: list[str]) -> None:
    abbreviations = frozenset(["al.", "incl.", "approx."])
    tokenizer = object.__new__(SplittingTokenizer)
    tokenizer.description = TokenizerDescription(
        Characters("abc"), False, MultiwordRules({}, {}), abbreviations=abbreviations
    )
    assert [" ".join(sentence.forms) for sentence in tokenizer.split(text)] == sentences


@pytest.mark.parametrize(
    ("splits_numbers", "words"),
    [(False, "On 13.11.2014 , she paid 1,299.5 ."), (True, "On 13 . 11 . 2014 , she paid 1,299 . 5 .")],
)
def test_numbers_stay_whole_unless_the_treebank_splits_them(splits_numbers: bool, words: str) -> None:
    tokenizer = object.__new__(SplittingTokenizer)
    tokenizer.description = TokenizerDescription(
        Characters("abc"), False, MultiwordRules({}, {}), splits_numbers=splits_numbers
    )
    assert TokenizerDescription.from_json(tokenizer.description.as_json()).splits_numbers == splits_numbers
    with pytest.raises(ValueError, match="splits_numbers"):
        TokenizerDescription.from_json({**tokenizer.description.as_json(), "splits_numbers": "no"})
    sentences = tokenizer.split("On 13.11.2014 , she paid 1,299.5.")
    assert " ".join(word for sentence in sentences for word in sentence.forms) == words
