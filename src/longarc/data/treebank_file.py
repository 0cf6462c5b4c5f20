"""Read and write treebank files in the format that their names select: JSON lines, or else CoNLL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from longarc.data import conll
from longarc.data.document import Document
from longarc.data.files import Source, open_output, source_name
from longarc.data.formats import format_of_path, format_suffix
from longarc.data.jsonl import read_jsonl, to_json
from longarc.data.raw_text import set_starts
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError


def read(source: Source, **options: Any) -> Iterator[Sentence]:
    """Yield the sentences of a file in CoNLL-U, CoNLL-X or JSON lines (`.jsonl`), in constant memory.

    The options are those of SentenceReader; `format` is only for CoNLL.

    >>> for sentence in longarc.read("examples/nonprojective.conllu"):
    ...     print(len(sentence), sentence.root.text)
    9 bought
    7 tried
    """
    return read_jsonl(source, **options) if _is_jsonl(source_name(source)) else conll.read(source, **options)


def read_all(source: Source, **options: Any) -> Document:
    """Return all sentences of a file in CoNLL-U, CoNLL-X or JSON lines; the options are those of SentenceReader.

    >>> doc = longarc.read_all("examples/nonprojective.conllu")
    >>> doc[0].is_projective
    False
    """
    if not _is_jsonl(source_name(source)):
        return conll.read_all(source, **options)
    document = Document(list(read_jsonl(source, **options)))
    set_starts(document)
    return document


def write(target: str | Path, sentences: Iterable[Sentence], *, encoding: str = "utf-8") -> None:
    """Write sentences to a file, or to standard output for `-`: JSON lines if the name ends in `.jsonl`, else CoNLL.

    A Document from a CoNLL file is written back byte for byte.

    >>> doc = longarc.read_all("examples/nonprojective.conllu")
    >>> longarc.write("copy.conllu", doc)
    >>> open("copy.conllu").read() == open("examples/nonprojective.conllu").read()
    True
    """
    if isinstance(sentences, Sentence):
        raise LongarcError("expected sentences, not one sentence", "Write [sentence].")
    suffix = format_suffix(target)
    if format_of_path(target) == "text" or suffix == ".json":
        raise LongarcError(f"{target}: {suffix} files are not treebanks", "Use the method `save` of a Document.")
    if not _is_jsonl(target):
        conll.write(target, sentences, encoding=encoding)
        return
    with open_output(target) as stream:
        for sentence in sentences:
            stream.write(conll.encode(to_json(sentence, sentence.probabilities) + "\n", encoding))


def _is_jsonl(name: str | Path) -> bool:
    return format_of_path(name) == "jsonl"
