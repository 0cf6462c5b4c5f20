"""`longarc train`: models are reproducible and resumable, and they learn."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from longarc.errors import LongarcError
from longarc.training import scoring, trainer
from longarc.training.checkpoint import load_tensors
from tests.helpers.command import LONGARC, invoke
from tests.helpers.prepared_training import SMALL, SMALL_SETTINGS
from tests.helpers.toy_treebank import write_toy_treebank


def arguments(treebank: Path, out: Path, *options: str | Path) -> list[str]:
    common = map(str, (treebank, "--preset=paper", "--out", out, "--threads", 1))
    return ["train", *common, *SMALL_SETTINGS, *map(str, options)]


def train(treebank: Path, out: Path, *options: str | Path) -> None:
    """Runs `longarc train` in this process; a user's mistake raises LongarcError."""
    result = invoke(arguments(treebank, out, *options), catch_exceptions=False)
    assert result.exit_code == 0


@pytest.mark.parametrize("name", ["nl-covington", "arc-swift"])
def test_it_learns_a_small_language_with_its_non_projective_trees(tmp_path: Path, name: str) -> None:
    treebank = write_toy_treebank(tmp_path / "train.conllu", 160)
    test = write_toy_treebank(tmp_path / "test.conllu", 40, seed=2)
    wider = ["--set=lstm_size=32", "--set=merge_dimensions=32", "--set=pair_dimensions=24"]
    settings = [*wider, "--set=learning_rate=0.01", "--set=batch_sentences=8", "--epochs=8"]
    train(treebank, tmp_path / "out", "--test", test, "--system", name, *settings)
    last = json.loads((tmp_path / "out" / "log.jsonl").read_text().splitlines()[-1])
    assert last["test_uas"] > 95
    assert last["test_las"] > 95
    assert last["test_upos"] > 97


def test_the_same_seed_gives_the_same_model_and_another_seed_another(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 40)
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        train(treebank, tmp_path / name, "--epochs=2", f"--seed={seed}")
    one, same, other = (load_tensors(tmp_path / name / "weights.safetensors")[0] for name in ("one", "same", "other"))
    assert all(torch.equal(one[key], same[key]) for key in one)
    assert not torch.equal(one["scorer.head.weight"], other["scorer.head.weight"])


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_stopped_and_resumed_ends_with_the_same_model(tmp_path: Path, how: signal.Signals) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 150)
    dev = write_toy_treebank(tmp_path / "dev.conllu", 20, seed=3)
    options = ["--epochs=4", "--dev", str(dev), "--set=batch_sentences=2"]
    train(treebank, tmp_path / "whole", *options)
    command = [*LONGARC]
    command += arguments(treebank, tmp_path / "parts", *options)
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "parts" / "checkpoint.safetensors").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(how)
        _, message = process.communicate()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "--resume" in message
    with pytest.raises(LongarcError, match="--resume"):
        train(treebank, tmp_path / "parts", *options)
    train(treebank, tmp_path / "parts", *options, "--resume")
    whole, parts = (load_tensors(tmp_path / name / "weights.safetensors")[0] for name in ("whole", "parts"))
    assert all(torch.equal(whole[key], parts[key]) for key in whole)
    logs = [[json.loads(line) for line in (tmp_path / name / "log.jsonl").open()] for name in ("whole", "parts")]
    assert [entry["loss"] for entry in logs[0]] == [entry["loss"] for entry in logs[1]]
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        "curve.svg",
        "log.jsonl",
        "model.json",
        "parts.longarc",
        "weights.safetensors",
    ]


def test_it_can_be_stopped_while_the_last_epoch_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    options = ["--epochs=1", "--dev", str(treebank)]
    train(treebank, tmp_path / "whole", *options)
    score_words = scoring.score_words

    def stopped(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return score_words(*given)

    with monkeypatch.context() as patched:
        patched.setattr(trainer, "score_words", stopped)
        done = invoke(arguments(treebank, tmp_path / "parts", *options))
    assert done.exit_code == 130
    assert not (tmp_path / "parts" / "parts.longarc").exists()
    train(treebank, tmp_path / "parts", *options, "--resume")
    whole, parts = (load_tensors(tmp_path / name / "weights.safetensors")[0] for name in ("whole", "parts"))
    assert all(torch.equal(whole[key], parts[key]) for key in whole)


def test_resuming_with_other_data_is_refused(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 30)
    train(treebank, tmp_path / "out", "--epochs=1")
    (tmp_path / "out" / "weights.safetensors").rename(tmp_path / "out" / "checkpoint.safetensors")
    with pytest.raises(LongarcError, match="checkpoint belongs to a different training"):
        train(treebank, tmp_path / "out", "--epochs=1", "--resume")


def test_labels_that_only_the_development_data_has_do_no_harm(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    (tmp_path / "dev.conllu").write_text("1\tnew\t_\tNEW\t_\t_\t0\tunheard-of\t_\t_\n\n")
    train(treebank, tmp_path / "out", "--epochs=1", "--dev", tmp_path / "dev.conllu")
    entry = json.loads((tmp_path / "out" / "log.jsonl").read_text())
    assert (entry["dev_uas"], entry["dev_las"], entry["dev_upos"]) == (100, 0, 0)


def test_a_treebank_without_trees_is_refused_before_the_first_epoch(tmp_path: Path) -> None:
    (tmp_path / "blind.conllu").write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n")
    (tmp_path / "empty.conllu").write_text("")
    for name, message in (("blind", r"blind\.conllu:1: HEAD is _"), ("empty", "no sentences")):
        with pytest.raises(LongarcError, match=message):
            train(tmp_path / f"{name}.conllu", tmp_path / "out")


def test_dev_fraction_sets_the_last_sentences_aside(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    train(treebank, tmp_path / "out", "--epochs=1", "--dev-fraction", "0.2")
    assert "dev_las" in json.loads((tmp_path / "out" / "log.jsonl").read_text())


def test_early_stopping_ends_a_training_that_gets_no_better(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    options = ["--epochs=30", "--dev", str(treebank), "--set=early_stopping=2", "--set=learning_rate=1e-9"]
    train(treebank, tmp_path / "out", *options)
    assert len((tmp_path / "out" / "log.jsonl").read_text().splitlines()) == 3


def test_the_description_holds_the_configuration_that_was_used(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 10)
    train(treebank, tmp_path / "out", "--epochs=1", "--system=covington", "--seed=5")
    used = json.loads((tmp_path / "out" / "model.json").read_text())["configuration"]
    assert (used["system"], used["seed"], used["lstm_size"]) == ("covington", 5, SMALL.lstm_size)


def test_loss_that_is_not_a_number_is_reported(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 40)
    with pytest.raises(LongarcError, match="learning_rate"):
        train(treebank, tmp_path / "out", "--epochs=9", "--set=learning_rate=1e30")
