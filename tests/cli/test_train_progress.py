"""How training and packaging show themselves on a terminal."""

from __future__ import annotations

import re
import sys

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from longarc.cli.train_progress import PackagingProgress, TrainingProgress, _echo, summary_lines
from longarc.training.training_summary import TrainingSummary
from tests.helpers.clock import Clock

SUMMARY = TrainingSummary(
    sentences=12_544,
    words=204_576,
    dev_sentences=2_001,
    dev_words=25_152,
    labels={"upos": 17, "xpos": 50, "feats": 1_320, "lemma": 2_409, "relations": 49},
    system="nl-covington",
    parameters=9_123_456,
    epochs=10,
    threads=1,
    processes=2,
    device="cpu",
)


def test_a_line_is_printed_where_the_bar_was_and_the_bar_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(file=sys.stdout, force_terminal=True, width=40)
    with Progress(TextColumn("epoch 2/9"), console=console, transient=True, auto_refresh=False) as bar:
        bar.add_task("")
        bar.refresh()
        _echo("epoch   1  loss 3.2", bar)
        bar.refresh()
        assert bar.live.is_started
    before, line, after = capsys.readouterr().out.partition("epoch   1  loss 3.2\n")
    assert line and re.search(r"epoch 2/9.*\x1b\[2K$", before, re.DOTALL)  # the bar's line is empty again
    assert "epoch 2/9" in after


def test_a_line_is_only_a_line_where_no_bar_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(TextColumn("epoch 2/9"), console=Console(stderr=True), disable=True) as bar:
        _echo("epoch   1", bar)
    assert capsys.readouterr().out == "epoch   1\n"


def test_a_line_per_epoch_shows_whatever_columns_were_scored(capsys: pytest.CaptureFixture[str]) -> None:
    scores = {"dev_upos": 97.5, "dev_lemma": 88, "dev_las": 80.126, "dev_uas": 90}
    TrainingProgress().epoch_done({"epoch": 3, "loss": 0.25, **scores, "tokens_per_second": 1200})
    line = "epoch   3  loss    0.2500  dev UAS 90.00 LAS 80.13 UPOS 97.50 LEMMA 88.00  1,200 tokens/s\n"
    assert capsys.readouterr().out == line


def test_a_log_without_a_terminal_gets_the_steps_of_packaging(capsys: pytest.CaptureFixture[str]) -> None:
    with PackagingProgress() as progress:
        progress.announce("scoring the 8-bit model")
    assert capsys.readouterr().err == "longarc: scoring the 8-bit model\n"


def test_a_training_begins_with_what_it_has() -> None:
    assert summary_lines(SUMMARY) == [
        "training data: 12,544 sentences, 204,576 words",
        "development data: 2,001 sentences, 25,152 words",
        "labels: 17 UPOS, 50 XPOS, 1,320 FEATS, 2,409 LEMMA, 49 relations",
        "network: nl-covington, 9,123,456 parameters",
        "10 epochs on cpu, 2 processes of 1 thread",
    ]


def test_a_log_without_a_terminal_gets_the_expected_time_and_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    progress = TrainingProgress(clock)
    progress.training_begins(SUMMARY)
    capsys.readouterr()
    for step in range(1, 401):
        progress.tokenizer_step_done(step, 400)
        clock.now += 1
    assert capsys.readouterr().err == "longarc: training the tokenizer, step 301 of 400, left: 99 s\n"
    progress.epoch_begins(1, 2, 10_000, 0)
    for _ in range(10):
        clock.now += 100
        progress.batch_done(1_000)
    output = capsys.readouterr()
    assert output.out == "expected time: 32 min at 10 tokens/s; scoring comes on top\n"
    assert output.err.splitlines() == [
        "longarc: epoch 1/2, 20 % done, 10 tokens/s, left: 30 min",
        "longarc: epoch 1/2, 50 % done, 10 tokens/s, left: 25 min",
        "longarc: epoch 1/2, 80 % done, 10 tokens/s, left: 20 min",
    ]
    clock.now += 200
    progress.epoch_done({"epoch": 1, "loss": 1.0})
    assert capsys.readouterr().out.endswith("left: 20 min\n")
