"""How torch is to compute: on how many cores, and the same way each time."""

from __future__ import annotations

import os
from pathlib import Path

import torch


def set_up_torch(threads: int | None) -> None:
    """Uses so many threads, or all cores that the process may use; and only operations that are reproducible."""
    torch.set_num_threads(threads or available_cores())
    torch.use_deterministic_algorithms(True)
    # That would also fill new memory, which nothing here reads before writing.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def available_cores() -> int:
    """The cores that the scheduler and the container's quota leave to this process, not the host's."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass  # no container, or no quota
    return cores
