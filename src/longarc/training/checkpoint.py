"""Training states and weights on disk, as safetensors: data, never code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from longarc.data.files import open_output
from longarc.errors import LongarcError
from longarc.training.device import random_state, set_random_state
from longarc.training.weight_average import WeightAverage

METADATA, CHECKSUM = "longarc", "sha256"
"""Entries in the metadata of a safetensors file."""
CHECKPOINT_SECONDS = 180.0
"""Time between checkpoints."""


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors, and metadata that JSON can hold, atomically and with a checksum."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(metadata)
    entries = {METADATA: text, CHECKSUM: _checksum(contiguous, text)}
    with open_output(path) as stream:
        stream.write(save(contiguous, metadata=entries))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote; raise LongarcError if anything in it has changed since."""
    try:
        with safe_open(path, framework="pt") as stream:
            tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118 (not a dict)
            entries = stream.metadata() or {}
        # Files of earlier versions have no checksum, and no other entry than METADATA.
        if entries.keys() != {METADATA} and entries[CHECKSUM] != _checksum(tensors, entries[METADATA]):
            raise ValueError("the checksum does not match")
        return tensors, json.loads(entries[METADATA])
    except FileNotFoundError:
        raise LongarcError(f"{path}: is missing", "Restore the file, or train again.") from None
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        hint = "Restore the file from a copy, or train again."
        raise LongarcError(f"{path}: is damaged: {error}", hint) from None


def require_fingerprint(found: str | None, expected: str, folder: Path) -> None:
    """Raise if what a folder contains was saved by a training on other data or with other options."""
    if found != expected:
        raise LongarcError(
            f"{folder}: the checkpoint belongs to a different training run",
            "Resume with the same files and options, or start over.",
        )


def _checksum(tensors: Mapping[str, Tensor], metadata: str) -> str:
    """Return a digest of names, types, shapes and numbers of the tensors, and of the metadata."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    digest.update(metadata.encode())
    return digest.hexdigest()


def training_state(
    network: torch.nn.Module, optimizer: torch.optim.Optimizer, average: WeightAverage | None
) -> dict[str, Tensor]:
    """Return all tensors that the next step depends on: weights, optimizer moments, random state, weight average."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for index, state in optimizer.state_dict()["state"].items():
        for name, value in state.items():
            tensors[f"optimizer.{index}.{name}"] = torch.as_tensor(value)
    if average is not None:
        tensors |= {f"average.{name}": tensor for name, tensor in average.state().items()}
    tensors["random"] = random_state(_device_of(network))
    return tensors


def restore_training_state(
    tensors: dict[str, Tensor],
    network: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    average: WeightAverage | None,
) -> None:
    """Restore what `training_state` returned; the random state may be missing."""
    network.load_state_dict(_with_prefix("network.", tensors))
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _with_prefix("optimizer.", tensors).items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    if average is not None:
        average.restore(_with_prefix("average.", tensors))
    if "random" in tensors:
        set_random_state(_device_of(network), tensors["random"])


def _device_of(network: torch.nn.Module) -> torch.device:
    return next(network.parameters()).device


def _with_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
