"""The number of processor cores that this process may use."""

from __future__ import annotations

import os
from pathlib import Path


def available_cores() -> int:
    """Return the number of cores that CPU affinity and the container's quota allow, which may be fewer than exist."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass  # not in a container, or no quota
    return cores
