"""The tokenizers of pretrained encoders."""

from __future__ import annotations

import copy
import json
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from longarc.data.subword_tokenizer import MOST_PIECES, SubwordTokenizer, read_definition
from longarc.errors import LongarcError
from tests.helpers.tiny_encoders import byte_pairs, unigram, word_piece

TOKENIZERS = {"WordPiece": word_piece, "BPE": byte_pairs, "Unigram": unigram}


def tokenizer(kind: str) -> SubwordTokenizer:
    return SubwordTokenizer(read_definition(json.dumps(TOKENIZERS[kind]())))


def pieces(kind: str, form: str) -> list[str]:
    found = tokenizer(kind)
    return [found.pieces[number] for number in found.split(form)]


@pytest.mark.parametrize(
    ("kind", "form", "expected"),
    [
        ("WordPiece", "Dogs", ["dog", "##s"]),
        ("WordPiece", "zoo!", ["z", "##o", "##o", "!"]),
        ("WordPiece", "日", ["[UNK]"]),
        ("BPE", "the", ["Ġthe"]),  # as after a space, also at the beginning of a text
        ("BPE", "dogs", ["Ġdog", "s"]),
        ("Unigram", "the", ["▁the"]),
        ("Unigram", "dogs", ["▁dog", "s"]),
    ],
)
def test_words_are_split_as_in_running_text(kind: str, form: str, expected: list[str]) -> None:
    assert pieces(kind, form) == expected


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_every_word_has_pieces_but_not_too_many(kind: str) -> None:
    found = tokenizer(kind)
    for form in ("", " ", "\u200b", "a" * 10_000, "\U0001f44b" * 50, "a b"):
        assert 1 <= len(found.split(form)) <= MOST_PIECES


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_word_of_many_megabytes_takes_no_time(kind: str) -> None:
    found = tokenizer(kind)
    start = time.perf_counter()
    found.split("ab" * 2_000_000)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_restricted_tokenizer_splits_the_words_that_it_was_made_for_as_before(kind: str) -> None:
    found = tokenizer(kind)
    forms = ["the", "dogs", "see", "a", "house"]
    small, numbers = found.restricted(forms, limit=30)
    assert len(small) == len(numbers) < len(found)
    assert [found.pieces[number] for number in numbers] == small.pieces
    for form in forms:
        assert [numbers[number] for number in small.split(form)] == list(found.split(form))
    for form in ("children", "Zoë", "!"):
        assert small.split(form)


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_definition_can_be_stored_as_json(kind: str) -> None:
    found = tokenizer(kind)
    again = SubwordTokenizer(json.loads(json.dumps(found.definition)))
    assert again.split("dogs") == found.split("dogs")
    assert (again.first, again.last) == (found.first, found.last)


def changed(kind: str, path: str, value: Any) -> dict[str, Any]:
    definition: dict[str, Any] = copy.deepcopy(tokenizer(kind).definition)
    *parents, last = path.split(".")
    part = definition
    for parent in parents:
        part = part[parent]
    part[last] = value
    return definition


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("WordPiece", "model", None),
        ("WordPiece", "model.type", "WordLevel"),
        ("WordPiece", "model.type", []),
        ("WordPiece", "model.vocab", []),
        ("WordPiece", "model.vocab", ["a", 1]),
        ("WordPiece", "model.vocab", ["[CLS]", "[SEP]", "a", "a"]),
        ("WordPiece", "model.unk_token", None),
        ("WordPiece", "model.extra", 1),
        ("WordPiece", "first", "nowhere"),
        ("WordPiece", "last", 3),
        ("WordPiece", "normalizer", {"type": "Replace", "pattern": {"Regex": "(a*)*b"}, "content": ""}),
        ("WordPiece", "normalizer", {"type": "Replace", "pattern": {"Code": "a"}, "content": ""}),
        ("WordPiece", "normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        ("WordPiece", "normalizer", {"type": "Custom"}),
        ("WordPiece", "normalizer", ["Lowercase"]),
        ("WordPiece", "pre_tokenizer", {"type": "Split", "pattern": {"Regex": "(a*)*b"}, "behavior": "Removed"}),
        ("WordPiece", "pre_tokenizer", {"type": "Sequence", "pretokenizers": [{"type": "Split"}]}),
        ("WordPiece", "pre_tokenizer", {"type": "Digits", "individual_digits": "yes"}),
        ("BPE", "model.merges", [["x", "y"]]),
        ("BPE", "model.merges", [["Ġ"]]),
        ("BPE", "model.merges", "Ġ t"),
        ("Unigram", "model.vocab", [["<s>", "0"]]),
        ("Unigram", "model.unk_id", 10_000),
        ("Unigram", "model.unk_id", -1),
    ],
)
def test_a_definition_that_is_not_as_expected_is_refused(kind: str, path: str, value: Any) -> None:
    with pytest.raises(ValueError):
        SubwordTokenizer(changed(kind, path, value))


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [True, False, None])
@given(form=st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_berts_pieces_are_those_of_the_library(lowercase: bool, strip_accents: bool | None, form: str) -> None:
    data = word_piece()
    data["normalizer"] |= {"lowercase": lowercase, "strip_accents": strip_accents}
    # The library knows fewer characters than Python: it uses an older version of Unicode.
    form = "".join(character for character in form if unicodedata.ucd_3_2_0.category(character) != "Cn")
    expected = Tokenizer.from_str(json.dumps({**data, "truncation": None}))
    found = SubwordTokenizer(read_definition(json.dumps(data)))
    ids = expected.encode([form], is_pretokenized=True, add_special_tokens=False).ids
    assert list(found.split(form)) == (ids[:MOST_PIECES] or [found.last])


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = tokenizer("BPE").definition
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(LongarcError, match="needs the package tokenizers") as caught:
        SubwordTokenizer(definition)
    assert "pip install" in caught.value.hint
