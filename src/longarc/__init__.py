"""Longarc: a non-projective dependency parser that is fast on a CPU and keeps everything else in its input as is."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longarc.data.conll import SentenceReader
    from longarc.data.document import Document
    from longarc.data.sentence import Sentence
    from longarc.data.treebank_file import read, read_all, write
    from longarc.data.word import Arc, Token, Word
    from longarc.errors import InputError, LongarcError
    from longarc.runtime.parser import Parser, load
    from longarc.runtime.pipeline import parse_files

__version__ = "0.1.0"

# Names are imported on first use, so that `longarc --help` does not wait for numpy.
_MODULES = {
    "Arc": "longarc.data.word",
    "Document": "longarc.data.document",
    "InputError": "longarc.errors",
    "LongarcError": "longarc.errors",
    "Parser": "longarc.runtime.parser",
    "Sentence": "longarc.data.sentence",
    "SentenceReader": "longarc.data.conll",
    "Token": "longarc.data.word",
    "Word": "longarc.data.word",
    "load": "longarc.runtime.parser",
    "parse_files": "longarc.runtime.pipeline",
    "read": "longarc.data.treebank_file",
    "read_all": "longarc.data.treebank_file",
    "write": "longarc.data.treebank_file",
}

__all__ = [
    "Arc",
    "Document",
    "InputError",
    "LongarcError",
    "Parser",
    "Sentence",
    "SentenceReader",
    "Token",
    "Word",
    "__version__",
    "load",
    "parse_files",
    "read",
    "read_all",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
