"""Start the processes of a training on this machine, or join those that torchrun has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.training.process_group import ProcessGroup

RENDEZVOUS = "LONGARC_RENDEZVOUS"
"""The variable with the file through which the processes that --workers starts find each other."""
TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""The variables by which torchrun's processes find each other."""


@contextmanager
def join_processes(workers: int | None) -> Iterator[ProcessGroup]:
    """Yield the group of processes that train together: torchrun's, a new one on this machine, or this process alone.

    The other processes run the same command line. A process other than the first prints only what the first one cannot
    know: that the connection is lost.
    """
    from longarc.training.process_group import ALONE

    launched = _launched_group(os.environ)
    if launched is None and (workers or 1) == 1:
        yield ALONE
    elif launched is None:
        assert workers is not None
        with _start_workers(workers) as group:
            yield group
    elif workers not in (None, launched.size):
        hint = f"Leave out --workers, or start {workers} processes."
        raise LongarcError(f"--workers is {workers}, but torchrun has started {launched.size} processes", hint)
    else:
        with _joined(launched):
            yield launched


def _launched_group(variables: Mapping[str, str]) -> ProcessGroup | None:
    """Return the group that the environment variables describe, if there are any."""
    from longarc.training.process_group import ProcessGroup

    if RENDEZVOUS not in variables and not all(name in variables for name in TORCHRUN):
        return None
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    try:
        return ProcessGroup(*(int(variables[name]) for name in names))
    except (KeyError, ValueError):
        values = ", ".join(f"{name}={variables.get(name, '')}" for name in names)
        hint = "Start the processes with torchrun, which sets these variables."
        raise LongarcError(f"the variables of the process group are incomplete: {values}", hint) from None


@contextmanager
def _joined(group: ProcessGroup) -> Iterator[None]:
    """Connect this process, which torchrun or the first process has started, to the others."""
    from longarc.training.process_group import LostProcessError

    rendezvous = os.environ.get(RENDEZVOUS)
    if rendezvous:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process receives Ctrl-C and stops the others
        Path(f"{rendezvous}.{group.rank}").touch()
    if not group.is_first:
        warnings.simplefilter("ignore")
    try:
        group.join(Path(rendezvous) if rendezvous else None)
        yield
    except LostProcessError:
        raise
    except LongarcError:
        if group.is_first:
            raise
        raise typer.Exit(2) from None
    finally:
        group.leave()


@contextmanager
def _start_workers(count: int) -> Iterator[ProcessGroup]:
    """Start the other processes and yield the group, of which this process is the first. End them afterwards."""
    from longarc.training.process_group import LostProcessError, ProcessGroup

    group = ProcessGroup(size=count, local_size=count)
    with tempfile.TemporaryDirectory(prefix="longarc-", ignore_cleanup_errors=True) as folder:
        rendezvous = Path(folder) / "processes"
        processes = {rank: _start_worker(rank, count, rendezvous) for rank in range(1, count)}
        try:
            _wait_for_start(processes, rendezvous)
            group.join(rendezvous)
            yield group
            for process in processes.values():
                process.wait()
        except LostProcessError as error:
            time.sleep(0.2)  # connections are closed a moment before the process has ended
            raise LongarcError(_ended(processes) or error.message, error.hint) from None
        finally:
            # They own no files and no locks.
            for process in processes.values():
                process.kill()
                process.wait()
            group.leave()


def _start_worker(rank: int, count: int, rendezvous: Path) -> subprocess.Popen[bytes]:
    variables = {"RANK": rank, "WORLD_SIZE": count, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": count}
    environment = {name: str(value) for name, value in variables.items()}
    command = [sys.executable, "-m", "longarc", *sys.argv[1:]]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, env={**os.environ, **environment, RENDEZVOUS: str(rendezvous)}
    )


def _wait_for_start(processes: Mapping[int, subprocess.Popen[bytes]], rendezvous: Path) -> None:
    """Wait until all processes are ready to connect; raise if one has ended."""
    while not all(Path(f"{rendezvous}.{rank}").exists() for rank in processes):
        if ended := _ended(processes):
            raise LongarcError(ended, "Its messages are above.")
        time.sleep(0.02)


def _ended(processes: Mapping[int, subprocess.Popen[bytes]]) -> str:
    """Describe the first process that has ended, if one has."""
    for rank, process in processes.items():
        status = process.poll()
        if status is not None:
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            return f"process {rank} of {len(processes) + 1} {how}"
    return ""
