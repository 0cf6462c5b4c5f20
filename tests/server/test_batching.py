"""Requests of several clients are parsed together."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from longarc import Sentence, read_all
from longarc.runtime.parser import Parser
from longarc.server.app import make_app
from longarc.server.batching import Batcher, BatchKey
from longarc.server.limits import Limits
from longarc.server.metrics import Metrics
from longarc.server.problem import Problem
from longarc.server.served_models import ServedModels
from tests.helpers.service import SlowParser
from tests.helpers.toy_treebank import toy_conllu

KEY = BatchKey("toy", False, False)


def batcher_of(parser: Any, **limits: Any) -> tuple[Batcher, Any]:
    batcher = Batcher(Limits(**limits), Metrics(), threads=2)
    batcher.start()
    return batcher, lambda forms, times=1: batcher.submit(
        KEY, parser, [Sentence.from_forms(forms) for _ in range(times)]
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
    batcher.close(10)


def test_a_small_request_does_not_wait_for_a_large_one() -> None:
    parser = SlowParser()
    batcher, submit = batcher_of(parser, queue_words=10**6)
    large = submit(["word"] * 100, 1000)
    assert parser.begun.wait(5)
    small = submit(["word"])
    small.result.result(5)
    assert not large.result.done()
    assert len(large.result.result(10)) == 1000
    batcher.close(10)


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
    batcher.close(10)


def test_a_request_that_fails_spoils_no_other() -> None:
    parser = SlowParser()
    batcher, submit = batcher_of(parser)
    submit(["one"])
    assert parser.begun.wait(5)
    good, bad = submit(["good"]), submit(["bad"])
    assert good.result.result(5)
    with pytest.raises(ZeroDivisionError):
        bad.result.result(5)
    batcher.close(10)


def test_closing_finishes_what_was_accepted_and_takes_nothing_new() -> None:
    batcher, submit = batcher_of(SlowParser())
    jobs = [submit(["word"], 3) for _ in range(20)]
    batcher.close(10)
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
    batcher.close(10)
    assert parser.rounds == [1, 1]


def test_clients_at_once_get_the_trees_of_the_command_line(
    models: ServedModels, parser: Parser, tmp_path: Path
) -> None:
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
