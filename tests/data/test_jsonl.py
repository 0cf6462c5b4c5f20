"""JSON lines: round trips and errors."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from longarc.data.conll import read_all
from longarc.data.jsonl import from_json, read_jsonl, to_json
from longarc.errors import InputError, LongarcError
from tests.cli.test_convert import done
from tests.helpers.command import longarc
from tests.helpers.converted_files import conllu_files
from tests.helpers.generators import quick, sentence_of, word
from tests.helpers.small_files import CONLLU, JSON


@settings(quick, max_examples=60)
@given(conllu_files())
def test_sentences_survive_json(data: bytes) -> None:
    for sentence in read_all(io.BytesIO(data)):
        line = to_json(sentence)
        assert "\n" not in line
        assert from_json(line).to_conll() == sentence.to_conll()


def test_a_sentence_is_one_object_a_line(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU * 2)
    done("convert", tmp_path / "in.conllu", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == JSON * 2


def test_ids_of_multiword_tokens_and_empty_nodes_are_text() -> None:
    sentence = sentence_of(word("1-2", form="im") + word(1, 0) + word("1.1") + word(2, 1))
    assert [token["id"] for token in json.loads(to_json(sentence))["tokens"]] == ["1-2", 1, "1.1", 2]


def test_stray_comments_survive_json() -> None:
    text = word(1, 0) + "# stray\twith a tab\n" + word(2, 0) + "\n"
    assert from_json(to_json(sentence_of(text))).to_conll() == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(word(1, 0).replace("w\t_", "w\t"), id="an empty lemma"),
        pytest.param(word(1, 0, ""), id="an empty form"),
        pytest.param(word(1, 0) + word(2, 1).replace("\n", "\r\n") + word(3, 1), id="mixed line ends"),
        pytest.param(word(1, 0, "a\rb"), id="CR within a form"),
        pytest.param("# a\rb\n" + word(1, 0), id="CR within a comment"),
    ],
)
def test_whatever_is_written_as_json_lines_can_be_read_again(text: str) -> None:
    sentence = sentence_of(text + "\n")
    again = from_json(to_json(sentence))
    assert [row[:9] for row in again.rows] == [row[:9] for row in sentence.rows]


def token(**keys: object) -> str:
    return json.dumps({"tokens": [{"id": 1, "form": "w", **keys}]})


BAD_JSON = {
    "not JSON": ("{", "not valid JSON"),
    "CoNLL": (word(1, 0).strip(), "not valid JSON"),
    "deeply nested": ('{"tokens": ' + "[" * 100_000, "not valid JSON"),
    "a number of thousands of digits": ('{"tokens": [' + "9" * 5000 + "]}", "not valid JSON"),
    "a list": ("[]", 'expected an object with a list "tokens"'),
    "no tokens": ("{}", 'expected an object with a list "tokens"'),
    "empty tokens": ('{"tokens": []}', "without words"),
    "tokens that are no list": ('{"tokens": {}}', 'expected an object with a list "tokens"'),
    "a token that is no object": ('{"tokens": [1]}', 'a token needs "id" and "form"'),
    "a token without a form": ('{"tokens": [{"id": 1}]}', 'a token needs "id" and "form"'),
    "comments that are no list": ('{"comments": "#", "tokens": []}', '"comments" must be a list'),
    "a comment without #": ('{"comments": ["text"], "tokens": []}', "begin with #"),
    "a comment of two lines": ('{"comments": ["# a\\n1"], "tokens": []}', '"comments" must be a list of lines'),
    "an unknown key": (token(lema="w"), "unknown key 'lema'"),
    "a wrong id": (token(id=2), "token 1: ID is '2', expected 1"),
    "an id that is a range of thousands of digits": (token(id="1-" + "9" * 5000), "token 1"),
    "an id that is not a token's": (token(id="#"), "token 1"),
    "a wrong head": (token(head=5), "token 1: HEAD is '5', expected a number from 0 to 1"),
    "a head that is true": (token(head=True), "head is true"),
    "a lemma that is a number": (token(lemma=5), "lemma is 5, expected text"),
    "a tab": (token(form="a\tb"), "expected text without tabs"),
    "a line end": (token(misc="a\nb"), "expected text without tabs and line ends"),
    "half a character": (token(form="\ud800"), ""),
    "a NUL character": (token(form="\0"), ""),
}


@pytest.mark.parametrize(("line", "message"), [pytest.param(*value, id=name) for name, value in BAD_JSON.items()])
def test_errors_in_json_lines_name_the_file_and_the_line(line: str, message: str, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.conllu"
    source.write_text(f"{JSON}\n{line}\n{JSON}")
    outcome = longarc("convert", source, target)
    assert outcome.status == 2
    assert outcome.stderr.startswith(f"longarc: {source}:3: ")
    assert message in outcome.stderr
    assert list(tmp_path.iterdir()) == [source]
    outcome = longarc("convert", "--skip-invalid", source, target)
    assert outcome.status == 0
    assert outcome.stderr.startswith(f"longarc: skipped: {source}:3: ")
    assert target.read_text() == CONLLU * 2


def test_wrongly_encoded_json_lines_are_refused() -> None:
    with pytest.raises(InputError, match=r"<stream>:2: byte 0xf8 is not valid utf-8"):
        list(read_jsonl(io.BytesIO(JSON.encode() + JSON.replace("bark", "gør").encode("latin-1"))))


def test_a_cycle_in_json_lines_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(JSON + JSON.replace('"head": 0', '"head": 1'))
    outcome = longarc("convert", tmp_path / "in.jsonl", tmp_path / "out.conllu")
    assert outcome.status == 2
    assert "in.jsonl:2: the heads form a cycle: 1 → 2 → 1" in outcome.stderr


def test_an_unknown_encoding_of_json_lines_is_refused() -> None:
    with pytest.raises(LongarcError, match="unknown encoding"):
        list(read_jsonl(io.BytesIO(JSON.encode()), encoding="klingon"))
