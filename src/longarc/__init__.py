"""Longarc: a non-projective dependency parser that is fast on a CPU and keeps everything else in its input as is."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longarc.data.conll import SentenceReader, Treebank, read, read_all, write
    from longarc.data.sentence import Sentence
    from longarc.errors import InputError, LongarcError
    from longarc.runtime.parsed import ParsedSentence, Token
    from longarc.runtime.parser import Parser, load

__version__ = "0.1.0"

# Names are imported on first use, so that `longarc --help` does not wait for numpy.
_MODULES = {
    "InputError": "longarc.errors",
    "LongarcError": "longarc.errors",
    "Sentence": "longarc.data.sentence",
    "SentenceReader": "longarc.data.conll",
    "Treebank": "longarc.data.conll",
    "ParsedSentence": "longarc.runtime.parsed",
    "Parser": "longarc.runtime.parser",
    "Token": "longarc.runtime.parsed",
    "load": "longarc.runtime.parser",
    "read": "longarc.data.conll",
    "read_all": "longarc.data.conll",
    "write": "longarc.data.conll",
}

__all__ = [
    "InputError",
    "LongarcError",
    "ParsedSentence",
    "Parser",
    "Sentence",
    "SentenceReader",
    "Token",
    "Treebank",
    "__version__",
    "load",
    "read",
    "read_all",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
