"""Requests that are refused: from other sites, with endless headers, from too many connections; ids and the log."""

from __future__ import annotations

import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from longarc.runtime.parser import Parser
from longarc.server.app import make_app
from longarc.server.limits import Limits
from longarc.server.served_models import ServedModels
from tests.helpers.command import run_text
from tests.helpers.served_models import serving
from tests.helpers.service import WORDS, SlowParser

BODY = {"tokens": [WORDS]}
CROSS_SITE = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://testserver.evil.example"},
    {"Origin": "http://testserver:81"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
]
OWN_SITE: list[dict[str, str]] = [
    {},
    {"Origin": "http://testserver"},
    {"Origin": "https://testserver", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
]


@pytest.mark.parametrize("headers", CROSS_SITE)
def test_pages_of_other_sites_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/parse", json=BODY, headers=headers).status_code == 403
    assert client.post("/process", data={"data": ""}, headers=headers).status_code == 403
    assert client.get("/process?data=", headers=headers).status_code == 403


@pytest.mark.parametrize("headers", OWN_SITE)
def test_the_own_page_and_programs_are_answered(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/parse", json=BODY, headers=headers).status_code == 200
    assert client.get("/process?data=", headers=headers).status_code == 200


def test_other_sites_may_link_to_the_page_but_not_read_it(client: TestClient) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=headers).status_code == 200
    assert client.get("/", headers={**headers, "Sec-Fetch-Mode": "no-cors"}).status_code == 403


def test_allowed_sites_may_use_the_server(models: ServedModels) -> None:
    friend = "https://friend.example"
    with TestClient(make_app(models, token="sesame", origins=frozenset([friend]))) as client:
        headers = {"Origin": friend, "Sec-Fetch-Site": "cross-site", "Authorization": "Bearer sesame"}
        response = client.post("/api/parse", json=BODY, headers=headers)
        assert response.status_code == 200
        assert response.headers["Access-Control-Allow-Origin"] == friend
        asked = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        }
        assert client.options("/api/parse", headers={"Origin": friend, **asked}).status_code == 200
        assert client.options("/api/parse", headers={"Origin": "https://evil.example", **asked}).status_code == 400
        assert client.post("/api/parse", json=BODY, headers={**headers, "Origin": "https://x.y"}).status_code == 403
    with TestClient(make_app(models, origins=frozenset(["*"]))) as client:
        assert client.post("/api/parse", json=BODY, headers={"Origin": "https://x.y"}).status_code == 200


def test_an_origin_needs_a_scheme(model: Path) -> None:
    result = run_text("serve", str(model), "--port", "0", "--allow-origin", "example.org")
    assert result.returncode == 2 and "--allow-origin" in result.stderr


def test_a_client_that_sends_too_much_is_told_so(model: Path) -> None:
    """Many clients read no response before they have sent all."""
    head = b"POST /api/parse HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with serving(model, "--threads", "1") as (address, _), connect(address) as connection:
        connection.sendall(head + b"Content-Length: 9000000\r\n\r\n" + b" " * 9_000_000)
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        answer = answer_to(connection)
        assert answer.startswith(b"HTTP/1.1 413") and b"HTTP/1.1 200" in answer
        with connect(address) as waiting:
            waiting.sendall(head + b"Expect: 100-continue\r\nContent-Length: 9000000\r\n\r\n")
            answer = answer_to(waiting).lower()
            assert answer.startswith(b"http/1.1 413") and b"connection: close" in answer


