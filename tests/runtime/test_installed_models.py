"""Models by name: the user's folder, the default, and the error when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from longarc.errors import LongarcError
from longarc.runtime import installed_models as models_module
from longarc.runtime.installed_models import find_model, named_models, user_folder


def test_models_are_found_by_name_and_by_path(model_folders: Path) -> None:
    assert find_model("latin") == model_folders / "own" / "latin.longarc"
    assert find_model(None) == find_model("en_ewt") == model_folders / "embedded" / "en_ewt.longarc"
    assert find_model(model_folders / "elsewhere.longarc") == model_folders / "elsewhere.longarc"
    assert [model.name for model in named_models()] == ["latin", "en_ewt"]
    with pytest.raises(LongarcError, match="Known names: latin, en_ewt"):
        find_model("greek")


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
