"""Several processes train one model: the same as one process would, reproducibly, and they stop together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from longarc.training.checkpoint import load_tensors
from longarc.training.process_group import ALONE
from tests.helpers.group_training import (
    interrupt_last_process,
    kill_process,
    random_numbers,
    resume_in_group,
    train_in_group,
)
from tests.helpers.prepared_training import FACTORED, SMALL
from tests.helpers.process_groups import run_group
from tests.helpers.toy_treebank import write_toy_treebank

PLAIN = SMALL.updated({"dropout": 0.0, "word_dropout": 0.0, "epochs": 2, "learning_rate": 0.01}, "test")
RANDOM = SMALL.updated({**FACTORED, "epochs": 3, "dropout": 0.3}, "test")


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    return write_toy_treebank(tmp_path / "toy.conllu", 25)


def weights(out: Path) -> dict[str, torch.Tensor]:
    return load_tensors(out / "weights.safetensors")[0]


def equal(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def losses(out: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (out / "log.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("size", "changes"),
    [
        # Every sentence weighs the same; the last process gets no sentence of any batch.
        (3, {"batch_sentences": 2}),
        # Every word weighs the same; gradients are clipped, weights averaged.
        (2, {**FACTORED, "lstm_dropout": 0.0, "gradient_limit": 0.5}),
    ],
)
def test_several_processes_learn_what_one_learns_from_the_same_batches(
    tmp_path: Path, treebank: Path, size: int, changes: dict[str, Any]
) -> None:
    configuration = PLAIN.updated(changes, "test")
    train_in_group(ALONE, configuration, [treebank], tmp_path / "one")
    run_group(size, tmp_path, train_in_group, configuration, [treebank], tmp_path / "several")
    one, several = weights(tmp_path / "one"), weights(tmp_path / "several")
    assert not equal(tmp_path / "one", tmp_path / "several"), "sums are rounded differently"
    for name, tensor in one.items():
        torch.testing.assert_close(several[name], tensor, rtol=1e-3, atol=1e-4)
    assert losses(tmp_path / "several") == pytest.approx(losses(tmp_path / "one"), rel=1e-4)


def test_the_same_seed_gives_the_same_model_also_if_the_training_is_resumed(tmp_path: Path, treebank: Path) -> None:
    arguments = (RANDOM, [treebank])
    assert run_group(2, tmp_path, train_in_group, *arguments, tmp_path / "whole") == [[], []]
    outcomes = run_group(2, tmp_path, interrupt_last_process, *arguments, tmp_path / "parts")
    assert outcomes == ["Interrupted", "Interrupted"]
    assert (tmp_path / "parts" / "checkpoint.safetensors").exists()
    assert run_group(2, tmp_path, resume_in_group, *arguments, tmp_path / "parts") == [[], []]
    assert equal(tmp_path / "whole", tmp_path / "parts")
    assert losses(tmp_path / "whole") == losses(tmp_path / "parts")


def test_the_processes_draw_different_random_numbers(tmp_path: Path) -> None:
    first, second = run_group(2, tmp_path, random_numbers, tmp_path)
    assert first != second
    assert run_group(2, tmp_path, random_numbers, tmp_path) == [first, second]


def test_another_number_of_processes_can_continue_and_the_change_is_reported(tmp_path: Path, treebank: Path) -> None:
    arguments = (RANDOM, [treebank], tmp_path / "out")
    run_group(2, tmp_path, interrupt_last_process, *arguments)
    (note,) = resume_in_group(ALONE, *arguments)
    assert "began with processes: 2, and continues with processes: 1" in note
    assert len(losses(tmp_path / "out")) == 3


def test_other_data_in_another_process_is_reported_in_all(tmp_path: Path, treebank: Path) -> None:
    other = write_toy_treebank(tmp_path / "other.conllu", 25, seed=2)
    first, second = run_group(2, tmp_path, train_in_group, RANDOM, [treebank, other], tmp_path / "out")
    assert first == second
    assert "process 1 has other training data, options or versions than process 0" in first


def test_a_mistake_that_only_another_process_sees_is_reported_by_the_first(tmp_path: Path, treebank: Path) -> None:
    empty = tmp_path / "empty.conllu"
    empty.write_text("")
    first, second = run_group(2, tmp_path, train_in_group, RANDOM, [treebank, empty], tmp_path / "out")
    assert first == "process 1 of 2: the training file has no sentences"
    assert second == "the training file has no sentences"


@pytest.mark.parametrize("rank", [0, 1])
def test_if_a_process_is_killed_the_other_stops_with_a_message(tmp_path: Path, treebank: Path, rank: int) -> None:
    outcomes = run_group(2, tmp_path, kill_process, rank, RANDOM, [treebank], tmp_path / "out")
    assert outcomes[rank] is None
    assert f"process {1 - rank} of 2 lost contact with another process" in outcomes[1 - rank]
    assert "resume" in outcomes[1 - rank]
