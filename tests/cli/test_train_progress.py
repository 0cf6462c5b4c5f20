"""How training and packaging show themselves on a terminal."""

from __future__ import annotations

import re
import sys

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from longarc.cli.train_progress import _echo


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
