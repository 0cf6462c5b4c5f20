"""Longarc: a dependency parser that is non-projective by nature, fast on a plain CPU, lossless on its input."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longarc.data.conll import SentenceReader, Treebank, read, read_all, write
    from longarc.data.sentence import Sentence
    from longarc.errors import InputError, LongarcError

__version__ = "0.1.0"

# Names are imported when they are first asked for: `longarc --help` must not wait for numpy.
_HOMES = {
    "InputError": "longarc.errors",
    "LongarcError": "longarc.errors",
    "Sentence": "longarc.data.sentence",
    "SentenceReader": "longarc.data.conll",
    "Treebank": "longarc.data.conll",
    "read": "longarc.data.conll",
    "read_all": "longarc.data.conll",
    "write": "longarc.data.conll",
}

__all__ = [
    "InputError",
    "LongarcError",
    "Sentence",
    "SentenceReader",
    "Treebank",
    "__version__",
    "read",
    "read_all",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
