"""Configure torch: threads and reproducibility."""

from __future__ import annotations

import torch

from longarc.cores import available_cores
from longarc.training.device import available_devices


def set_up_torch(threads: int | None, local_processes: int = 1) -> None:
    """Use this many threads and deterministic operations.

    By default, the processes on this machine divide the available cores among them. Where there is a GPU, an operation
    of which torch has no deterministic version gives a warning; on the CPU there is no such operation.
    """
    torch.set_num_threads(threads or max(1, available_cores() // local_processes))
    torch.use_deterministic_algorithms(True, warn_only=available_devices() != ["cpu"])
    # Deterministic mode would also fill new memory; nothing here reads memory before writing it.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