def test_all_requests_together_are_limited() -> None:
    slow = SlowParser(1.0)
    limits = Limits(active_bytes=3_000)
    form = {"data": "word " * 400, "input": "horizontal", "parser": ""}
    with (
        TestClient(make_app(ServedModels({"toy": slow}), limits)) as client,  # type: ignore[dict-item]
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(client.post, "/process", data=form)
        assert slow.begun.wait(5)
        assert client.post("/process", data=form).status_code == 429
        assert client.get("/health").status_code == 200
        assert first.result(10).status_code == 200
        assert client.post("/process", data=form).status_code == 200


def test_every_response_has_an_id(client: TestClient) -> None:
    ids = [client.get(path).headers["X-Request-ID"] for path in ("/health", "/nothing", "/", "/health")]
    assert len(set(ids)) == 4 and all(re.fullmatch("[0-9a-f]{16}", identifier) for identifier in ids)
    for requested, accepted in (("abc-1.2:3", True), ("a b", False), ("x" * 101, False), ('"', False)):
        response = client.get("/health", headers={"X-Request-ID": requested})
        assert (response.headers["X-Request-ID"] == requested) is accepted


def test_requests_are_logged_without_their_content(models: ServedModels) -> None:
    entries: list[dict[str, Any]] = []
    with TestClient(make_app(models, log=entries.append)) as client:
        client.get("/process?input=horizontal&data=secret", headers={"X-Request-ID": "a1"})
        client.post("/api/parse", json={})
    assert [(entry["id"], entry["path"], entry["status"]) for entry in entries[:1]] == [("a1", "/process", 200)]
    assert entries[1]["status"] == 422 and entries[1]["bytes"] == 2
    assert "secret" not in json.dumps(entries)


def test_an_internal_error_has_an_id_and_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    with TestClient(make_app(ServedModels({"toy": SlowParser()}))) as client:  # type: ignore[dict-item]
        response = client.post("/api/parse", json={"tokens": [["bad"]]})
        assert response.status_code == 500
        assert response.headers["X-Request-ID"] in response.json()["hint"]
        assert response.headers["X-Request-ID"] in caplog.text and "ZeroDivisionError" in caplog.text
        assert client.post("/process?parser=", data={"data": "bad", "input": "horizontal"}).status_code == 500


@pytest.mark.parametrize("value", ["\ud800", "a\nb\tc", 123, None, [], {"a": "\udfff"}, "\x1b[31m", True])
def test_a_damaged_card_harms_nobody(parser: Parser, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = {"name": value, "treebank": value, "licence": value, "attribution": value}
    monkeypatch.setattr(parser, "card", damaged)
    with TestClient(make_app(ServedModels({"toy": parser}))) as client:
        assert client.get("/api/models").status_code == 200
        assert client.post("/api/parse", json=BODY).status_code == 200
        result = client.post("/process", data={"data": "a", "input": "horizontal"}).json()["result"]
        assert all(line.startswith(("#", "1\t")) for line in result.split("\n") if line)


def connect(address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(address.split(":")[2].strip("/"))), timeout=20)


def answer_to(connection: socket.socket) -> bytes:
    """Return all that is received until the connection is closed."""
    received = b""
    try:
        while part := connection.recv(1 << 16):
            received += part
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize(
    "start",
    [
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
        b"GET /",
        b"POST /process HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX: ",
    ],
    ids=["header", "url", "trailer"],
)
def test_endless_headers_are_refused(model: Path, start: bytes) -> None:
    with serving(model, "--threads", "1") as (address, _), connect(address) as connection:
        sent = 0
        try:
            connection.sendall(start)
            while sent < 200_000_000:
                sent += connection.send(b"x" * 65_536)
        except OSError:
            pass
        assert sent < 20_000_000
        answer = answer_to(connection)
        assert b" 200 " not in answer[:100]
        with connect(address) as another:
            another.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert answer_to(another).startswith(b"HTTP/1.1 200")


def test_large_headers_get_a_status(model: Path) -> None:
    with serving(model, "--threads", "1") as (address, _):
        for size, status in ((60_000, b"200"), (70_000, b"431")):
            with connect(address) as connection:
                head = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nX: " + b"x" * size
                connection.sendall(head + b"\r\n\r\n")
                assert answer_to(connection).startswith(b"HTTP/1.1 " + status)


def test_connections_of_one_client_are_limited(model: Path) -> None:
    with serving(model, "--threads", "1", "--max-connections", "5") as (address, _):
        connections = [connect(address) for _ in range(5)]
        with connect(address) as sixth:
            assert answer_to(sixth).startswith(b"HTTP/1.1 503")
        connections.pop().close()
        time.sleep(0.2)
        with connect(address) as another:
            another.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert answer_to(another).startswith(b"HTTP/1.1 200")
        for connection in connections:
            connection.close()


def test_a_client_that_pauses_is_cut_off(parser: Parser) -> None:
    """The same server, in this process, with short limits."""
    import asyncio
    import threading

    import uvicorn

    from longarc.server.connection import make_protocol

    limits = Limits(idle_seconds=0.4, head_seconds=0.4)
    app = make_app(ServedModels({"toy": parser}), limits)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, http=make_protocol(limits), log_level="error"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    try:
        head = b"POST /api/parse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\nContent-Type: application/json\r\n"
        for sent, expected in (
            (b"", b""),
            (b"GET /hea", b""),
            (head, b""),
            (head + b"\r\n{", b"HTTP/1.1 408"),
        ):
            with connect(address) as connection:
                start = time.monotonic()
                connection.sendall(sent)
                assert answer_to(connection)[:12] == expected
                assert time.monotonic() - start < 3
    finally:
        server.should_exit = True
        thread.join(20)


def test_an_aborted_upload_is_no_error(model: Path) -> None:
    with serving(model, "--threads", "1", "--log") as (address, process):
        for path, kind in (
            ("/process", "multipart/form-data; boundary=b"),
            ("/process", "application/x-www-form-urlencoded"),
            ("/api/parse", "application/json"),
        ):
            with connect(address) as connection:
                head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: 100000\r\n"
                connection.sendall(head.encode() + b"\r\n" + b"x" * 1000)
                time.sleep(0.1)
        time.sleep(0.3)
        process.terminate()
        assert process.stderr is not None
        lines = process.stderr.read().strip().split("\n")
    assert [json.loads(line)["status"] for line in lines[:3]] == [499] * 3
    assert len(lines) == 3, "no traceback"
