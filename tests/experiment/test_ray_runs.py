"""`longarc experiment --address`: runs on Ray have the results of runs in turn, and can be interrupted and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from longarc.errors import LongarcError
from longarc.training.checkpoint import load_tensors
from tests.helpers.command import invoke, run_text
from tests.helpers.toy_treebank import write_toy_treebank

PLAN = """
systems = ["covington", "nl-covington"]
threads = 1
samples = 100
set = { lstm_size = 10, lstm_layers = 1, word_dimensions = 6, merge_dimensions = 6, pair_dimensions = 5, epochs = 150 }

[[treebank]]
name = "Toy"
train = "toy.conllu"
test = "toy.conllu"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    write_toy_treebank(tmp_path / "toy.conllu", 60)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"


def results_without_times(out: Path) -> list[dict[str, Any]]:
    results = [json.loads(line) for line in (out / "results.jsonl").read_text("utf-8").splitlines()]
    for result in results:
        del result["date"], result["test"]["words_per_second"], result["training"]["seconds"]
        for entry in result["training"]["curve"]:
            del entry["seconds"], entry["tokens_per_second"]
    return results


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_an_interrupted_and_resumed_experiment_on_ray_equals_one_in_turn(tmp_path: Path, plan: Path) -> None:
    out = tmp_path / "ray"
    arguments = ["experiment", str(plan), "--out", str(out), "--address", "local"]
    with subprocess.Popen(
        [sys.executable, "-m", "longarc", *arguments], stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        while not list(out.glob("runs/*/checkpoint.safetensors")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=200)
    assert process.returncode == 130, messages
    assert "Resume with: longarc experiment" in messages and "--address local" in messages
    assert "Traceback" not in messages
    assert list(out.glob("runs/*/checkpoint.safetensors")), "the state is saved"
    done = run_text(*arguments)
    assert done.returncode == 0, done.stderr
    assert "(resumed from its checkpoint)" in done.stdout
    assert invoke(["experiment", str(plan), "--out", str(tmp_path / "turn")]).exit_code == 0
    assert results_without_times(out) == results_without_times(tmp_path / "turn")
    for name in ("Toy-paper-covington-1", "Toy-paper-nl-covington-1"):
        first, second = (
            load_tensors(folder / "runs" / name / "weights.safetensors")[0] for folder in (out, tmp_path / "turn")
        )
        assert all(torch.equal(first[key], second[key]) for key in first)


def test_without_ray_a_message_says_how_to_install_it(
    tmp_path: Path, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "ray" else find_spec(name))
    with pytest.raises(LongarcError, match=r"this command needs ray") as caught:
        invoke(["experiment", str(plan), "--out", str(tmp_path / "out"), "--address=auto"], catch_exceptions=False)
    assert "longarc[ray]" in caught.value.hint


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_a_cluster_that_is_not_there_is_a_message(tmp_path: Path, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setattr("ray.init", fail)
    with pytest.raises(LongarcError, match="no Ray cluster at auto: Could not find") as caught:
        invoke(["experiment", str(plan), "--out", str(tmp_path / "out"), "--address=auto"], catch_exceptions=False)
    assert "ray start --head" in caught.value.hint
