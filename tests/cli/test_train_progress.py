"""How training and packaging show themselves on a terminal."""

from __future__ import annotations

import re
import sys

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from longarc.cli.train_progress import TrainingProgress, _echo


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
