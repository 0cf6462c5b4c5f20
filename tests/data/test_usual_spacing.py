"""Treebanks that do not record spaces get the usual ones."""

from __future__ import annotations

import pytest

from longarc import Sentence
from longarc.data.raw_text import text_of
from longarc.data.sentence import UPOS
from longarc.data.usual_spacing import records_spaces, with_spaces, with_usual_spacing


@pytest.mark.parametrize(
    ("forms", "text"),
    [
        ("Ja , det er en hund .", "Ja, det er en hund."),
        ("Hvem ( hvis nogen ) sov ?!", "Hvem (hvis nogen) sov?!"),
        ('Hun sagde : " Nej , tak " , og gik .', 'Hun sagde: "Nej, tak", og gik.'),
        ("Det koster 5 % – eller 10 ...", "Det koster 5% – eller 10..."),
        ("» Sov nu « , sagde „ han “ .", "»Sov nu«, sagde „han“."),
        ("¿ Quién es ?", "¿Quién es?"),
    ],
)
def test_punctuation_adjoins_words(forms: str, text: str) -> None:
    assert text_of([with_usual_spacing(Sentence.from_forms(forms.split()))]).rstrip() == text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([("l'", "DET"), ("Italia", "PROPN"), ("c'", "PRON"), ("è", "VERB")], "l'Italia c'è"),
        ([("Jens'", "PROPN"), ("uge", "NOUN")], "Jens' uge"),
        ([("E'", "AUX"), ("un", "DET"), ("po'", "ADV"), ("tardi", "ADV")], "E' un po' tardi"),
    ],
)
def test_elided_words_adjoin_the_next_word(words: list[tuple[str, str]], text: str) -> None:
    sentence = Sentence.from_forms([form for form, _ in words])
    sentence.set_column(UPOS, ["", *(tag for _, tag in words)])
    assert text_of([with_usual_spacing(sentence)]).rstrip() == text


def test_a_few_accidental_entries_do_not_record_spaces() -> None:
    accident = Sentence.from_conll("1\ta\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n")
    assert not records_spaces([accident, *[Sentence.from_forms(["a", ",", "b"])] * 50])


def test_recorded_spaces_stay() -> None:
    plain = Sentence.from_forms(["a", ",", "b"])
    recorded = Sentence.from_conll("1\ta\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n")
    assert records_spaces([plain, recorded]) and not records_spaces([plain])
    assert with_spaces([plain, recorded]) == [plain, recorded]
    (spaced,) = with_spaces([plain])
    assert text_of([spaced]) == "a, b " and text_of([plain]) == "a , b "


def test_other_entries_of_misc_stay() -> None:
    sentence = Sentence.from_conll("1\ta\t_\t_\t_\t_\t0\troot\t_\tGloss=x\n2\t.\t_\t_\t_\t_\t1\tpunct\t_\t_\n\n")
    assert with_usual_spacing(sentence).words[0].misc == {"Gloss": "x", "SpaceAfter": "No"}
