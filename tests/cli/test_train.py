"""`longarc train`: models are reproducible and resumable, and they learn."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import Result

from longarc.cli.train_progress import TrainingProgress
from longarc.errors import LongarcError
from longarc.runtime.model_file import read_card
from longarc.training import packaging, run, scoring, train_tokenizer, trainer
from longarc.training.checkpoint import load_tensors
from tests.helpers.command import LONGARC, invoke
from tests.helpers.prepared_training import SMALL, SMALL_SETTINGS
from tests.helpers.text_treebank import treebank_with_text
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


def test_a_training_shows_what_it_has_and_what_to_do_next(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 20)
    dev = write_toy_treebank(tmp_path / "dev.conllu", 5, seed=2)
    result = invoke(arguments(treebank, tmp_path / "out", "--dev", dev, "--epochs=1"), catch_exceptions=False)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("training data: 20 sentences, ")
    assert lines[1].startswith("development data: 5 sentences, ")
    assert [line.startswith("epoch ") for line in lines].index(True) == 5
    assert lines[4] == "1 epoch on cpu, 1 thread"
    model = tmp_path / "out" / "out.longarc"
    assert lines[-1] == f"Next: longarc parse {dev} --model {model} --output parsed.conllu"


def test_options_that_are_valid_only_together_can_be_set_in_any_order(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 8)
    train(treebank, tmp_path / "out", "--epochs=1", "--set=no_arc=authors", "--system=covington")
    with pytest.raises(LongarcError, match="nl-covington has no No-Arc"):
        train(treebank, tmp_path / "other", "--epochs=1", "--set=no_arc=authors")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
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
    if how != signal.SIGKILL:
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
        "language.bin",
        "log.jsonl",
        "model.json",
        "parts.longarc",
        "weights.safetensors",
    ]


def stop_in_batch(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Send SIGINT to the training in a batch, counted from 1 over all epochs."""
    batch_loss, calls = trainer.batch_loss, 0  # type: ignore[attr-defined]

    def interrupting(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            signal.raise_signal(signal.SIGINT)
        return batch_loss(*given)

    monkeypatch.setattr(trainer, "batch_loss", interrupting)


@pytest.mark.parametrize("system", ["covington", "nl-covington", "non-monotonic-nl-covington"])
def test_training_with_exploration_is_resumed_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 30)
    options = ["--epochs=2", "--system", system, "--set=batch_sentences=4", "--set=exploration=0.7"]
    train(treebank, tmp_path / "whole", *options)
    train(treebank, tmp_path / "static", *options[:-1])
    with monkeypatch.context() as patched:
        stop_in_batch(patched, 11)  # in the second of two epochs of 8 batches; exploration begins there
        assert invoke(arguments(treebank, tmp_path / "parts", *options)).exit_code == 130
    train(treebank, tmp_path / "parts", *options, "--resume")
    whole, parts, static = (
        load_tensors(tmp_path / name / "weights.safetensors")[0] for name in ("whole", "parts", "static")
    )
    assert all(torch.equal(whole[key], parts[key]) for key in whole)
    assert not all(torch.equal(whole[key], static[key]) for key in whole)


def test_stopped_after_the_last_batch_of_an_epoch_it_logs_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 30)
    options = ["--epochs=4", "--set=batch_sentences=10"]
    train(treebank, tmp_path / "whole", *options)
    with monkeypatch.context() as patched:
        stop_in_batch(patched, 9)  # the third of three batches of the third epoch, which has another learning rate
        assert invoke(arguments(treebank, tmp_path / "parts", *options)).exit_code == 130
    train(treebank, tmp_path / "parts", *options, "--resume")
    whole, parts = (
        [json.loads(line) for line in (tmp_path / name / "log.jsonl").open()] for name in ("whole", "parts")
    )
    for key in ("epoch", "loss", "learning_rate"):
        assert [entry[key] for entry in whole] == [entry[key] for entry in parts]
    assert whole[2]["learning_rate"] < whole[0]["learning_rate"]


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


def test_a_long_training_stops_early_only_after_it_was_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "MOST_SCORINGS", 3)
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 10)
    options = ("--epochs=9", "--set", "early_stopping=1", "--set", "learning_rate=1e-9")
    train(treebank, tmp_path / "out", "--dev", str(treebank), *options)
    entries = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    assert [entry["epoch"] for entry in entries if "dev_las" in entry] == [3, 6]
    assert entries[-1]["epoch"] == 6


