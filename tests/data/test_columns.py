"""Predicted columns: labels to cells and back."""

from __future__ import annotations

import json

import pytest

from longarc import Sentence
from longarc.data.columns import COLUMNS, Lemma
from longarc.data.conll import parse_conll
from longarc.data.vocabulary import NOT_KNOWN

ROWS = [("Dogs", "dog", "NOUN"), ("were", "be", "AUX"), ("barking", "bark", "VERB"), ("_", "_", "PUNCT")]


def sentence(*words: tuple[str, str, str]) -> Sentence:
    rows = [f"{i}\t{form}\t{lemma}\t{tag}\tx\tA=B\t0\troot\t_\t_" for i, (form, lemma, tag) in enumerate(words, 1)]
    return parse_conll("\n".join(rows) + "\n\n")[0]


@pytest.mark.parametrize("name", COLUMNS)
def test_decoding_inverts_encoding(name: str) -> None:
    tree = sentence(*ROWS)
    column = COLUMNS[name].from_json(json.loads(json.dumps(COLUMNS[name].learn([tree]).as_json())))
    labels = column.encode(tree)
    assert labels[0] == NOT_KNOWN and (labels[1:] >= 0).all()
    assert (
        column.decode(tree.forms, labels[1:], {"upos": tree.node_column(3)[1:]}) == tree.node_column(column.index)[1:]
    )


def test_known_words_keep_their_lemma_if_it_is_unambiguous() -> None:
    train = sentence(
        ("saw", "see", "VERB"), ("saw", "saw", "NOUN"), ("left", "leave", "VERB"), ("left", "left", "VERB")
    )
    column = Lemma.learn([train])
    assert isinstance(column, Lemma)
    same = column.labels.numbers(["="] * 3)
    tags = {"upos": ["VERB", "NOUN", "VERB"]}
    assert column.decode(["saw", "saw", "left"], same, tags) == ["see", "saw", "left"]
    plain = column.variants()[1]
    assert plain.decode(["saw", "saw", "left"], same, tags) == ["saw", "saw", "left"]


def test_words_without_a_lemma_are_not_learned_from() -> None:
    column = Lemma.learn([sentence(("a", "_", "X"), ("B", "b", "X"))])
    assert column.labels.names == ["↓0||"]
    assert column.encode(sentence(("a", "_", "X"))).tolist() == [NOT_KNOWN, NOT_KNOWN]


@pytest.mark.parametrize(
    "data", [[], {"scripts": []}, {"scripts": ["="], "known": {"a": {"X": 1}}}, {"scripts": ["="]}]
)
def test_a_damaged_description_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="lemma"):
        Lemma.from_json(data)
