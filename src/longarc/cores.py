"""How many processor cores this process may use."""

from __future__ import annotations

import os
from pathlib import Path


def available_cores() -> int:
    """The cores that the scheduler and the container's quota leave to this process, not the host's."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass  # no container, or no quota
    return cores
