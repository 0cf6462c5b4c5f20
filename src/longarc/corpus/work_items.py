"""The unit of work: the documents, or the part of a long document, that become one shard of the output.

An item travels between processes as one row of an Arrow table. Documents travel as text or as CoNLL-U, not as objects.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import pyarrow as pa

PartKind = Literal["text", "split", "conll", "conllu", "conllx", "jsonl"]
"""`text` is a document in UTF-8, and `split` one that was split into sentences, in CoNLL-U. The others are treebanks:
`conll` is CoNLL-U or CoNLL-X, to be detected; `jsonl` contains sentences."""


@dataclass(frozen=True)
class Part:
    """A document, or a part of one that is cut between two sentences."""

    id: str
    kind: PartKind
    content: bytes
    path: str
    """The file that it comes from"""
    first_line: int = 0
    """Lines of the file before the part"""
    sentences_before: int = 0
    """Sentences of the document before the part"""
    continues: bool = False
    """Whether the document starts in an earlier part"""
    is_cut: bool = False
    """Whether its file or document fills several items; it shares an item with no other"""


@dataclass(frozen=True)
class Failure:
    """A document, or a sentence of a treebank, that could not be parsed."""

    id: str
    path: str
    line: int
    """0 if unknown"""
    reason: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class WorkItem:
    """Parts that are parsed together and written as one shard."""

    name: str
    """The name of the shard, without the suffix"""
    parts: list[Part] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    """Documents that could not be read"""
    input_bytes: int = 0
    """Bytes of the input files that were read for the item, before decompression"""

    def to_table(self) -> pa.Table:
        """Return the item as a table with one row."""
        contents = pa.array([[part.content for part in self.parts]], pa.list_(pa.large_binary()))
        header = {
            "name": self.name,
            "parts": [{key: value for key, value in vars(part).items() if key != "content"} for part in self.parts],
            "failures": [failure.as_json() for failure in self.failures],
            "input_bytes": self.input_bytes,
        }
        return pa.table({"header": pa.array([json.dumps(header)]), "contents": contents})

    @classmethod
    def from_table(cls, table: pa.Table) -> WorkItem:
        """Return the item in a table with one row."""
        header = json.loads(table.column("header")[0].as_py())
        contents = table.column("contents")[0].as_py()
        return cls(
            header["name"],
            [Part(content=content, **part) for part, content in zip(header["parts"], contents, strict=True)],
            [Failure(**failure) for failure in header["failures"]],
            header["input_bytes"],
        )
