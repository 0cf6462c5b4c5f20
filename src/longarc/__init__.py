"""Longarc: a dependency parser that is non-projective by nature, fast on a plain CPU, and loses nothing of its input."""

from longarc.data.conll import SentenceReader, Treebank, read, read_all, write
from longarc.data.sentence import Sentence
from longarc.errors import InputError, LongarcError

__version__ = "0.1.0"

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
