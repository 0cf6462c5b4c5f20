"""Words, tokens and arcs as objects to walk over."""

from __future__ import annotations

import pytest

from longarc import LongarcError, Sentence

FRENCH = """\
# text = Elle parle du  livre rouge, (vite).
1	Elle	elle	PRON	_	Number=Sing|Person=3	2	nsubj	_	Prob=0.9000
2	parle	parler	VERB	V	_	0	root	_	Prob=0.5000
3-4	du	_	_	_	_	_	_	_	SpacesAfter=\\s\\s
3	de	de	ADP	_	_	5	case	_	_
4	le	le	DET	_	_	5	det	_	_
5	livre	livre	NOUN	_	_	2	obl:arg	_	_
6	rouge	rouge	ADJ	_	_	5	amod	_	SpaceAfter=No
7	,	,	PUNCT	_	_	9	punct	_	_
8	(	(	PUNCT	_	_	9	punct	_	SpaceAfter=No
9	vite	_	ADV	_	_	2	advmod	_	SpaceAfter=No
10	)	)	PUNCT	_	_	9	punct	_	SpaceAfter=No
11	.	.	PUNCT	_	_	2	punct	_	_

"""
CROSSING = """\
1	A	_	_	_	_	3	x	_	_
2	B	_	_	_	_	4	y	_	_
3	C	_	_	_	_	0	root	_	_
4	D	_	_	_	_	3	z	_	_

"""


@pytest.fixture
def french() -> Sentence:
    return Sentence.from_conll(FRENCH)


def texts(words: object) -> str:
    return " ".join(map(str, words))  # type: ignore[call-overload]


def test_a_sentence_is_a_sequence_of_words(french: Sentence) -> None:
    assert len(french) == 11 == len(french.words) == len(list(french))
    assert french[0].text == "Elle" and french[-1].text == "."
    assert texts(french[2:5]) == "de le livre"
    assert french[4] == french.words[4] and len({french[4], french.words[4]}) == 1
    assert french[4] != Sentence.from_conll(FRENCH)[4]
    assert french[3].index == 3 and french[3].id == 4
    with pytest.raises(IndexError):
        french[11]
    with pytest.raises(IndexError):
        french[-12]


def test_a_word_has_its_columns(french: Sentence) -> None:
    elle, parle, vite = french[0], french[1], french[8]
    assert (elle.lemma, elle.upos, elle.xpos, elle.relation) == ("elle", "PRON", "", "nsubj")
    assert elle.feats == {"Number": "Sing", "Person": "3"} and parle.feats == {}
    assert parle.xpos == "V" and vite.lemma == ""
    assert elle.probability == 0.9 and vite.probability is None
    assert vite.misc == {"SpaceAfter": "No"}


def test_the_lemma_of_an_underscore_is_an_underscore() -> None:
    assert Sentence.from_forms(["_"])[0].lemma == "_"


def test_the_tree_can_be_walked(french: Sentence) -> None:
    elle, parle, livre, vite = french[0], french[1], french[4], french[8]
    assert french.root == parle and parle.is_root and parle.head is None and parle.head_index is None
    assert livre.head == parle and livre.head_index == 1
    assert texts(parle.children) == "Elle livre vite ."
    assert texts(parle.left_children) == "Elle" and texts(parle.right_children) == "livre vite ."
    assert texts(livre.subtree) == "de le livre rouge"
    assert texts(parle.subtree) == texts(french)
    assert texts(french[2].ancestors) == "livre parle" and parle.ancestors == []
    assert texts(elle.path_to(french[2])) == "Elle parle livre de"
    assert texts(french[2].path_to(parle)) == "de livre parle"
    assert vite.path_to(vite) == [vite]


def test_words_without_heads_have_no_tree() -> None:
    sentence = Sentence.from_forms(["a", "b"])
    assert sentence[0].head is None and not sentence[0].is_root and sentence[0].relation == ""
    assert sentence[0].path_to(sentence[1]) == [] and sentence[0].children == []
    assert sentence.probability is None
    with pytest.raises(LongarcError, match="no root"):
        assert sentence.root


def test_a_cycle_ends_the_walk() -> None:
    sentence = Sentence.from_forms(["a", "b"])
    sentence.set_tree([-1, 2, 1], ["", "x", "y"])
    assert texts(sentence[0].ancestors) == "b a" and texts(sentence[0].subtree) == "a b"


def test_arcs_cross() -> None:
    sentence = Sentence.from_conll(CROSSING)
    assert not sentence.is_projective
    assert [(arc.head.text if arc.head else None, arc.relation, arc.dependent.text) for arc in sentence.arcs] == [
        ("C", "x", "A"),
        ("D", "y", "B"),
        (None, "root", "C"),
        ("C", "z", "D"),
    ]
    assert [arc.dependent.text for arc in sentence[0].crosses] == ["B"]
    assert {arc.dependent.text for arc in sentence[1].crosses} == {"A", "C"}
    assert sentence[3].crosses == []


def test_tokens_and_offsets_follow_the_text(french: Sentence) -> None:
    assert french.text == "Elle parle du  livre rouge, (vite)."
    assert [token.text for token in french.tokens] == [
        "Elle",
        "parle",
        "du",
        "livre",
        "rouge",
        ",",
        "(",
        "vite",
        ")",
        ".",
    ]
    du = french.tokens[2]
    assert du.is_multiword and texts(du.words) == "de le" and not french.tokens[0].is_multiword
    assert french[2].token.text == "du" and (du.start, du.end) == (11, 13) == (french[3].start, french[3].end)
    for token in french.tokens:
        assert french.text[token.start : token.end] == token.text
    assert (french.start, french.end) == (0, len(french.text))
    assert french[0].space_after and not french[5].space_after
    assert not french[2].space_after and french[3].space_after


def test_a_sentence_has_a_probability(french: Sentence) -> None:
    assert french.probability == pytest.approx(0.45)


def test_a_sentence_can_be_drawn(french: Sentence) -> None:
    assert "parle" in french.tree() and "<svg" in french.to_svg()
    assert "\\begin{dependency}" in french.to_tikz()
    assert french._repr_svg_() == french.to_svg()


def test_what_is_printed(french: Sentence) -> None:
    assert str(french) == french.text and str(french[0]) == "Elle"
    assert repr(french[0]) == "<Word 1 Elle>" and repr(french.tokens[2]) == "<Token 3-4 du>"
    assert repr(french) == "<Sentence of 11 words: Elle parle de le livre rouge , (…>"
