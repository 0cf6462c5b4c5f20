"""Languages in codes, names and titles."""

from __future__ import annotations

import pytest

from longarc.data.languages import find_language, language_in_title


@pytest.mark.parametrize(
    ("text", "code"),
    [("en", "en"), ("EN", "en"), ("English", "en"), ("old-church_slavonic", "cu"), ("klingon", ""), ("", "")],
)
def test_languages_have_codes_and_names(text: str, code: str) -> None:
    assert find_language(text) == code


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("Universal Dependencies English Web Treebank (UD_English-EWT)", "en"),
        ("UD_Ancient_Greek-PROIEL", "grc"),
        ("UD Old French PROFITEROLE", "fro"),
        ("da_ddt-ud-train.conllu", "da"),
        ("train.conllu", ""),
        ("my_own.conllu", ""),
        ("Latinate words", ""),
    ],
)
def test_a_title_names_its_language(title: str, code: str) -> None:
    assert language_in_title(title) == code
