"""The device that trains the network: a GPU if there is one, else the CPU."""

from __future__ import annotations

import os

import torch
from torch import Tensor

from longarc.errors import LongarcError

CPU = torch.device("cpu")


def available_devices() -> list[str]:
    """Return the kinds of device that torch can use here, the fastest first."""
    has = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return [name for name, is_available in has.items() if is_available]


def choose_device(name: str | None = None, local_rank: int = 0) -> torch.device:
    """Return the device of this name, by default the fastest. Processes on one machine take different GPUs."""
    available = available_devices()
    name = name or available[0]
    kind, _, number = name.partition(":")
    count = torch.cuda.device_count() if kind == "cuda" else 1
    if kind not in available or (number and not (number.isdecimal() and int(number) < count)):
        raise LongarcError(f"the device {name!r} is not available", f"torch finds here: {', '.join(available)}.")
    if kind == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # for reproducible results
        return torch.device("cuda", int(number) if number else local_rank % count)
    return torch.device(kind)


def random_state(device: torch.device) -> Tensor:
    """Return the state of the random numbers that are drawn on a device."""
    if device.type == "cuda":
        return torch.cuda.get_rng_state(device)
    return torch.mps.get_rng_state() if device.type == "mps" else torch.get_rng_state()


def set_random_state(device: torch.device, state: Tensor) -> None:
    """Restore what `random_state` returned."""
    if device.type == "cuda":
        torch.cuda.set_rng_state(state, device)
    elif device.type == "mps":
        torch.mps.set_rng_state(state)
    else:
        torch.set_rng_state(state)
