"""Work stops when nobody waits for it, memory comes back, and nothing delays a shutdown."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from fastapi.testclient import TestClient

from longarc import Sentence, read_all
from longarc.data.spelling import LONGEST
from longarc.runtime.parser import Parser
from longarc.runtime.spelled_words import SpellingCache
from longarc.server import api, work
from longarc.server.app import make_app
from longarc.server.batching import Batcher, BatchKey, Job
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.served_models import ServedModels
from longarc.server.work import Cancellation, CancelledWorkError, WorkerThreads
from tests.helpers.served_models import serving
from tests.helpers.service import CONLLU, WORDS, SlowParser
from tests.helpers.small_models import SPELLED, packaged, small
from tests.helpers.toy_treebank import write_toy_treebank

KEY = BatchKey("toy", False, False)


def worker_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "longarc-work"]


def wait_until(condition: Any, seconds: float = 5.0) -> None:
    latest = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < latest, "it did not happen in time"
        time.sleep(0.01)


def sentences_of(*lengths: int) -> list[Sentence]:
    return [Sentence.from_forms(["word"] * length) for length in lengths]


@pytest.mark.parametrize("lengths", [[400], [700, 361, 999], [300, 301, 1, 2, 3], list(range(1, 200, 7))])
def test_a_batcher_keeps_nothing_of_what_it_has_parsed(lengths: list[int]) -> None:
    batcher = Batcher(Limits(), Metrics(), threads=2)
    batcher.start()
    for _ in range(3):
        batcher.submit(KEY, SlowParser(0), sentences_of(*lengths)).result.result(10)  # type: ignore[arg-type]
    assert not batcher._waiting and not batcher._turns and batcher._words == 0
    batcher.close(10)
    gc.collect()
    assert not any(isinstance(thing, Job) for thing in gc.get_objects())


def test_an_abandoned_job_is_forgotten_at_once() -> None:
    parser = SlowParser(0.3)
    batcher = Batcher(Limits(), Metrics(), threads=1)
    batcher.start()
    first = batcher.submit(KEY, parser, sentences_of(5))  # type: ignore[arg-type]
    assert parser.begun.wait(5)
    second = batcher.submit(KEY, parser, sentences_of(*[500] * 20))  # type: ignore[arg-type]
    batcher.abandon(second)
    assert not batcher._waiting and not batcher._turns and batcher._words == 0
    first.result.result(5)
    batcher.close(10)
    assert parser.rounds == [1]


def test_parsing_ends_with_the_batch_in_which_a_request_times_out() -> None:
    parser = SlowParser(0.1)
    with TestClient(make_app(ServedModels({"toy": parser}), Limits(seconds=0.35))) as client:  # type: ignore[dict-item]
        assert client.post("/api/parse", json={"tokens": [["word"] * 500] * 60}).status_code == 503
        time.sleep(0.25)
        rounds = len(parser.rounds)
        time.sleep(0.4)
        assert len(parser.rounds) == rounds < 20


def test_the_cache_of_spellings_is_bounded_in_bytes(english: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    caches: list[SpellingCache] = []
    original = SpellingCache.read

    def read(cache: SpellingCache, forms: Any) -> Any:
        caches.append(cache)
        return original(cache, forms)

    monkeypatch.setattr(SpellingCache, "read", read)
    for letter in "abcdefgh":
        english.parse([letter * 100_000, "x"])
    assert max(map(len, caches[-1]._numbers)) <= LONGEST


def test_long_words_with_the_same_ends_are_read_alike(tmp_path: Path) -> None:
    treebank = read_all(write_toy_treebank(tmp_path / "toy.conllu", 5))
    parser = Parser(packaged(small("nl-covington", treebank, **SPELLED)))
    short, long = "a" * 12 + "b" * 12, "a" * 12 + "c" * 50_000 + "b" * 12
    first, second = (parser.parse([word, "."]).probabilities for word in (short, long))
    assert first is not None and second is not None and first[1:].tolist() == second[1:].tolist()


def test_cancelled_work_stops_and_frees_its_thread() -> None:
    steps: list[int] = []

    def endless(cancellation: Cancellation) -> None:
        for number in cancellation.watch(iter(int, 1)):
            steps.append(number)
            time.sleep(0.005)

    async def cancel_many() -> str:
        threads = WorkerThreads()
        for _ in range(3 * work.MAX_THREADS):
            task = asyncio.create_task(threads.run(endless))
            await asyncio.sleep(0.02)
            task.cancel()
        try:
            return await asyncio.wait_for(threads.run(lambda _: "done"), 2)
        finally:
            threads.close()

    before = len(worker_threads())
    assert asyncio.run(cancel_many()) == "done"
    wait_until(lambda: len(worker_threads()) == before)


def test_stuck_work_does_not_block_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "STUCK_SECONDS", 0.2)
    release = threading.Event()

    async def block_all() -> str:
        threads = WorkerThreads()
        tasks = [asyncio.create_task(threads.run(lambda _: release.wait(20))) for _ in range(work.MAX_THREADS)]
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        try:
            return await asyncio.wait_for(threads.run(lambda _: "done"), 5)
        finally:
            threads.close()

    try:
        assert asyncio.run(block_all()) == "done"
        assert all(thread.daemon for thread in worker_threads())
    finally:
        release.set()


def test_the_number_of_stuck_threads_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "STUCK_SECONDS", 0.05)
    monkeypatch.setattr(work, "MAX_STUCK", 2)
    release = threading.Event()
    before = set(worker_threads())

    async def block_often() -> tuple[int, str]:
        threads = WorkerThreads()
        tasks = [asyncio.create_task(threads.run(lambda _: release.wait(20))) for _ in range(4 * work.MAX_THREADS)]
        for task in tasks:
            await asyncio.sleep(0.1)
            task.cancel()
        await asyncio.sleep(0.2)
        running = len(set(worker_threads()) - before)
        release.set()
        try:
            return running, await asyncio.wait_for(threads.run(lambda _: "done"), 5)
        finally:
            threads.close()

    assert asyncio.run(block_often()) == (work.MAX_THREADS + 2, "done")


def test_a_stuck_parser_delays_neither_other_work_nor_the_end(parser: Parser) -> None:
    """The parser sleeps without holding the interpreter, as onnxruntime computes."""
    stuck = SlowParser(20)
    models = ServedModels({"stuck": stuck, "toy": parser})  # type: ignore[dict-item]
    limits = Limits(seconds=1.0, shutdown_seconds=0.5)
    app = make_app(models, limits)
    with TestClient(app) as client, ThreadPoolExecutor(4) as pool:
        body = {"tokens": [WORDS], "model": "stuck"}
        requests = [pool.submit(client.post, "/api/parse", json=body) for _ in range(4)]
        assert stuck.begun.wait(5)
        start = time.monotonic()
        assert client.get("/health").status_code == 200
        assert client.post("/api/draw", json={"conllu": CONLLU}).status_code == 200
        assert client.post("/api/steps", json={"tokens": [WORDS], "model": "toy"}).status_code == 200
        assert time.monotonic() - start < 5
        assert {request.result(10).status_code for request in requests} == {503}
        start = time.monotonic()
    assert time.monotonic() - start < 5


def test_checks_are_made_between_items() -> None:
    cancellation = Cancellation()
    watched = cancellation.watch([1, 2])
    assert next(watched) == 1
    cancellation.requested = True
    with pytest.raises(CancelledWorkError):
        next(watched)


def test_drawing_ends_with_its_request(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = 0

    def draw_slowly(*_: object, **options: object) -> dict[str, str]:
        nonlocal drawn
        drawn += 1
        time.sleep(0.02)
        return {}

    monkeypatch.setattr(api, "draw_pictures", draw_slowly)
    rows = "".join(f"{number}\ta\t_\tX\t_\t_\t{number - 1}\tdep\t_\t_\n" for number in range(1, 4))
    with TestClient(make_app(ServedModels({"toy": parser}), Limits(seconds=0.3))) as client:
        assert client.post("/api/draw", json={"conllu": f"{rows}\n" * 500}).status_code == 503
        assert client.get("/health").status_code == 200
        time.sleep(0.1)
        count = drawn
        time.sleep(0.2)
        assert drawn == count < 100


def json_request(path: str, fields: dict[str, Any]) -> bytes:
    body = json.dumps(fields)
    head = ["Host: 127.0.0.1", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([f"POST {path} HTTP/1.1", *head, "", body]).encode()


def connect(address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(address.split(":")[2].strip("/"))), timeout=30)


def test_half_sent_requests_do_not_delay_a_shutdown(model: Path) -> None:
    with serving(model, "--threads", "1", "--max-seconds", "300") as (address, process):
        parts = [
            b"",
            b"GET /hea",
            b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            json_request("/api/parse", {"conllu": "#" * 5000})[:2000],
        ]
        clients = [connect(address) for _ in parts]
        for client, part in zip(clients, parts, strict=True):
            client.sendall(part)
        idle = connect(address)
        idle.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert idle.recv(100).startswith(b"HTTP/1.1 200")
        start = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        assert time.monotonic() - start < 5
        assert clients[-1].recv(100).startswith(b"HTTP/1.1 503")


def test_work_without_end_does_not_delay_a_shutdown(model: Path) -> None:
    """Every draw would take minutes."""
    rows = "".join(f"{number}\ta\t_\tX\t_\t_\t{number - 1}\tdep\t_\t_\n" for number in range(1, 301))
    request = json_request("/api/draw", {"pictures": ["svg", "text"], "conllu": f"{rows}\n" * 350})
    with serving(model, "--threads", "1", "--max-seconds", "300") as (address, process):
        clients = [connect(address) for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda client: client.sendall(request), clients))
            time.sleep(0.5)
            assert urlopen(f"{address}health", timeout=5).status == 200
            start = time.monotonic()
            process.send_signal(signal.SIGTERM)
            answers = list(pool.map(lambda client: client.recv(100)[:12], clients))
        process.wait(10)
        assert time.monotonic() - start < 10
        assert set(answers) <= {b"HTTP/1.1 503", b"HTTP/1.1 200"}


def test_a_client_that_leaves_stops_its_work(model: Path) -> None:
    request = json_request("/api/parse", {"tokens": [WORDS * 40] * 300})
    with serving(model, "--threads", "1", "--max-seconds", "300") as (address, _):
        for _ in range(3):
            client = connect(address)
            client.sendall(request)
            wait_until(lambda: "longarc_queue_words 0.0" not in urlopen(f"{address}metrics").read().decode(), 20)
            client.close()
            wait_until(lambda: "longarc_queue_words 0.0" in urlopen(f"{address}metrics").read().decode(), 3)
        assert 'route="/api/parse",status="499"} 3.0' in urlopen(f"{address}metrics").read().decode()
