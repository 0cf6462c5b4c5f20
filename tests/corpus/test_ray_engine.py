"""A corpus on a Ray cluster of two nodes: whatever is killed, each document is parsed exactly once."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from longarc.runtime.parser import Parser
from tests.helpers.command import LONGARC
from tests.helpers.corpora import documents_in, parsed_by_command, write_texts
from tests.helpers.ray_cluster import kill, two_nodes, wait_until, worker_processes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the processes of a node in /proc"),
]


def test_nothing_is_lost_or_doubled_if_a_worker_the_driver_and_a_node_are_killed(
    parser: Parser, model: Path, tmp_path: Path
) -> None:
    texts = write_texts(tmp_path / "in", 80, sentences=12)
    out = tmp_path / "out"
    command = [*LONGARC, "parse-corpus", str(tmp_path / "in"), "--out", str(out), "--format", "conllu"]
    command += ["--shard-size", "1K", "--model", str(model), "--workers", "2", "--min-workers", "2"]

    def finished() -> int:
        """Return how many shards are finished; a very large number if all are."""
        return 10_000 if (out / "manifest.json").exists() else len(list((out / "progress").glob("*-*.json")))

    def wait_for_more(shards: int) -> None:
        target = finished() + shards
        wait_until(lambda: finished() >= target, f"{target} shards are finished")
        assert finished() < 10_000, "the run ended before anything could be killed"

    with two_nodes() as (cluster, second):
        command += ["--address", cluster.address]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as first:
            wait_for_more(4)
            kill(worker_processes(cluster.head_node, second)[0])
            wait_for_more(6)
            kill(first.pid)
        assert not (out / "manifest.json").exists()
        before = finished()
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as driver:
            wait_for_more(6)
            wait_until(lambda: worker_processes(second), "a worker runs on the second node")
            cluster.remove_node(second, allow_graceful=False)
            _, messages = driver.communicate(timeout=240)
        assert driver.returncode == 0, messages
        assert "longarc: continuing after" in messages
        assert 10 <= before < 80
        again = subprocess.run(command, capture_output=True, text=True)
        assert again.returncode == 0
        assert "is finished already" in again.stderr

    assert documents_in(out) == [(path, parsed_by_command(parser, text, tmp_path)) for path, text in texts.items()]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["counts"]["documents"] == 80
    assert (out / "failed.jsonl").read_text() == ""
    shards = {shard["shard"]: shard for shard in manifest["shards"]}
    assert sorted(path.name for path in out.iterdir()) == sorted([*shards, "failed.jsonl", "manifest.json"])
    for name, shard in shards.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == shard["sha256"]
