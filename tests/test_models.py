"""Models by name: a user's folder, the default, and what is said when there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from longarc.cli.main import COMMANDS, make_app
from longarc.errors import LongarcError
from longarc.runtime import installed_models as models_module
from longarc.runtime.installed_models import find_model, named_models, user_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder of models with one (empty) file in it, and another that comes with the package."""
    for name in ("own", "embedded"):
        (tmp_path / name).mkdir()
    (tmp_path / "own" / "latin.longarc").touch()
    (tmp_path / "embedded" / "en_ewt.longarc").touch()
    monkeypatch.setenv("LONGARC_MODELS", str(tmp_path / "own"))
    monkeypatch.setattr(models_module, "EMBEDDED", tmp_path / "embedded")
    return tmp_path


def test_models_are_found_by_name_and_by_path(folder: Path) -> None:
    assert find_model("latin") == folder / "own" / "latin.longarc"
    assert find_model(None) == find_model("en_ewt") == folder / "embedded" / "en_ewt.longarc"
    assert find_model(folder / "elsewhere.longarc") == folder / "elsewhere.longarc"
    assert [model.name for model in named_models()] == ["latin", "en_ewt"]
    with pytest.raises(LongarcError, match="Known by name: latin, en_ewt"):
        find_model("greek")


def test_a_users_own_model_goes_before_one_that_comes_with_the_package(folder: Path) -> None:
    (folder / "own" / "en_ewt.longarc").touch()
    assert find_model(None) == folder / "own" / "en_ewt.longarc"


def test_where_there_is_no_model_it_is_said_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_module, "EMBEDDED", folder / "nothing")
    with pytest.raises(LongarcError, match="longarc train"):
        find_model(None)
    monkeypatch.setenv("LONGARC_MODELS", str(folder / "nothing"))
    with pytest.raises(LongarcError, match="No models are in"):
        find_model("latin")
    monkeypatch.delenv("LONGARC_MODELS")
    assert user_folder().name == "models"


def test_the_list_names_damaged_models_too(folder: Path) -> None:
    result = CliRunner().invoke(make_app(list(COMMANDS)), ["models", "--json"])
    listed = json.loads(result.output)
    assert listed["folder"] == str(folder / "own")
    assert ["damaged" in model for model in listed["models"]] == [True, True]
    shown = CliRunner().invoke(make_app(list(COMMANDS)), ["models"])
    assert shown.exit_code == 0 and "latin" in shown.output
