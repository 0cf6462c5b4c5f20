"""Texts whose language is not known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import longarc
from longarc.data.language_profile import LanguageProfile
from longarc.errors import LongarcError
from longarc.runtime.auto_parser import words_in
from longarc.runtime.model_file import read_model_file, write_model_file
from longarc.runtime.parser import Parser
from longarc.server.served_models import ServedModels
from tests.data.test_language_profile import TEXTS
from tests.helpers.command import longarc as run


@pytest.fixture
def models(toy_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with models of German and Russian."""
    folder = tmp_path / "models"
    folder.mkdir()
    toy = read_model_file(toy_models / "toy" / "toy.longarc")
    for language in ("de", "ru"):
        profile = LanguageProfile.learn([TEXTS[language]])
        card = {**toy.card, "treebank": "", "name": f"{language}_toy"}
        write_model_file(folder / f"{language}_toy.longarc", replace(toy, profile=profile, card=card))
    monkeypatch.setenv("LONGARC_MODELS", str(folder))
    monkeypatch.setattr("longarc.runtime.installed_models.EMBEDDED", tmp_path / "none")
    return folder


def test_each_text_is_parsed_with_the_model_of_its_language(models: Path) -> None:
    nlp = longarc.load("auto")
    assert nlp.languages == ["de", "ru"]
    texts = ["die Kinder", "дети видят дом", "", "der Hund"]
    documents = nlp(texts)
    assert [document.language for document in documents] == ["de", "ru", documents[2].language, "de"]
    assert [document.text for document in documents] == texts
    probability = documents[1].language_probability
    assert probability is not None and 0.5 < probability <= 1
    pairs = list(nlp.pipe([(text, number) for number, text in enumerate(texts)], as_tuples=True))
    assert [(document.text, number) for document, number in pairs] == [(text, n) for n, text in enumerate(texts)]
    assert nlp("дом").language == "ru"
    assert nlp.parser("de").name.endswith("de_toy.longarc")


def test_files_are_parsed_with_the_model_of_their_language(models: Path, tmp_path: Path) -> None:
    german, russian = tmp_path / "a.txt", tmp_path / "b.conllu"
    german.write_text("die Kinder sehen den Hund", "utf-8")
    rows = [f"{n}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_" for n, word in enumerate(TEXTS["ru"].split(), 1)]
    russian.write_text("\n".join(rows) + "\n\n", "utf-8")
    result = run("parse", german, russian, "--lang", "auto", "-o", tmp_path / "out.conllu")
    assert result.status == 0
    assert "a.txt: German (" in result.stderr and "b.conllu: Russian (" in result.stderr
    assert len(longarc.read_all(tmp_path / "out.conllu")) == 2
    result = run("parse", "--lang", "auto", "--to", "conllu", stdin=TEXTS["ru"].encode())
    assert "Russian" in result.stderr and "деревья" in result.stdout.decode()


def test_a_text_without_letters_is_parsed_with_the_default_model(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longarc.runtime.auto_parser.DEFAULT", "ru_toy")
    assert longarc.load("auto").identify("123").code == longarc.load("auto").identify("").code == "ru"


def test_a_language_without_a_model_is_named(models: Path) -> None:
    result = run("parse", "--text", "Hej", "--lang", "da")
    assert result.status == 2 and "no model for Danish" in result.stderr


def test_a_language_can_be_named_instead_of_a_model(models: Path) -> None:
    assert run("parse", "--text", "der Hund", "--lang", "german").status == 0
    result = run("parse", "--text", "der Hund", "--lang", "de", "--model", "de_toy")
    assert result.status == 2 and "--lang" in result.stderr


def test_without_profiles_there_is_a_clear_error(models: Path) -> None:
    for path in models.glob("*.longarc"):
        write_model_file(path, replace(read_model_file(path), profile=None))
    with pytest.raises(LongarcError, match="no installed model can be recognized"):
        longarc.load("auto")


def test_a_damaged_model_does_not_stop_the_use_of_the_others(models: Path) -> None:
    (models / "fr_toy.longarc").write_bytes(b"no model")
    assert longarc.load("auto").languages == ["de", "ru"]


def test_an_unknown_language_is_refused(models: Path) -> None:
    with pytest.raises(LongarcError, match="no model for 'xx'"):
        longarc.load("auto").parser("xx")


def test_a_server_recognizes_the_language_of_a_request(models: Path) -> None:
    served = ServedModels({path.stem: Parser(path) for path in sorted(models.glob("*.longarc"))})
    assert served.find("auto", "дети видят дом")[0] == "ru_toy"
    assert served.find("auto", "der Hund")[0] == "de_toy"
    assert served.find("auto", "")[0] == "de_toy"


def test_words_are_taken_from_treebanks_and_json() -> None:
    assert words_in("# text = x\n1\tder\t_\tDET\n2\tHund\t_\tNOUN\n") == "der Hund"
    assert words_in(json.dumps({"text": "der Hund", "id": "the"})) == "der Hund"
    assert words_in("the 3\tdogs") == "the 3\tdogs"
