"""Checkpoints: damage of any kind is detected."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from longarc.errors import LongarcError
from longarc.training.checkpoint import load_tensors, save_tensors

TENSORS = {
    "matrix": torch.arange(12.0).reshape(3, 4),
    "scalar": torch.tensor(2.5),
    "numbers": torch.arange(5),
    "empty": torch.zeros(0, 3),
    "bytes": torch.arange(64, dtype=torch.uint8),
    "flags": torch.tensor([True, False]),
}
METADATA = {"position": {"epoch": 3, "history": [{"loss": 0.25}]}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_tensors(tmp_path / "x.safetensors", TENSORS, METADATA)
    return tmp_path / "x.safetensors"


def test_what_was_saved_is_loaded(path: Path) -> None:
    tensors, metadata = load_tensors(path)
    assert metadata == METADATA
    assert tensors.keys() == TENSORS.keys()
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


def test_every_changed_byte_is_detected(path: Path) -> None:
    content, chooser = path.read_bytes(), random.Random(1)
    for index in range(len(content)):
        damaged = bytearray(content)
        damaged[index] ^= 1 << chooser.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(LongarcError, match="damaged"):
            load_tensors(path)


def test_truncated_and_zeroed_files_are_detected(path: Path) -> None:
    content = path.read_bytes()
    for size in range(0, len(content), 7):
        for damaged in (content[:size], content[:size] + bytes(len(content) - size)):
            path.write_bytes(damaged)
            with pytest.raises(LongarcError, match="damaged"):
                load_tensors(path)


def test_a_missing_file_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(LongarcError, match="is missing"):
        load_tensors(tmp_path / "nothing")


def test_files_of_earlier_versions_without_a_checksum_can_be_read(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "old.safetensors", metadata={"longarc": '{"history": []}'})
    assert load_tensors(tmp_path / "old.safetensors")[1] == {"history": []}
