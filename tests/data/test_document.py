"""Documents: text, offsets, conversions and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import longarc
from longarc import Document, LongarcError
from longarc.runtime.parser import Parser

TEXT = "  She cannot stay.\n\nNobody knew   why: «they» left…\tGo!\n"


def test_a_document_keeps_its_text_and_every_word_its_place(english: Parser) -> None:
    doc = english(TEXT)
    assert doc.text == TEXT == str(doc)
    assert len(doc) == len(doc.sentences) == len(list(doc)) and doc[0] is doc.sentences[0]
    for sentence in doc:
        assert TEXT[sentence.start : sentence.end] == sentence.text
        for token in sentence.tokens:
            assert TEXT[token.start : token.end] == token.text
    assert [word.text for word in doc.words] == [word.text for sentence in doc for word in sentence]


def test_a_document_from_a_file_has_the_same_places(english: Parser, tmp_path: Path) -> None:
    doc = english(TEXT)
    doc.save(tmp_path / "doc.conllu")
    again = longarc.read_all(tmp_path / "doc.conllu")
    assert isinstance(again, Document) and again.text == TEXT
    assert [(word.text, word.start, word.end, word.relation) for word in again.words] == [
        (word.text, word.start, word.end, word.relation) for word in doc.words
    ]
    assert [round(word.probability or -1, 4) for word in doc.words] == [word.probability or -1 for word in again.words]


def test_blank_texts_come_back(english: Parser) -> None:
    for text in ("", "  \n ", "\ufeff"):
        doc = english(text)
        assert len(doc) == 0 and not doc and doc.text == text
        assert doc.to_dict() == {"text": text, "sentences": []}


def test_a_document_as_a_dictionary_and_as_a_table(english: Parser) -> None:
    doc = english("She left. Nobody knew why.")
    as_dict = doc.to_dict()
    assert json.loads(doc.to_json()) == as_dict
    assert as_dict["sentences"][1]["start"] == 10 and as_dict["sentences"][1]["tokens"][1]["form"] == "knew"
    table = doc.to_pandas()
    assert list(table.columns) == (
        ["sentence", "id", "text", "lemma", "upos", "xpos", "feats", "head", "relation", "start", "end", "probability"]
    )
    knew = table[table.text == "knew"].iloc[0]
    assert (knew.sentence, knew.id, knew["head"], knew.relation, knew.start) == (1, 2, 0, "root", 17)
    assert len(Document().to_pandas()) == 0


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("doc.conllu", "# sent_id = 1"),
        ("doc.conllx", "1\tShe"),
        ("doc.jsonl", '{"comments"'),
        ("doc.json", '{"text"'),
        ("doc.txt", "She left."),
    ],
)
def test_the_suffix_of_a_saved_file_determines_its_format(
    english: Parser, tmp_path: Path, name: str, start: str
) -> None:
    english("She left. Nobody knew why.").save(tmp_path / name)
    assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_an_unknown_suffix_is_an_error(english: Parser, tmp_path: Path) -> None:
    with pytest.raises(LongarcError, match=r"\.csv.*\n.*\.conllu, \.conllx"):
        english("She left.").save(tmp_path / "doc.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_the_first_trees(english: Parser) -> None:
    html = english("She left. " * 25)._repr_html_()
    assert html.count("<svg") == 20 and "5 more sentences" in html


def test_what_is_printed(english: Parser) -> None:
    assert repr(english("She left.")) == "<Document of 1 sentence, 3 words>"
