"""How to read, parse and write a corpus."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

CorpusInput = Literal["text", "lines", "conll", "jsonl", "parquet"]
"""`text`: a file is a document; `lines`: a line is one; `conll`: `# newdoc` or the file; `jsonl`, `parquet`: a row."""

CorpusFormat = Literal["parquet", "conllu", "jsonl"]


@dataclass(frozen=True)
class CorpusOptions:
    """Everything that determines the output besides the input files and the model."""

    format: CorpusFormat = "parquet"
    input: CorpusInput | None = None
    """None: detect it from the file name and the content"""
    column: str | None = None
    """The column of JSON lines and Parquet that contains the text; None: `text`"""
    id_column: str | None = None
    """The column with the id of the document; None: `id` if there is one, else the file and the number of the row"""
    encoding: str = "utf-8"
    keep_tags: bool = False
    probabilities: bool = False
    ranges: bool = False
    """Add the position of each token in its document to MISC"""
    beam: int = 1
    memory: int = 256
    """Megabytes for the sentences that a worker parses at once"""
    separate: bool = False
    """Parse each document alone, also if several short ones could share a batch"""
    shard_bytes: int = 1 << 20
    """Text in a shard, approximately"""

    @property
    def with_ranges(self) -> bool:
        """Whether tokens get their position in the document; Parquet always contains it."""
        return self.ranges or self.format == "parquet"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CorpusOptions:
        return cls(**data)
