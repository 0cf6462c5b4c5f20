"""`longarc serve`: user errors and warnings."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.helpers.command import LONGARC, run_text
from tests.helpers.served_models import serving


def test_users_mistakes_end_with_a_message(model: Path, tmp_path: Path) -> None:
    with serving(model) as (address, _):
        port = address.split(":")[2].rstrip("/")
        result = run_text("serve", str(model), "--port", port)
        assert result.returncode == 2
        assert "--port" in result.stderr
    missing = run_text("serve", str(tmp_path / "missing.longarc"), "--port", "0")
    assert (missing.returncode, "missing.longarc" in missing.stderr) == (2, True)
    twice = run_text("serve", str(model), str(model), "--port", "0")
    assert (twice.returncode, "two models" in twice.stderr) == (2, True)


def test_an_open_address_without_a_token_is_pointed_out(model: Path) -> None:
    with serving(model, "--host", "0.0.0.0", "--token", "sesame") as (address, process):
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert address.startswith("http://127.0.0.1:")
    command = [*LONGARC, "serve", str(model)]
    with subprocess.Popen(
        [*command, "--host", "0.0.0.0", "--port", "0", "--no-browser"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "--token" in process.stderr.readline()
        process.kill()


def test_without_the_extra_the_command_says_what_to_install() -> None:
    code = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in ("fastapi", "uvicorn") else find(name, *rest)
sys.argv = ["longarc", "serve"]
from longarc.cli.main import run
run()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert "pip install 'longarc[serve]'" in result.stderr
