"""Identifying languages."""

from __future__ import annotations

import numpy as np
import pytest

from longarc.data.language_profile import SIZE, LanguageProfile, identify_language
from tests.helpers.paths import treebank_file

TEXTS = {
    "en": "The dog sees the old house, and the children like the trees which they have found there today.",
    "de": "Der Hund sieht das alte Haus, und die Kinder mögen die Bäume, die sie heute dort gefunden haben.",
    "ru": "Собака видит старый дом, и детям нравятся деревья, которые они сегодня там нашли.",
    "th": "สุนัขเห็นบ้านเก่าและเด็กๆชอบต้นไม้ที่พวกเขาพบที่นั่นวันนี้",
}
PROFILES = {language: LanguageProfile.learn([text]) for language, text in TEXTS.items()}


@pytest.mark.parametrize(
    ("text", "language"),
    [("the children see the dog", "en"), ("DIE KINDER SEHEN DEN HUND", "de"), ("дети", "ru"), ("เด็กๆ", "th")],
)
def test_short_texts_are_identified(text: str, language: str) -> None:
    (first, probability), *_ = identify_language(text, PROFILES).items()
    assert first == language and probability > 0.5


def test_more_text_gives_more_confidence() -> None:
    short, long = (identify_language(text, PROFILES)["en"] for text in ("they", TEXTS["en"]))
    assert 0.25 < short < long <= 1


@pytest.mark.parametrize("text", ["", "123 ... 👋", " \n\t"])
def test_a_text_without_letters_could_be_in_any_language(text: str) -> None:
    assert set(identify_language(text, PROFILES).values()) == {0.25}


def test_nothing_is_identified_without_profiles() -> None:
    assert identify_language("the", {}) == {}


def test_odd_characters_are_read() -> None:
    assert sum(identify_language("a\ud800b \0 İ ß", PROFILES).values()) == pytest.approx(1)


def test_profiles_are_stored_in_bytes() -> None:
    profile = PROFILES["en"]
    again = LanguageProfile.from_bytes(profile.to_bytes())
    assert np.array_equal(again.levels, profile.levels) and len(profile.to_bytes()) == SIZE
    with pytest.raises(ValueError):
        LanguageProfile.from_bytes(b"x")


def test_languages_of_treebanks_are_told_apart() -> None:
    from longarc import read_all

    parts = {
        name: read_all(treebank_file(name, "train.conllu")) for name in ("af_afribooms", "sv_talbanken_v1", "en_ewt")
    }
    profiles = {name: LanguageProfile.learn(sentence.text for sentence in parts[name]) for name in parts}
    for name in parts:
        texts = [sentence.text[:40] for sentence in read_all(treebank_file(name, "dev.conllu"))[:200]]
        texts = [text for text in texts if len(text) == 40]
        right = sum(next(iter(identify_language(text, profiles))) == name for text in texts)
        assert right > 0.95 * len(texts)
