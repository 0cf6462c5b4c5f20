"""The server against its own OpenAPI description: whatever comes, it is never the server that fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi import checks as conformance

from longarc import read_all
from longarc.runtime.model_file import write_model_file
from tests.helpers.served_models import serving
from tests.helpers.small_models import packaged, small
from tests.helpers.toy_treebank import write_toy_treebank

OPERATIONS = {
    "GET /models": 5,
    "GET /process": 80,
    "POST /process": 80,
    "GET /api/models": 5,
    "POST /api/parse": 120,
    "POST /api/draw": 120,
    "POST /api/compare": 120,
    "POST /api/steps": 120,
    "GET /health": 5,
    "GET /metrics": 5,
}
"""How many requests each gets."""
CHECKS = [
    schemathesis.checks.not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_schema_conformance,
]


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    home = tmp_path_factory.mktemp("fuzz")
    sentences = read_all(write_toy_treebank(home / "toy.conllu", 10))
    write_model_file(home / "toy.longarc", packaged(small("nl-covington", sentences)))
    with serving(home / "toy.longarc", "--threads", "1", "--max-seconds", "10") as (address, _):
        yield schemathesis.openapi.from_url(f"{address}api/openapi.json")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_makes_the_server_fail(description: Any, operation: str) -> None:
    method, path = operation.split()

    @settings(
        max_examples=OPERATIONS[operation],
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=description[path][method].as_strategy())
    def holds(case: Any) -> None:
        case.validate_response(case.call(), checks=CHECKS)

    holds()


def test_every_operation_is_tried(description: Any) -> None:
    found = {f"{op.ok().method.upper()} {op.ok().path}" for op in description.get_all_operations()}
    assert found == set(OPERATIONS)
