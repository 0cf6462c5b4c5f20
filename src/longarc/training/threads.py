"""How torch is to compute: on how many cores, and the same way each time."""

from __future__ import annotations

import torch

from longarc.cores import available_cores


def set_up_torch(threads: int | None) -> None:
    """Uses so many threads, or all cores that the process may use; and only operations that are reproducible."""
    torch.set_num_threads(threads or available_cores())
    torch.use_deterministic_algorithms(True)
    # That would also fill new memory, which nothing here reads before writing.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