def test_the_description_holds_the_configuration_that_was_used(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 10)
    train(treebank, tmp_path / "out", "--epochs=1", "--system=covington", "--seed=5")
    used = json.loads((tmp_path / "out" / "model.json").read_text())["configuration"]
    assert (used["system"], used["seed"], used["lstm_size"]) == ("covington", 5, SMALL.lstm_size)


def test_loss_that_is_not_a_number_is_reported(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 40)
    with pytest.raises(LongarcError, match="learning_rate"):
        train(treebank, tmp_path / "out", "--epochs=9", "--set=learning_rate=1e30")


# ---------------------------------------------------------------------------------------------------------------------
# Killed at any time


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("killed")


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_tensors(folder / "weights.safetensors")[0]


def equal(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize("where", ["packaging", "test"])
def test_killed_after_the_last_epoch_it_is_packaged_by_resuming(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    treebank, out = write_toy_treebank(tmp_path / "toy.conllu", 20), tmp_path / "out"
    options = ["--epochs=1", "--test", str(treebank), "--treebank=Toy"]
    with monkeypatch.context() as patched:
        patched.setattr(
            *((packaging, "write_model_file", fail) if where == "packaging" else (run, "score_words", fail))
        )
        with pytest.raises(RuntimeError, match="killed"):
            train(treebank, out, *options)
    assert not (out / "out.longarc").exists()
    before = weights(out)
    with pytest.raises(LongarcError, match="--resume"):
        train(treebank, out, *options)
    with monkeypatch.context() as patched:
        if where == "packaging":  # the scores survive
            patched.setattr(run, "score_words", fail)
        train(treebank, out, *options, "--resume")
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights(out).items())
    card, last = read_card(out / "out.longarc"), json.loads((out / "log.jsonl").read_text().splitlines()[-1])
    assert card["treebank"] == "Toy"
    assert card["scores"]["test_las"] == last["test_las"]


def test_resuming_a_finished_training_changes_nothing(tmp_path: Path) -> None:
    treebank, out = write_toy_treebank(tmp_path / "toy.conllu", 20), tmp_path / "out"
    train(treebank, out, "--epochs=1")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.iterdir()}
    result = invoke(arguments(treebank, out, "--epochs=1", "--resume"))
    assert result.exit_code == 0
    assert "finished" in result.stderr and "--overwrite" not in result.stderr
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.iterdir()} == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epochs=0"], "--epochs"),
        (["--resume", "--overwrite"], "exclude each other"),
        (["--system=mst", "--set", "system=pointer"], "exclude each other"),
    ],
)
def test_options_that_contradict_each_other_are_refused(tmp_path: Path, options: list[str], message: str) -> None:
    treebank, out = write_toy_treebank(tmp_path / "toy.conllu", 5), tmp_path / "out"
    result = invoke(["train", str(treebank), "--out", str(out), *options])
    assert result.exit_code and message in f"{result.stderr}{result.exception}"
    assert not out.exists()


def test_a_model_of_an_earlier_training_is_not_taken_for_that_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    treebank, out = write_toy_treebank(tmp_path / "toy.conllu", 20), tmp_path / "out"
    train(treebank, out, "--epochs=1")
    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="killed"):
        patched.setattr(packaging, "write_model_file", fail)
        train(treebank, out, "--epochs=1", "--seed=7", "--overwrite")
    train(treebank, out, "--epochs=1", "--seed=7", "--resume")
    assert read_card(out / "out.longarc")["configuration"]["seed"] == 7


def test_resuming_where_nothing_was_saved_starts_and_says_so(tmp_path: Path) -> None:
    treebank, out = write_toy_treebank(tmp_path / "toy.conllu", 20), tmp_path / "out"
    train(treebank, tmp_path / "whole", "--epochs=1")
    out.mkdir()
    (out / "training.lock").write_text("of a training that was killed")
    result = invoke(arguments(treebank, out, "--epochs=1", "--resume"), catch_exceptions=False)
    assert result.exit_code == 0
    assert "nothing was saved yet" in result.stderr
    assert equal(tmp_path / "whole", out)


# ---------------------------------------------------------------------------------------------------------------------
# The tokenizer, which is trained before the parser


