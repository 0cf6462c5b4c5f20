"""The service: what clients get, what they may not do, and that many of them are served together."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.policy import HTTP
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode
from urllib.request import Request, urlopen

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")
pytest.importorskip("fastapi")

from fastapi import FastAPI
from fastapi.testclient import TestClient

from longarc import Sentence, read_all
from longarc.data.raw_text import text_of
from longarc.runtime.parsed import ParsedSentence
from longarc.runtime.parser import Parser, load
from longarc.runtime.steps import model_steps, oracle_steps
from longarc.server.app import make_app
from longarc.server.batching import Batcher, Kind
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem
from longarc.server.served_models import Models, load_models
from longarc.server.udpipe import read_form
from longarc.trees.structure import is_tree
from tests.generators import RawFile, raw_files
from tests.served_models import serving, train_toy
from tests.test_parse import FACTORED, packaged, small
from tests.toy_treebank import toy_conllu, write_toy_treebank

WORDS = ["the", "dog", "sees", "the", "cat", "today", "which", "sleeps", "."]
HEADS = [2, 3, 0, 5, 3, 3, 8, 5, 3]
CONLLU = "".join(f"{number}\t{word}\t_\tX\t_\t_\t_\t_\t_\tm={number}\n" for number, word in enumerate(WORDS, 1)) + "\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_toy(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def parser(model: Path) -> Parser:
    return load(model, threads=1)


@pytest.fixture(scope="module")
def models(parser: Parser) -> Models:
    return Models({"toy-small-1": parser, "second": parser})


@pytest.fixture(scope="module")
def client(models: Models) -> Iterator[TestClient]:
    with TestClient(make_app(models)) as client:
        yield client


def columns(conllu: str, column: int) -> list[str]:
    return [line.split("\t")[column] for line in conllu.split("\n") if line[:1].isdigit()]


# ---------------------------------------------------------------------------------------------------------------------
# As UDPipe.


def udpipe_client(address: str, method: str, fields: dict[str, str]) -> dict[str, Any]:
    """What UDPipe's own client sends: a form that the standard library's email package writes."""
    message = MIMEMultipart("form-data", policy=HTTP)
    for name, value in fields.items():
        payload = MIMENonMultipart("text", "plain")
        payload.add_header("Content-Disposition", f'form-data; name="{name}"')
        payload.add_header("Content-Transfer-Encoding", "8bit")
        payload.set_payload(value, charset="utf-8")
        message.attach(payload)
    data = message.as_bytes().split(b"\r\n\r\n", maxsplit=1)[1] if fields else None
    headers = {"Content-Type": message["Content-Type"]} if fields else {}
    with urlopen(Request(f"{address}{method}", data, headers)) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


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


def test_only_own_names_are_answered_where_there_are_any(models: Models) -> None:
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
        ({"data": "", "model": "other"}, "Offered: toy-small-1, second"),
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


# ---------------------------------------------------------------------------------------------------------------------
# The JSON interface.


def test_text_conllu_and_tokens_are_parsed(client: TestClient) -> None:
    for body in ({"tokens": [WORDS]}, {"conllu": CONLLU}, {"text": " ".join(WORDS)}):
        answer = client.post("/api/parse", json={**body, "probabilities": True}).json()
        (sentence,) = answer["sentences"]
        assert [token["head"] for token in sentence["tokens"]] == HEADS
        assert sentence["tokens"][7]["relation"] == "acl"
        assert all(0.3 < token["probability"] <= 1 for token in sentence["tokens"])
        assert columns(sentence["conllu"], 6) == list(map(str, HEADS))


def test_pictures_come_with_the_trees_or_alone(client: TestClient) -> None:
    kinds = ["svg", "text", "tikz"]
    parsed = client.post("/api/parse", json={"tokens": [WORDS, WORDS[:3]], "pictures": kinds}).json()["sentences"]
    assert [list(sentence["pictures"]) for sentence in parsed] == [kinds, kinds]
    assert "<svg" in parsed[0]["pictures"]["svg"] and "\\begin{dependency}" in parsed[0]["pictures"]["tikz"]
    conllu = "".join(sentence["conllu"] for sentence in parsed)
    assert client.post("/api/draw", json={"conllu": conllu, "pictures": kinds}).json()["sentences"] == [
        sentence["pictures"] for sentence in parsed
    ]


def test_steps_tell_how_the_tree_came_about(client: TestClient) -> None:
    answer = client.post("/api/steps", json={"tokens": [WORDS[:3], WORDS], "sentence": 2}).json()
    assert answer["words"] == WORDS
    model, oracle = answer["derivations"]
    assert (model["system"], model["by"], len(model["steps"])) == ("nl-covington", "model", 18)
    assert (oracle["system"], oracle["by"]) == ("covington", "oracle")
    assert len(oracle["steps"]) > 18
    for derivation in (model, oracle):
        arcs = [step["taken"]["arc"] for step in derivation["steps"] if step["taken"]["arc"]]
        assert {arc["dependent"]: arc["head"] for arc in arcs} == dict(enumerate(HEADS, 1))
    assert model["initial"] == {"λ1": [0], "λ2": [], "Buffer": list(range(1, 10))}
    assert model["steps"][-1]["lists"]["Buffer"] == []


@pytest.mark.parametrize(
    ("body", "status", "complaint"),
    [
        ({}, 422, "exactly one of text, conllu and tokens"),
        ({"text": "a", "conllu": "b"}, 422, "found text and conllu"),
        ({"text": "a", "model": "../etc/passwd"}, 422, "no model"),
        ({"text": "a", "modle": "toy"}, 422, "modle"),
        ({"tokens": [["a", "b\tc"]]}, 422, "sentence 1"),
        ({"tokens": [[]]}, 422, "sentence 1"),
        ({"tokens": [["\ud800"]]}, 422, "ud800"),
        ({"text": "a \udfff"}, 422, "udfff"),
        ({"conllu": CONLLU + "nothing\n"}, 422, "no tab"),
        ({"tokens": [["a"] * 1001]}, 413, "1,001 words"),
    ],
)
def test_mistakes_are_told(client: TestClient, body: dict[str, Any], status: int, complaint: str) -> None:
    content = json.dumps(body).encode()
    for route in ("/api/parse", "/api/steps"):
        response = client.post(route, content=content, headers={"Content-Type": "application/json"})
        assert response.status_code == status, response.text
        assert complaint in response.json()["error"]


def test_the_line_of_a_mistake_is_told(client: TestClient) -> None:
    answer = client.post("/api/parse", json={"conllu": CONLLU + "1\ta\t_\t_\t_\t_\t7\t_\t_\t_\n"}).json()
    assert answer["line"] == 11
    assert "HEAD is '7'" in answer["error"]


@settings(max_examples=60, deadline=None)
@given(file=raw_files())
def test_whatever_is_in_a_file_its_words_come_back(client: TestClient, file: RawFile) -> None:
    text = file.data.decode()
    parsed = client.post("/api/parse", json={"conllu": text})
    assert parsed.status_code == 200, parsed.text
    assert [[token["form"] for token in tree["tokens"]] for tree in parsed.json()["sentences"]] == [
        [word[1] for word in words] for words in file.sentences
    ]
    # The heads of such a file need not be a tree.
    drawn = client.post("/api/draw", json={"conllu": text, "pictures": ["svg", "text", "tikz"]})
    if drawn.status_code == 422:
        assert "cycle" in drawn.json()["error"] and drawn.json()["line"] > 0
    else:
        assert len(drawn.json()["sentences"]) == len(file.sentences)


def test_sentences_that_are_too_long_are_not_drawn_nor_stepped(client: TestClient) -> None:
    long = {"tokens": [WORDS * 35]}
    parsed = client.post("/api/parse", json={**long, "pictures": ["svg"]}).json()
    assert parsed["sentences"][0]["pictures"] == {}
    assert client.post("/api/steps", json=long).status_code == 413


# ---------------------------------------------------------------------------------------------------------------------
# Steps.


@pytest.mark.parametrize("changes", [{}, FACTORED], ids=["together", "factored"])
@pytest.mark.parametrize("system", ["nl-covington", "covington", "arc-swift", "arc-standard"])
def test_steps_build_the_tree_of_the_parser(system: str, changes: dict[str, Any], tmp_path: Path) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 12))
    parser = Parser(packaged(small(system, sentences, **changes)), threads=1)
    for sentence in sentences:
        derivation = model_steps(parser, sentence)
        parsed = parser.parse(sentence)
        tree = {arc.dependent: arc for arc in [*derivation.steps[-1].arcs, *derivation.attached]}
        heads = np.array([-1, *(tree[node].head for node in range(1, len(sentence) + 1))], dtype=np.int32)
        assert is_tree(heads, single_root=parser.description.single_root)
        chosen = {step.taken.arc.dependent: step.taken.probability for step in derivation.steps if step.taken.arc}
        if not parser.system.projective:  # the others' arcs are lowered afterwards
            assert heads.tolist() == parsed.heads.tolist()
            assert [tree[token.id].relation for token in parsed] == parsed.relations[1:]
        for token in parsed:
            assert chosen.get(token.id) == pytest.approx(token.probability)
        for step in derivation.steps:
            choices = [step.taken, *step.alternatives]
            assert sum(choice.any_relation or 0 for choice in choices) <= 1 + 1e-6
            for choice in choices:
                assert choice.probability is not None and choice.any_relation is not None
                assert choice.probability <= choice.any_relation + 1e-9
        for beside in ("covington", "nl-covington"):
            path = oracle_steps(parsed, beside)
            assert [step.taken.name for step in path.steps] == parsed.transitions(beside)
            assert {arc.dependent: (arc.head, arc.relation) for arc in path.steps[-1].arcs} == {
                token.id: (token.head, token.relation) for token in parsed
            }


# ---------------------------------------------------------------------------------------------------------------------
# Together.


class SlowParser:
    """Stands for a parser: takes its time, and notes what it was given together."""

    def __init__(self, seconds: float = 0.05) -> None:
        self.seconds = seconds
        self.rounds: list[int] = []
        self.card: dict[str, str] = {}
        self.threads = 2
        self.begun = threading.Event()

    def parse_batch(self, sentences: list[Sentence], **options: bool) -> list[ParsedSentence]:
        self.rounds.append(len(sentences))
        self.begun.set()
        time.sleep(self.seconds)
        if any(sentence.forms == ["bad"] for sentence in sentences):
            raise ZeroDivisionError
        return [ParsedSentence(sentence, "nl-covington", None) for sentence in sentences]


KIND = Kind("toy", False, False)


def batcher_of(parser: Any, **limits: Any) -> tuple[Batcher, Any]:
    batcher = Batcher(Limits(**limits), Metrics(), threads=2)
    batcher.start()
    return batcher, lambda forms, times=1: batcher.submit(
        KIND, parser, [Sentence.from_forms(forms) for _ in range(times)]
    )


def test_requests_of_many_clients_are_parsed_together() -> None:
    parser = SlowParser()
    batcher, submit = batcher_of(parser)
    first = submit(["one"])
    assert parser.begun.wait(5)
    jobs = [submit([f"word{number}"]) for number in range(16)]
    for number, job in enumerate(jobs):
        assert [sentence.forms for sentence in job.result.result(5)] == [[f"word{number}"]]
    assert first.result.done()
    assert parser.rounds == [1, 16]
    batcher.close()


def test_a_small_request_does_not_wait_for_a_large_one() -> None:
    parser = SlowParser()
    batcher, submit = batcher_of(parser, queue_words=10**6)
    large = submit(["word"] * 100, 1000)
    assert parser.begun.wait(5)
    small = submit(["word"])
    small.result.result(5)
    assert not large.result.done()
    assert len(large.result.result(10)) == 1000
    batcher.close()


def test_a_full_queue_refuses_and_an_empty_one_takes_anything() -> None:
    parser = SlowParser(0.2)
    batcher, submit = batcher_of(parser, queue_words=10)
    first = submit(["word"] * 50)
    assert parser.begun.wait(5)
    second = submit(["word"] * 8)
    with pytest.raises(Problem) as refusal:
        submit(["word"] * 3)
    assert refusal.value.status_code == 429
    assert len(first.result.result(5)) == len(second.result.result(5)) == 1
    third = submit(["word"] * 3)
    assert third.result.result(5)
    batcher.close()


def test_a_request_that_fails_spoils_no_other() -> None:
    parser = SlowParser()
    batcher, submit = batcher_of(parser)
    submit(["one"])
    assert parser.begun.wait(5)
    good, bad = submit(["good"]), submit(["bad"])
    assert good.result.result(5)
    with pytest.raises(ZeroDivisionError):
        bad.result.result(5)
    batcher.close()


def test_closing_finishes_what_was_accepted_and_takes_nothing_new() -> None:
    batcher, submit = batcher_of(SlowParser())
    jobs = [submit(["word"], 3) for _ in range(20)]
    batcher.close()
    assert all(len(job.result.result(0)) == 3 for job in jobs)
    with pytest.raises(Problem) as refusal:
        submit(["word"])
    assert refusal.value.status_code == 503


def test_a_request_that_nobody_waits_for_is_dropped() -> None:
    parser = SlowParser()
    batcher, submit = batcher_of(parser)
    submit(["one"])
    assert parser.begun.wait(5)
    left = submit(["two"])
    left.abandoned = True
    submit(["three"]).result.result(5)
    batcher.close()
    assert parser.rounds == [1, 1]


def test_clients_at_once_get_the_trees_of_the_command_line(models: Models, parser: Parser, tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(toy_conllu(80, seed=4))
    sentences = read_all(tmp_path / "in.conllu")
    expected = [sentence.to_conllu() for sentence in parser.stream([s.copy() for s in sentences])]
    app = make_app(models)
    with TestClient(app) as client, ThreadPoolExecutor(16) as clients:

        def ask(sentence: Sentence) -> str:
            return str(client.post("/api/parse", json={"conllu": sentence.to_conll()}).json()["sentences"][0]["conllu"])

        assert list(clients.map(ask, sentences)) == expected
        counts = client.get("/metrics").text
    assert 'longarc_sentences_total{model="toy-small-1"} 80.0' in counts
    batches = next(line for line in counts.split("\n") if line.startswith("longarc_batch_sentences_count"))
    assert float(batches.split()[1]) < 80, "some were parsed together"


# ---------------------------------------------------------------------------------------------------------------------
# Limits, tokens, shutdown.


def app_with(parser: Any, token: str = "", **limits: Any) -> FastAPI:
    return make_app(Models({"toy": parser}), Limits(**limits), token)


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


def test_counters_say_what_happened(models: Models) -> None:
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


# ---------------------------------------------------------------------------------------------------------------------
# The command.


def longarc(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_users_mistakes_end_with_a_message(model: Path, tmp_path: Path) -> None:
    with serving(model) as (address, _):
        port = address.split(":")[2].rstrip("/")
        result = longarc("serve", str(model), "--port", port)
        assert result.returncode == 2
        assert "--port" in result.stderr
    missing = longarc("serve", str(tmp_path / "missing.longarc"), "--port", "0")
    assert (missing.returncode, "missing.longarc" in missing.stderr) == (2, True)
    twice = longarc("serve", str(model), str(model), "--port", "0")
    assert (twice.returncode, "two models" in twice.stderr) == (2, True)


def test_an_open_address_without_a_token_is_pointed_out(model: Path) -> None:
    with serving(model, "--host", "0.0.0.0", "--token", "sesame") as (address, process):
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert address.startswith("http://127.0.0.1:")
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()", "serve", str(model)]
    with subprocess.Popen(
        [*command, "--host", "0.0.0.0", "--port", "0", "--no-browser"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "--token" in process.stderr.readline()
        process.kill()


def test_without_the_extra_the_command_says_what_to_install() -> None:
    code = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in ("fastapi", "uvicorn") else find(name, *rest)
sys.argv = ["longarc", "serve"]
from longarc.cli.main import run
run()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert "pip install 'longarc[serve]'" in result.stderr


def test_models_are_named_by_their_files(model: Path) -> None:
    assert list(load_models([str(model)], threads=1).parsers) == ["toy"]
