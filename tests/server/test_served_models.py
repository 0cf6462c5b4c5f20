"""Names of served models."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from longarc.runtime.parser import Parser
from longarc.server.app import make_app
from longarc.server.problem import Problem
from longarc.server.served_models import ServedModels, load_models


def test_models_are_named_by_their_files(model: Path) -> None:
    assert list(load_models([str(model)], threads=1).parsers) == ["toy"]


def test_a_model_is_loaded_by_its_language_and_named_by_its_file() -> None:
    assert list(load_models(["english"], threads=1).parsers) == ["en_ewt"]


@pytest.mark.parametrize("requested", [None, "en", "english", "English", "en_ewt", "en-ewt"])
def test_a_request_may_name_the_language(english: Parser, parser: Parser, requested: str | None) -> None:
    assert ServedModels({"en_ewt": english, "toy": parser}).find(requested) == ("en_ewt", english)


def test_both_interfaces_accept_the_language(english: Parser) -> None:
    with TestClient(make_app(ServedModels({"en_ewt": english}))) as client:
        udpipe = client.post("/process", data={"data": "She left.", "tokenizer": "", "parser": "", "model": "english"})
        assert udpipe.json()["model"] == "en_ewt"
        parsed = client.post("/api/parse", json={"text": "She left.", "model": "en"})
        assert parsed.json()["model"] == "en_ewt"


def test_an_unknown_model_brings_the_list(english: Parser, parser: Parser) -> None:
    with pytest.raises(Problem) as caught:
        ServedModels({"en_ewt": english, "toy": parser}).find("danish")
    assert caught.value.status_code == 422
    assert caught.value.hint == "Known models: en_ewt (English), toy."
