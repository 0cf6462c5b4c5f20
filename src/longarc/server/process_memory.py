"""Returns freed memory to the system, so that the memory of a server under load does not grow."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

TRIM_SECONDS = 5.0
M_ARENA_MAX, ARENAS = -8, 2
"""An option of glibc's `mallopt`, from malloc.h, and its value: the number of heaps"""


def keep_memory_low() -> None:
    """Limit the number of glibc's heaps and trim them regularly; do nothing with another C library.

    By default each thread gets a heap of its own. A heap that serves requests of all sizes keeps most of what they
    needed at the worst moment, because blocks still in use lie between the free ones. `malloc_trim` returns free pages
    wherever they are; it takes a few milliseconds.
    """
    library = _c_library()
    if library is not None:
        library.mallopt(M_ARENA_MAX, ARENAS)
        threading.Thread(target=_trim_regularly, args=(library,), name="longarc-trim", daemon=True).start()


def _c_library() -> Any:
    """Return glibc, or None."""
    try:
        library = ctypes.CDLL(None)
        library.malloc_trim  # noqa: B018 (raises if it is missing)
    except (AttributeError, OSError, TypeError):
        return None
    return library


def _trim_regularly(library: Any) -> None:
    while True:
        time.sleep(TRIM_SECONDS)
        library.malloc_trim(0)
