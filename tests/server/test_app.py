"""Limits, access token, metrics, static files and shutdown."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from longarc.runtime.parser import Parser
from longarc.server.app import make_app
from longarc.server.limits import Limits
from longarc.server.served_models import ServedModels
from tests.helpers.served_models import serving
from tests.helpers.service import WORDS, SlowParser, columns, udpipe_client
from tests.helpers.toy_treebank import toy_conllu


def app_with(parser: Any, token: str = "", **limits: Any) -> FastAPI:
    return make_app(ServedModels({"toy": parser}), Limits(**limits), token)


def test_a_large_request_is_refused_before_it_is_read(parser: Parser) -> None:
    with TestClient(app_with(parser, request_bytes=1000)) as client:
        for route in ("/process", "/api/parse"):
            assert client.post(route, content=b"x" * 1001).status_code == 413
            # Without a Content-Length the size shows only as it comes.
            pieces = (b"x" * 100 for _ in range(20))
            response = client.post(route, content=pieces, headers={"Content-Type": "application/json"})
            assert response.status_code == 413
        assert client.post("/api/parse", json={"text": "the dog"}).status_code == 200


def test_what_takes_too_long_is_given_up(parser: Parser) -> None:
    slow = SlowParser(2)
    with TestClient(app_with(slow, seconds=0.2)) as client:
        begun = time.monotonic()
        response = client.post("/api/parse", json={"tokens": [["word"]]})
        assert response.status_code == 503
        assert time.monotonic() - begun < 1.5
        assert response.headers["Retry-After"]


def test_a_full_server_says_so() -> None:
    slow = SlowParser(0.5)
    with TestClient(app_with(slow, queue_words=5)) as client, ThreadPoolExecutor(8) as clients:
        body = {"input": "horizontal", "parser": "", "data": "a b c"}
        answers = list(clients.map(lambda _: client.post("/process", data=body).status_code, range(8)))
    assert set(answers) == {200, 429}


def test_a_token_keeps_others_out(parser: Parser) -> None:
    with TestClient(app_with(parser, token="sesame")) as client:
        for path in ("/models", "/process", "/metrics", "/api/models", "/api/openapi.json", "/nothing"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
        right = {"Authorization": "Bearer sesame"}
        assert client.get("/models", headers=right).status_code == 200
        assert client.get("/metrics", headers=right).status_code == 200
        # The page itself holds no secret, and is where the token is typed.
        for path in ("/", "/app.js", "/style.css", "/health"):
            assert client.get(path).status_code == 200


def test_no_file_but_those_of_the_page_can_be_reached(client: TestClient) -> None:
    for path in (
        "/..%2fapp.py",
        "/../app.py",
        "/page/app.js",
        "/%2e%2e/models.py",
        "/index.html",
        "/toy.longarc",
        "//etc/passwd",
    ):
        assert client.get(path).status_code == 404
    page = client.get("/")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "http" not in page.text.replace("https://aclanthology.org/N18-2109/", "")


def test_counters_say_what_happened(models: ServedModels) -> None:
    with TestClient(make_app(models)) as client:
        client.post("/api/parse", json={"tokens": [WORDS, WORDS]})
        client.post("/api/parse", json={})
        client.get("/nothing/here")
        assert client.get("/health").json()["status"] == "ok"
        counts = client.get("/metrics").text
    for line in (
        'longarc_requests_total{route="/api/parse",status="200"} 1.0',
        'longarc_requests_total{route="/api/parse",status="422"} 1.0',
        'longarc_requests_total{route="other",status="404"} 1.0',
        'longarc_words_total{model="toy-small-1"} 18.0',
        'longarc_request_seconds_count{route="/api/parse"} 2.0',
        "longarc_queue_words 0.0",
    ):
        assert line in counts


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_answers_what_it_accepted(model: Path, how: signal.Signals) -> None:
    text = toy_conllu(1500)
    with serving(model, "--threads", "1") as (address, process), ThreadPoolExecutor(4) as clients:
        fields = {"data": text, "parser": ""}
        answers = [clients.submit(udpipe_client, address, "process", fields) for _ in range(4)]
        while "longarc_queue_requests 0.0" in urlopen(f"{address}metrics").read().decode():
            time.sleep(0.01)
        process.send_signal(how)
        for answer in answers:
            assert len(columns(answer.result(30)["result"], 0)) == len(columns(text, 0))
        process.wait(20)
    with pytest.raises(OSError):
        urlopen(f"{address}health")
