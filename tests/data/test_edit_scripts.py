"""Edit scripts turn forms into lemmas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longarc.data.edit_scripts import apply_script, make_script

WORDS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("abAB|+-→=!↑↓İßŉ"), min_size=1, max_size=12
)


@given(form=WORDS, lemma=WORDS)
def test_a_script_gives_the_lemma_that_it_was_made_from(form: str, lemma: str) -> None:
    assert apply_script(form, make_script(form, lemma)) == lemma


@given(form=WORDS, lemma=WORDS, other=WORDS)
def test_any_script_gives_any_word_a_lemma(form: str, lemma: str, other: str) -> None:
    assert apply_script(other, make_script(form, lemma))


@pytest.mark.parametrize(
    ("form", "lemma", "other", "expected"),
    [
        ("dogs", "dog", "cats", "cat"),
        ("Dogs", "dog", "CATS", "cat"),
        ("running", "run", "sitting", "sit"),
        ("Häuser", "Haus", "Mäuser", "Maus"),
        ("Hundes", "Hund", "Tages", "Tag"),
        ("1990", "1990", "42", "42"),
        ("was", "be", "is", "be"),
        ("running", "run", "a", "a"),
    ],
)
def test_a_script_applies_to_other_words(form: str, lemma: str, other: str, expected: str) -> None:
    assert apply_script(other, make_script(form, lemma)) == expected