def train_with_tokenizer(tmp_path: Path, out: str, *options: str) -> Result:
    """Train on text, with a tokenizer of 12 steps."""
    treebank = tmp_path / "text.conllu"
    treebank.write_text(treebank_with_text(16))
    settings = ["--epochs=1", "--set=tokenizer_steps=12"]
    return invoke(arguments(treebank, tmp_path / out, *settings, *options), catch_exceptions=False)


def interrupt_at_step(number: int, patched: pytest.MonkeyPatch) -> None:
    """Send Ctrl-C during a step of the tokenizer's training."""
    step = train_tokenizer._TokenizerTraining._step

    def stop(self: Any) -> None:
        if self.steps_done == number:
            signal.raise_signal(signal.SIGINT)
        step(self)

    patched.setattr(train_tokenizer._TokenizerTraining, "_step", stop)


def test_a_training_stopped_in_the_tokenizer_resumes_and_ends_with_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert train_with_tokenizer(tmp_path, "whole").exit_code == 0
    for number in (3, 8):
        with monkeypatch.context() as patched:
            interrupt_at_step(number, patched)
            stopped = train_with_tokenizer(tmp_path, "parts", "--resume")
        assert stopped.exit_code == 130
        assert "--resume" in stopped.stderr
        _, state = load_tensors(tmp_path / "parts" / "tokenizer.checkpoint.safetensors")
        assert state["steps_done"] == number + 1
        with pytest.raises(LongarcError, match="--resume"):
            train_with_tokenizer(tmp_path, "parts")
    with pytest.raises(LongarcError, match="different training run"):
        train_with_tokenizer(tmp_path, "parts", "--resume", "--seed=7")
    assert train_with_tokenizer(tmp_path, "parts", "--resume").exit_code == 0
    assert equal(tmp_path / "whole", tmp_path / "parts")
    tokenizers = [load_tensors(tmp_path / name / "tokenizer.safetensors")[0] for name in ("whole", "parts")]
    assert all(torch.equal(tensor, tokenizers[1][name]) for name, tensor in tokenizers[0].items())
    assert not (tmp_path / "parts" / "tokenizer.checkpoint.safetensors").exists()


def test_a_crash_in_the_tokenizer_costs_only_the_steps_since_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_with_tokenizer(tmp_path, "whole")
    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="killed"):
        patched.setattr(train_tokenizer, "CHECKPOINT_SECONDS", 0.0)
        patched.setattr(TrainingProgress, "tokenizer_step_done", fail_at_step_5)
        train_with_tokenizer(tmp_path, "parts")
    assert load_tensors(tmp_path / "parts" / "tokenizer.checkpoint.safetensors")[1]["steps_done"] == 4
    train_with_tokenizer(tmp_path, "parts", "--resume")
    assert equal(tmp_path / "whole", tmp_path / "parts")


def fail_at_step_5(_: Any, step: int, steps: int) -> None:
    if step == 5:
        raise RuntimeError("killed")


