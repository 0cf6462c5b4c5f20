"""The routes that UDPipe clients use."""

from __future__ import annotations

import io
import re
import signal
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from longarc import read_all
from longarc.data.raw_text import text_of
from longarc.server.app import make_app
from longarc.server.problem import Problem
from longarc.server.served_models import ServedModels
from longarc.server.udpipe import read_form
from tests.helpers.served_models import serving
from tests.helpers.service import CONLLU, HEADS, columns, udpipe_client


def test_udpipe_clients_work_with_another_address(model: Path) -> None:
    with serving(model, "--threads", "1") as (address, process):
        assert udpipe_client(address, "models", {}) == {
            "models": {"toy": ["tokenizer", "tagger", "parser"]},
            "default_model": "toy",
        }
        fields = {"input": "conllu", "output": "conllu", "data": CONLLU, "tagger": "", "parser": ""}
        answer = udpipe_client(address, "process", fields)
        assert answer["model"] == "toy"
        assert "Licence: CC0" in answer["acknowledgements"]
        assert columns(answer["result"], 6) == list(map(str, HEADS))
        assert columns(answer["result"], 9) == [f"m={number}" for number in range(1, 10)]
        assert answer["result"].startswith("# generator = Longarc")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


@pytest.mark.parametrize("way", ["multipart", "upload", "urlencoded", "unescaped", "query", "post query"])
def test_parameters_come_in_any_way(client: TestClient, way: str) -> None:
    fields = {"data": "the dåg sees the cat", "input": "horizontal", "parser": "", "model": "toy"}
    match way:
        case "multipart":
            response = client.post("/process", files={key: (None, value) for key, value in fields.items()})
        case "upload":
            data = fields.pop("data").encode()
            response = client.post("/process", data=fields, files={"data": ("in.txt", data)})
        case "urlencoded":
            response = client.post("/process", data=fields)
        case "unescaped":  # as `curl -d` does it
            body = "&".join(f"{key}={value}" for key, value in fields.items()).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            response = client.post("/process", content=body, headers=headers)
        case "query":
            response = client.get("/process", params=fields)
        case _:
            response = client.post("/process", params=fields)
    assert response.status_code == 200, response.text
    assert response.json()["model"] == "toy-small-1"
    assert columns(response.json()["result"], 1) == ["the", "dåg", "sees", "the", "cat"]


def process(client: TestClient, **fields: str) -> str:
    response = client.post("/process", data=fields)
    assert response.status_code == 200, response.text
    return str(response.json()["result"])


def test_only_what_is_asked_for_is_predicted(client: TestClient) -> None:
    given = CONLLU.replace("\t_\t_\t_\t_\tm=3", "\t_\t0\tmine\t_\tm=3")
    heads = ["_", "_", "0", *"______"]
    assert columns(process(client, data=given, parser=""), 3) == ["X"] * 9
    tagged = process(client, data=given, tagger="")
    assert columns(tagged, 3) == ["DET", "NOUN", "VERB", "DET", "NOUN", "ADV", "PRON", "VERB", "PUNCT"]
    assert columns(tagged, 6) == heads
    assert columns(tagged, 7)[2] == "mine"
    unchanged = process(client, data=given)
    assert unchanged.endswith(given)


def test_formats_of_input_and_output(client: TestClient) -> None:
    two = "the dog sleeps\nthe cat sees\n"
    assert process(client, data=two, input="horizontal", output="horizontal") == two
    assert process(client, data="the\ndog\n\nthe\ncat\n", input="vertical", output="horizontal") == "the dog\nthe cat\n"
    assert process(client, data="the dog\n", input="horizontal", output="vertical") == "the\ndog\n\n"
    assert columns(process(client, data=two, tokenizer="presegmented", parser=""), 0) == ["1", "2", "3"] * 2
    assert columns(process(client, data=two, input="generic_tokenizer"), 1)[:3] == ["the", "dog", "sleeps"]
    assert process(client, data="", tokenizer="", output="horizontal") == ""


def test_lines_that_are_sentences_keep_their_spaces_and_have_ids(client: TestClient) -> None:
    text = "the dog sleeps . it is small .\n\nthe cat sees .\nthe end"
    found = process(client, data=text, tokenizer="presegmented")
    assert re.findall(r"^# sent_id = (.*)$", found, re.MULTILINE) == ["1", "2", "3"]
    assert re.findall(r"^# text = (.*)$", found, re.MULTILINE) == [line for line in text.split("\n") if line]
    treebank = io.BytesIO(found.encode())
    assert text_of(read_all(treebank)) == text


def test_only_own_names_are_answered_where_there_are_any(models: ServedModels) -> None:
    hosts = frozenset(["localhost", "[::1]"])
    with TestClient(make_app(models, hosts=hosts)) as client:
        for host, status in (("localhost:8080", 200), ("[::1]:80", 200), ("[::1]", 200), ("evil.example:8080", 403)):
            assert client.get("/models", headers={"Host": host}).status_code == status, host


def test_monitors_may_ask_for_heads(client: TestClient) -> None:
    for path in ("/", "/health", "/app.js"):
        found = client.head(path)
        assert (found.status_code, found.content) == (200, b"")


def test_what_is_wrong_is_told_as_text(client: TestClient) -> None:
    for fields, complaint in (
        ({"data": CONLLU + "1\tonly\n\n", "parser": ""}, "line 11: 2 columns"),
        ({"parser": ""}, "'data' is required"),
        ({"data": "", "model": "other"}, "Known models: toy-small-1, second"),
        ({"data": "", "model": "toy-sm"}, "no model"),
        ({"data": "", "input": "epe"}, "unknown input format"),
        ({"data": "", "output": "matxin"}, "unknown output format"),
        ({"data": "1\ta\0\n\n"}, "line 1"),
    ):
        response = client.post("/process", data=fields)
        assert response.status_code == 422
        assert complaint in response.text
        assert response.headers["content-type"].startswith("text/plain")
    strange = client.post(
        "/process", content=b"data=%ff", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert strange.status_code == 422


FIELDS = st.dictionaries(
    st.text(max_size=5), st.text(max_size=30) | st.text("\t\n=|:#,%+& 09AaDd", max_size=30), max_size=5
)


@given(FIELDS)
def test_forms_are_read_as_they_were_written(fields: dict[str, str]) -> None:
    assert read_form(urlencode(fields).encode()) == fields


@given(st.text("%0123456789aAdD=+&cC\t|", max_size=40))
def test_careless_forms_are_read_as_by_pythons_own_reader(body: str) -> None:
    try:
        expected = dict(parse_qsl(body, keep_blank_values=True, errors="strict"))
    except UnicodeDecodeError:
        with pytest.raises(Problem):
            read_form(body.encode())
    else:
        assert read_form(body.encode()) == expected
