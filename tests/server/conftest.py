"""Fixtures of the server tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from longarc.runtime.parser import Parser
from longarc.server.app import make_app
from longarc.server.served_models import ServedModels


@pytest.fixture(scope="module")
def models(parser: Parser) -> ServedModels:
    return ServedModels({"toy-small-1": parser, "second": parser})


@pytest.fixture(scope="module")
def client(models: ServedModels) -> Iterator[TestClient]:
    with TestClient(make_app(models)) as client:
        yield client