def test_a_tokenizer_that_was_trained_before_a_crash_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_with_tokenizer(tmp_path, "whole")
    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="killed"):
        patched.setattr(trainer.Trainer, "train", fail)
        train_with_tokenizer(tmp_path, "parts")
    with monkeypatch.context() as patched:
        patched.setattr(run, "train_tokenizer", fail)
        assert train_with_tokenizer(tmp_path, "parts", "--resume").exit_code == 0
    assert equal(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.parametrize("name", ["tokenizer.safetensors", "tokenizer.checkpoint.safetensors"])
def test_a_damaged_tokenizer_is_trained_again(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_bytes(b"of a training that was killed")
    result = train_with_tokenizer(tmp_path, "out", "--resume")
    assert result.exit_code == 0
    assert "is damaged" in result.stderr and "trained again" in result.stderr
    load_tensors(tmp_path / "out" / "tokenizer.safetensors")


def interrupted_training(treebank: Path, out: Path, monkeypatch: pytest.MonkeyPatch, *options: str | Path) -> None:
    """Stop in the third epoch, with a checkpoint after each batch."""
    begins = trainer.Trainer._train_epoch

    def stop_in_third_epoch(self: Any) -> None:
        self._interrupted = self.position.epoch == 3
        begins(self)

    with monkeypatch.context() as patched:
        patched.setattr(trainer, "CHECKPOINT_SECONDS", 0.0)
        patched.setattr(trainer.Trainer, "_train_epoch", stop_in_third_epoch)
        assert invoke(arguments(treebank, out, *options)).exit_code == 130


DAMAGE: dict[str, Any] = {
    "zeroed": lambda content: bytes(len(content)),
    "zeroed data": lambda content: content[:-400] + bytes(400),
    "flipped": lambda content: content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
    "truncated": lambda content: content[: len(content) // 2],
    "other metadata": lambda content: content.replace(b'\\"best_epoch\\": 2', b'\\"best_epoch\\": 1'),
    "empty": lambda content: b"",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_checkpoint_is_replaced_by_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Any
) -> None:
    treebank, out = write_toy_treebank(tmp_path / "toy.conllu", 20), tmp_path / "out"
    options = ["--epochs=3", "--dev", str(treebank), "--set=batch_sentences=4", "--set=learning_rate=0.01"]
    train(treebank, tmp_path / "whole", *options)
    interrupted_training(treebank, out, monkeypatch, *options)
    checkpoint, previous = out / "checkpoint.safetensors", out / "checkpoint.previous.safetensors"
    damaged = damage(checkpoint.read_bytes())
    assert damaged != checkpoint.read_bytes()
    checkpoint.write_bytes(damaged)
    with monkeypatch.context() as patched:  # both are damaged
        content = previous.read_bytes()
        previous.write_bytes(content[:-1])
        with pytest.raises(LongarcError, match="is damaged"):
            train(treebank, out, *options, "--resume")
        previous.write_bytes(content)
        patched.setattr(trainer.Trainer, "_save_checkpoint", lambda self: None)
        result = invoke(arguments(treebank, out, *options, "--resume"), catch_exceptions=False)
    assert result.exit_code == 0
    assert "checkpoint.safetensors: is damaged" in " ".join(result.output.split())
    assert equal(tmp_path / "whole", out)
    assert not previous.exists()


def test_damaged_weights_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    treebank, out = write_toy_treebank(tmp_path / "toy.conllu", 20), tmp_path / "out"
    options = ["--epochs=3", "--dev", str(treebank), "--set=batch_sentences=4"]
    interrupted_training(treebank, out, monkeypatch, *options)
    best = (out / "best.safetensors").read_bytes()
    (out / "best.safetensors").write_bytes(DAMAGE["flipped"](best))
    with pytest.raises(LongarcError, match=r"best\.safetensors: is damaged"):
        train(treebank, out, *options, "--resume")
    (out / "best.safetensors").write_bytes(best)
    train(treebank, out, *options, "--resume")
    (out / "weights.safetensors").write_bytes(DAMAGE["flipped"]((out / "weights.safetensors").read_bytes()))
    with pytest.raises(LongarcError, match=r"weights\.safetensors: is damaged"):
        invoke(["package", str(out)], catch_exceptions=False)


# ---------------------------------------------------------------------------------------------------------------------
# Two trainings in one folder

HOLDS_THE_LOCK = """
import sys, time
from pathlib import Path
from longarc.training.run import lock_folder
with lock_folder(Path(sys.argv[1])):
    print(flush=True)
    time.sleep(600)
"""


def test_a_second_training_in_the_same_folder_is_refused_until_the_first_is_dead(tmp_path: Path) -> None:
    treebank, out = write_toy_treebank(tmp_path / "toy.conllu", 10), tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", HOLDS_THE_LOCK, out], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for option in ("--overwrite", "--resume"):
            with pytest.raises(LongarcError, match=f"process {process.pid} on .* is training in this folder"):
                train(treebank, out, "--epochs=1", option)
        process.kill()
    assert (out / "training.lock").exists()
    train(treebank, out, "--epochs=1")
    assert not (out / "training.lock").exists()


@pytest.mark.parametrize("case", ["file", "file/below", "loop", "x" * 300])
def test_a_folder_that_cannot_be_used_is_a_message(tmp_path: Path, case: str) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 10)
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(LongarcError, match=r"is not a folder|cannot be used"):
        train(treebank, tmp_path / case, "--epochs=1")


def test_a_folder_that_was_made_for_nothing_is_removed(tmp_path: Path) -> None:
    with pytest.raises(LongarcError, match="cannot be read"):
        train(tmp_path / "missing.conllu", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sentence_that_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
    rows = [f"{i}\tw\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_" for i in range(1, 1001)]
    (tmp_path / "long.conllu").write_text("\n".join(rows) + "\n\n")
    with pytest.raises(LongarcError, match=r"long\.conllu:1: a sentence of 1,000 words needs 39 MB"):
        train(tmp_path / "long.conllu", tmp_path / "out", "--memory=16")
