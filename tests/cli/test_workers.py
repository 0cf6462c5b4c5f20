"""`longarc train` in several processes: torchrun and --workers; Ctrl-C, a killed process, resuming."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from longarc.cli.workers import join_processes
from longarc.errors import LongarcError
from longarc.training.checkpoint import load_tensors
from tests.helpers.command import run_longarc
from tests.helpers.prepared_training import SMALL_SETTINGS
from tests.helpers.toy_treebank import write_toy_treebank

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def arguments(treebank: Path, out: Path, *options: str) -> list[str]:
    common = map(str, (treebank, "--preset=paper", "--out", out, "--threads=1", "--epochs=4"))
    return ["train", *common, *SMALL_SETTINGS, "--set=batch_sentences=2", *options]


def stop_after_an_epoch(command: list[str], out: Path, how: signal.Signals, *, worker: bool) -> tuple[int, str]:
    """Send a signal to the training, or to the process that it started; return its exit status and messages."""
    checkpoint = out / "checkpoint.safetensors"
    before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
    with subprocess.Popen(
        [sys.executable, "-m", "longarc", *command], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(child_of(process.pid) if worker else process.pid, how)
        _, messages = process.communicate(timeout=60)
    return process.returncode, messages


def child_of(parent: int) -> int:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    (child,) = [pid for pid, ppid in pairs if ppid == parent]
    return child


@pytest.mark.slow
def test_a_training_that_was_stopped_and_killed_and_resumed_equals_one_of_torchrun(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 150)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "longarc"]
    subprocess.run([*torchrun, *arguments(treebank, tmp_path / "whole")], check=True, env=ENVIRONMENT)
    command = arguments(treebank, tmp_path / "parts", "--workers=2", "--resume")
    status, messages = stop_after_an_epoch(command, tmp_path / "parts", signal.SIGKILL, worker=True)
    assert status == 2
    assert "longarc: process 1 of 2 was killed by signal 9" in messages and "Traceback" not in messages
    status, messages = stop_after_an_epoch(command, tmp_path / "parts", signal.SIGINT, worker=False)
    assert status == 130
    assert messages.count("longarc: stopped; a checkpoint is saved") == 1 and "Traceback" not in messages
    done = run_longarc(*command)
    assert done.returncode == 0, done.stderr
    whole, parts = (load_tensors(tmp_path / name / "weights.safetensors")[0] for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        "curve.svg",
        "language.bin",
        "log.jsonl",
        "model.json",
        "parts.longarc",
        "weights.safetensors",
    ]


def test_a_mistake_is_reported_once(tmp_path: Path) -> None:
    done = run_longarc(*arguments(tmp_path / "missing.conllu", tmp_path / "out", "--workers=2"))
    assert done.returncode == 2
    assert done.stderr.decode().count("missing.conllu: cannot be read") == 1
    assert not (tmp_path / "out").exists()


def test_another_number_of_workers_than_torchrun_started_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"RANK": "0", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "3"}
    for name, value in {**variables, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(LongarcError, match="--workers is 2, but torchrun has started 3 processes"), join_processes(2):
        pass
    monkeypatch.delenv("LOCAL_RANK")
    with pytest.raises(LongarcError, match="LOCAL_RANK=, "), join_processes(None):
        pass
