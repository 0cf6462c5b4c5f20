"""A Ray cluster of two nodes on this machine: each node has its own processes and one core."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_health_check_period_ms": "1000"}
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20, "memory": 8 << 30}


@contextmanager
def two_nodes() -> Iterator[tuple[Any, Any]]:
    """Start a cluster of two nodes and yield it with its second node; the first one is the head."""
    from ray.cluster_utils import Cluster

    before = dict(os.environ)
    os.environ.update(SETTINGS)
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        yield cluster, cluster.add_node(**NODE)
    finally:
        cluster.shutdown()
        os.environ.clear()
        os.environ.update(before)


def worker_processes(*nodes: Any) -> list[int]:
    """Return the processes on these nodes that parse."""
    parents = {process.process.pid for node in nodes for process in node.all_processes["raylet"]}
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        if parent in parents and b"ShardWorker" in title:
            processes.append(int(folder.name))
    return processes


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def wait_until(is_true: Callable[[], Any], what: str, seconds: float = 240) -> None:
    """Wait for a condition; fail if it does not come true in time."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"waited {seconds} s in vain until {what}"
        time.sleep(0.02)
