"""Run a function in several processes that form a process group."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from longarc.errors import LongarcError
from longarc.training.interruption import Interrupted
from longarc.training.process_group import ProcessGroup

PROCESSES = multiprocessing.get_context("forkserver")
# An optimizer imports torch._dynamo, which takes seconds.
PROCESSES.set_forkserver_preload(
    ["longarc.training.run", "torch._dynamo", "matplotlib.figure", "tests.helpers.group_training"]
)


def run_group(size: int, folder: Path, function: Callable[..., Any], *args: Any, seconds: float = 60) -> list[Any]:
    """Return what the function returned in each process: a value, an exception, or None if the process was killed.

    The function receives the process group and `args`. A process that is still running after some seconds is an error.
    """
    rendezvous = folder / f"rendezvous-{len(list(folder.glob('rendezvous-*')))}"
    rendezvous.touch()
    pipes = [PROCESSES.Pipe(duplex=False) for _ in range(size)]
    processes = [
        PROCESSES.Process(target=_run, args=(sender, ProcessGroup(rank, size, rank, size), rendezvous, function, args))
        for rank, (_, sender) in enumerate(pipes)
    ]
    for process, (_, sender) in zip(processes, pipes, strict=True):
        process.start()
        sender.close()
    results = []
    for process, (receiver, _) in zip(processes, pipes, strict=True):
        try:
            assert receiver.poll(seconds), "the process hangs"
            results.append(receiver.recv())
        except EOFError:
            results.append(None)
        finally:
            process.kill()
            process.join()
    return results


def _run(pipe: Any, group: ProcessGroup, rendezvous: Path, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    torch.set_num_threads(1)
    try:
        group.join(rendezvous)
        result = function(group, *args)
    except (LongarcError, Interrupted) as error:
        result = str(error) or type(error).__name__
    except BaseException:
        traceback.print_exc()
        raise
    pipe.send(result)
