"""Conversion between CoNLL-X and CoNLL-U."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings

from longarc.data.conll import read, read_all
from longarc.data.conllx import lost_in_conllx, to_conllu, to_conllx
from tests.helpers.converted_files import conllx_files
from tests.helpers.generators import quick
from tests.helpers.small_files import CONLLX


@settings(quick, max_examples=60)
@given(conllx_files())
def test_sentences_in_conllx_survive_conllu(data: bytes) -> None:
    for sentence in read_all(io.BytesIO(data), format="conllx"):
        assert not lost_in_conllx(to_conllu(sentence))
        assert to_conllx(to_conllu(sentence)).to_conll() == sentence.to_conll()


@pytest.mark.parametrize("relation", ["a|b", "nmod|subj%", "a|PHEAD=3", "_|", "|"])
def test_a_projective_relation_of_any_kind_survives_conllu(relation: str) -> None:
    text = CONLLX.replace("0\tdep\t_\t_", f"0\tdep\t0\t{relation}")
    (sentence,) = read(io.BytesIO(text.encode()), format="conllx")
    assert to_conllx(to_conllu(sentence)).to_conll() == text


def test_projective_heads_stand_in_misc_in_conllu() -> None:
    text = CONLLX.replace("0\tdep\t_\t_", "0\tdep\t0\tROOT")
    (sentence,) = read(io.BytesIO(text.encode()))
    assert [row[8:] for row in to_conllu(sentence).rows] == [["_", "_"], ["_", "PHEAD=0|PDEPREL=ROOT"]]
    assert sentence.to_conll() == text, "the sentence itself stays as it was"
