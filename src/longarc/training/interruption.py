"""Stop a training cleanly: signals ask it to finish its step and to save its state."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Interrupted(Exception):  # noqa: N818 (nothing went wrong)
    """Training was interrupted and has saved its state."""


@contextmanager
def call_on_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Within the block, SIGINT, SIGTERM and SIGHUP call `interrupt` instead of ending the process."""

    def handle(*_: Any) -> None:
        interrupt()

    numbers = [signal.SIGINT, signal.SIGTERM]
    # Windows has no SIGHUP, and nohup ignores it.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    previous = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
