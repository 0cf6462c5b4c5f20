"""The server against its own OpenAPI description: whatever comes, it is never the server that fails."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest.importorskip("torch")
pytest.importorskip("fastapi")
schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from longarc import read_all  # noqa: E402
from longarc.runtime.parser import Parser  # noqa: E402
from longarc.server.app import make_app  # noqa: E402
from longarc.server.limits import Limits  # noqa: E402
from longarc.server.models import Models  # noqa: E402
from tests.test_parse import packaged, small  # noqa: E402
from tests.toy_treebank import write_toy_treebank  # noqa: E402


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Any:
    sentences = read_all(write_toy_treebank(tmp_path_factory.mktemp("fuzz") / "toy.conllu", 10))
    parser = Parser(packaged(small("nl-covington", sentences)), threads=1)
    app = make_app(Models({"toy": parser}), Limits(seconds=5, gather_seconds=0))
    return schemathesis.openapi.from_asgi("/api/openapi.json", app)


fuzzed = schemathesis.pytest.from_fixture("description")
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.CHECKS.get_one("status_code_conformance"),
    schemathesis.checks.CHECKS.get_one("content_type_conformance"),
    schemathesis.checks.CHECKS.get_one("response_schema_conformance"),
]


@fuzzed.parametrize()
@settings(max_examples=60, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_nothing_makes_the_server_fail(case: Any) -> None:
    case.call_and_validate(checks=CHECKS)
