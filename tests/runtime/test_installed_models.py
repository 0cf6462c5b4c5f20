"""Models by name: the user's folder, the default, and the error when there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longarc.errors import LongarcError
from longarc.runtime import installed_models as models_module
from longarc.runtime.installed_models import find_model, language_of_model, named_models, user_folder
from longarc.runtime.parser import load
from tests.helpers.command import longarc


def test_models_are_found_by_name_and_by_path(model_folders: Path) -> None:
    assert find_model("latin") == model_folders / "own" / "latin.longarc"
    assert find_model(None) == find_model("en_ewt") == model_folders / "embedded" / "en_ewt.longarc"
    assert find_model(model_folders / "elsewhere.longarc") == model_folders / "elsewhere.longarc"
    assert [model.name for model in named_models()] == ["latin", "en_ewt"]
    with pytest.raises(LongarcError, match=r"Known models: latin \(Latin\), en_ewt \(English\)"):
        find_model("greek")


@pytest.mark.parametrize("name", ["en", "EN", "english", "English", "en_ewt", "en-ewt", "EN_EWT"])
def test_a_model_has_several_names(model_folders: Path, name: str) -> None:
    assert find_model(name) == model_folders / "embedded" / "en_ewt.longarc"


def test_the_language_of_a_model_is_in_its_card_or_its_name(model_folders: Path) -> None:
    assert {model.name: model.language for model in named_models()} == {"latin": "la", "en_ewt": "en"}
    assert language_of_model("mine", {"treebank": "UD_Danish-DDT"}) == "da"
    assert language_of_model("en_mine", {"treebank": "train.conllu"}) == "en"
    assert language_of_model("mine", {}) == ""


def test_of_several_models_of_a_language_the_users_first_is_used(model_folders: Path) -> None:
    for name in ("en_web", "en_books"):
        (model_folders / "own" / f"{name}.longarc").touch()
    with pytest.warns(UserWarning, match="en: using the model en_books; also possible: en_web, en_ewt"):
        assert find_model("en") == model_folders / "own" / "en_books.longarc"


def test_an_unknown_name_brings_the_nearest_one_to_mind(model_folders: Path) -> None:
    for name in ("englsh", "en_ewtt", "enn_ewt"):
        with pytest.raises(LongarcError, match=r"Did you mean en_ewt\? Known models: latin"):
            find_model(name)
    with pytest.raises(LongarcError) as caught:
        find_model("xyzzy")
    assert "Did you mean" not in str(caught.value)


def test_a_users_own_model_goes_before_one_that_comes_with_the_package(model_folders: Path) -> None:
    (model_folders / "own" / "en_ewt.longarc").touch()
    assert find_model(None) == model_folders / "own" / "en_ewt.longarc"


def test_where_there_is_no_model_it_is_said_what_to_do(model_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_module, "EMBEDDED", model_folders / "nothing")
    with pytest.raises(LongarcError, match="Train a model"):
        find_model(None)
    monkeypatch.setenv("LONGARC_MODELS", str(model_folders / "nothing"))
    with pytest.raises(LongarcError, match="No models are in"):
        find_model("latin")
    monkeypatch.delenv("LONGARC_MODELS")
    assert user_folder().name == "models"


@pytest.mark.parametrize("name", ["en", "english"])
def test_python_and_the_command_line_load_a_model_by_its_language(name: str) -> None:
    assert load(name, threads=1).card["name"] == "en_ewt"
    assert json.loads(longarc("info", name, "--json").stdout)["name"] == "en_ewt"
    tree = longarc("parse", "--text", "She left.", "--model", name, "--threads=1")
    assert (tree.status, "nsubj" in tree.stdout.decode()) == (0, True)


def test_the_command_line_says_which_of_several_models_it_uses(model_folders: Path) -> None:
    (model_folders / "own" / "en_web.longarc").touch()
    outcome = longarc("info", "en")
    assert "longarc: en: using the model en_web; also possible: en_ewt\n" in outcome.stderr


def test_model_packages_are_found_without_being_imported(
    model_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "nordic_models"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    for name in ("da_ddt", "sv_talbanken", "en_ewt"):
        (package / f"{name}.longarc").touch()
    metadata = tmp_path / "site" / "nordic_models-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: nordic-models\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[longarc_models]\nnordic = nordic_models\nmissing = no_such_package\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert find_model("danish") == package / "da_ddt.longarc"
    assert find_model("en_ewt") == model_folders / "embedded" / "en_ewt.longarc"
    assert [(model.name, model.package) for model in named_models()] == [
        ("latin", ""),
        ("en_ewt", ""),
        ("da_ddt", "nordic_models"),
        ("sv_talbanken", "nordic_models"),
    ]
