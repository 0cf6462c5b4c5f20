"""A model as one `.longarc` file: a zip archive of ONNX graphs, a description in JSON and a card in JSON.

It is data and never code. Whatever is in a file, reading it runs nothing, writes nothing, and takes no more memory than
the limits below.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from longarc.data.files import open_output
from longarc.data.multiword import MultiwordRules
from longarc.data.spelling import Characters
from longarc.data.vocabulary import TAG_COLUMNS, Labels, Words
from longarc.errors import LongarcError
from longarc.runtime.weights import all_weights_are_numbers
from longarc.transitions import SYSTEMS
from longarc.trees.pseudo_projective import SCHEMES, Scheme

FORMAT = 1
GRAPH, SPELLING_GRAPH, RELATION_GRAPH = "model.onnx", "spelling.onnx", "relations.onnx"
TOKENIZER_GRAPH = "tokenizer.onnx"
DESCRIPTION, CARD = "model.json", "card.json"
MAX_GRAPH_BYTES = 1 << 30
MAX_JSON_BYTES = 1 << 28

# In an ONNX file a tensor whose numbers are in another file names that file under this key. Ours never do.
_EXTERNAL_DATA = b"\x0a\x08location"


@dataclass(frozen=True)
class TokenizerDescription:
    """What must be known beside its graph to split text."""

    characters: Characters
    has_spaces: bool
    """Whether a token may have a space in it"""
    multiword: MultiwordRules

    def numbers(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """The numbers of characters; 0 is none, for what is beyond the end of a text."""
        return 1 + self.characters.numbers(codes)

    @property
    def character_numbers(self) -> int:
        """How many different numbers there are."""
        return 1 + len(self.characters)

    @classmethod
    def from_json(cls, data: Any) -> TokenizerDescription | None:
        """None if it is not as expected."""
        if not isinstance(data, dict) or not isinstance(data.get("has_spaces"), bool):
            return None
        for table in (data.get("multiword_tokens"), data.get("multiword_endings")):
            if not isinstance(table, dict) or not all(_is_list_of_texts(words) and words for words in table.values()):
                return None
        if not isinstance(data.get("characters"), str):
            return None
        rules = MultiwordRules(data["multiword_tokens"], data["multiword_endings"])
        return cls(Characters(data["characters"]), data["has_spaces"], rules)

    def as_json(self) -> dict[str, Any]:
        return {
            "characters": self.characters.characters,
            "has_spaces": self.has_spaces,
            "multiword_tokens": self.multiword.tokens,
            "multiword_endings": self.multiword.endings,
        }


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


@dataclass(frozen=True)
class Description:
    """What must be known beside the graph to parse with it."""

    system: str
    scheme: Scheme
    single_root: bool
    words: Words
    characters: Characters | None
    """None where words are not spelled"""
    tags: dict[str, Labels]
    """The values of each column that the model predicts; see TAG_COLUMNS"""
    relations: Labels
    tokenizer: TokenizerDescription | None = None
    """None where the model has not learnt to split text"""

    @classmethod
    def from_json(cls, data: Mapping[str, Any], name: str) -> Description:
        """Checks everything, since the file may come from anywhere."""

        def wrong(key: str) -> LongarcError:
            return LongarcError(f"{name}: {key} is missing or not as expected", "Is the file a Longarc model?")

        def texts(key: str) -> list[str]:
            value = data.get(key, [])
            if not _is_list_of_texts(value) or len(set(value)) != len(value):
                raise wrong(key)
            assert isinstance(value, list)
            return value

        if data.get("format") != FORMAT:
            found = data.get("format")
            hint = "Use a newer version of Longarc." if isinstance(found, int) and found > FORMAT else ""
            raise LongarcError(f"{name}: model format {found!r}, this version reads {FORMAT}", hint)
        if data.get("system") not in SYSTEMS:
            raise wrong("system")
        if data.get("scheme") not in SCHEMES:
            raise wrong("scheme")
        if not isinstance(data.get("single_root"), bool):
            raise wrong("single_root")
        words = texts("words")
        if len(words) < 2 or not texts("tags") or not texts("relations"):
            raise wrong("words, tags or relations")
        characters = data.get("characters")
        if characters is not None and not isinstance(characters, str):
            raise wrong("characters")
        tags = {key: Labels(texts(key)) for key in TAG_COLUMNS}
        tokenizer = TokenizerDescription.from_json(data["tokenizer"]) if "tokenizer" in data else None
        if tokenizer is None and "tokenizer" in data:
            raise wrong("tokenizer")
        return cls(
            system=data["system"],
            scheme=data["scheme"],
            single_root=data["single_root"],
            words=Words(words, len(words)),
            characters=None if characters is None else Characters(characters),
            tags={key: labels for key, labels in tags.items() if len(labels)},
            relations=Labels(texts("relations")),
            tokenizer=tokenizer,
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "system": self.system,
            "scheme": self.scheme,
            "single_root": self.single_root,
            "words": self.words.forms,
            **({} if self.characters is None else {"characters": self.characters.characters}),
            **{key: labels.names for key, labels in self.tags.items()},
            "relations": self.relations.names,
            **({} if self.tokenizer is None else {"tokenizer": self.tokenizer.as_json()}),
        }


@dataclass(frozen=True)
class ModelFile:
    """The content of a model file."""

    graph: bytes
    spelling_graph: bytes
    """Reads the characters of words; empty where words are not spelled."""
    relation_graph: bytes
    """Finds the relations of chosen arcs; empty where the graph scores them together with the arcs."""
    tokenizer_graph: bytes
    """Splits text; empty where the model has not learnt that."""
    description: Description
    card: dict[str, Any]

    @property
    def graph_bytes(self) -> int:
        return sum(map(len, (self.graph, self.spelling_graph, self.relation_graph, self.tokenizer_graph)))


def write_model_file(target: Path, package: ModelFile) -> None:
    """Writes a model file; the same content gives the same bytes."""
    with open_output(target) as stream:
        _write_archive(stream, package)


def model_file_bytes(package: ModelFile) -> bytes:
    """A model file as bytes, for those who keep models in something else than files."""
    stream = io.BytesIO()
    _write_archive(stream, package)
    return stream.getvalue()


def _write_archive(stream: BinaryIO, package: ModelFile) -> None:
    graphs = {
        GRAPH: package.graph,
        SPELLING_GRAPH: package.spelling_graph,
        RELATION_GRAPH: package.relation_graph,
        TOKENIZER_GRAPH: package.tokenizer_graph,
    }
    entries = {
        **{name: graph for name, graph in graphs.items() if graph},
        DESCRIPTION: json.dumps(package.description.as_json(), ensure_ascii=False).encode(),
        CARD: json.dumps(package.card, ensure_ascii=False, indent=1).encode(),
    }
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            # Weights hardly get smaller by packing, and would take longer to load.
            info.compress_type = zipfile.ZIP_STORED if name.endswith(".onnx") else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)


def read_card(source: str | Path) -> dict[str, Any]:
    """The card of a model file, without looking at the rest."""
    with _archive(source, str(source)) as archive:
        return _json_entry(archive, CARD, str(source))


@contextmanager
def _archive(source: str | Path | BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    """The archive while it is read; whatever is wrong with it is a LongarcError."""
    try:
        with zipfile.ZipFile(source) as archive:
            yield archive
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise LongarcError(f"{name}: cannot be read: {error.strerror}") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        struct.error,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise LongarcError(f"{name}: not a Longarc model, or damaged: {error}") from None


def read_model_file(source: str | Path | BinaryIO) -> ModelFile:
    """Reads a model file; anything that is not one is a LongarcError."""
    name = str(source) if isinstance(source, (str, Path)) else str(getattr(source, "name", "<stream>"))
    with _archive(source, name) as archive:
        graph = _graph_entry(archive, GRAPH, name)
        spelling, relations, tokenizer = (
            _graph_entry(archive, entry, name) if entry in archive.namelist() else b""
            for entry in (SPELLING_GRAPH, RELATION_GRAPH, TOKENIZER_GRAPH)
        )
        description = Description.from_json(_json_entry(archive, DESCRIPTION, name), name)
        card = _json_entry(archive, CARD, name)
    for what, known, found in (
        ("characters", description.characters, spelling),
        ("a tokeniser", description.tokenizer, tokenizer),
    ):
        if (known is None) == bool(found):
            raise LongarcError(f"{name}: {what} without a graph or the reverse", "The file is damaged; get it anew.")
    return ModelFile(graph, spelling, relations, tokenizer, description, card)


def _graph_entry(archive: zipfile.ZipFile, entry: str, name: str) -> bytes:
    graph = _entry(archive, entry, MAX_GRAPH_BYTES, name)
    try:
        if not all_weights_are_numbers(graph):
            raise LongarcError(f"{name}: some of its weights are not numbers", "The file is damaged; get it anew.")
    except ValueError:
        raise LongarcError(f"{name}: {entry} is not an ONNX graph") from None
    if _EXTERNAL_DATA in graph:
        raise LongarcError(f"{name}: {entry} refers to other files, which a Longarc model never does")
    return graph


def _entry(archive: zipfile.ZipFile, entry: str, limit: int, name: str) -> bytes:
    try:
        info = archive.getinfo(entry)
    except KeyError:
        raise LongarcError(f"{name}: not a Longarc model: it has no {entry}") from None
    if info.file_size > limit:
        raise LongarcError(f"{name}: {entry} claims {info.file_size:,} bytes, more than the limit of {limit:,}")
    with archive.open(info) as stream:
        content = stream.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise LongarcError(f"{name}: {entry} is not as long as it claims to be")
    return content


def _json_entry(archive: zipfile.ZipFile, entry: str, name: str) -> dict[str, Any]:
    try:
        data = json.loads(_entry(archive, entry, MAX_JSON_BYTES, name))
    except (ValueError, RecursionError):
        raise LongarcError(f"{name}: {entry} is not valid JSON") from None
    if not isinstance(data, dict):
        raise LongarcError(f"{name}: {entry} is not a JSON object")
    return data
