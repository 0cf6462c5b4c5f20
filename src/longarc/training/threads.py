"""Configure torch: threads and reproducibility."""

from __future__ import annotations

import torch

from longarc.cores import available_cores


def set_up_torch(threads: int | None) -> None:
    """Use this many threads (default: all available cores) and only deterministic operations."""
    torch.set_num_threads(threads or available_cores())
    torch.use_deterministic_algorithms(True)
    # Deterministic mode would also fill new memory; nothing here reads memory before writing it.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
