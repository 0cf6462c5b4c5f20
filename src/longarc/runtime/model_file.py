"""A model as one `.longarc` file: a zip archive of ONNX graphs, a description in JSON and a card in JSON.

It is data and never code. Reading a file runs nothing, writes nothing, and takes no more memory than the limits below.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from longarc.data.files import open_output
from longarc.errors import LongarcError
from longarc.runtime.description import Description
from longarc.runtime.weights import all_weights_are_numbers

MAIN, RELATIONS, TOKENIZER = "model", "relations", "tokenizer"
"""The names of the graphs; an encoder may need others, see Featurizer.graphs."""
DESCRIPTION, CARD = "model.json", "card.json"
MAX_GRAPH_BYTES = 1 << 30
MAX_JSON_BYTES = 1 << 28

DAMAGED = "The file is damaged; get it again."

# A tensor whose numbers are in another file names that file under this key. Ours never do.
_EXTERNAL_DATA = b"\x0a\x08location"


@dataclass(frozen=True)
class ModelFile:
    """The content of a model file."""

    graphs: dict[str, bytes]
    """ONNX graphs by name: `model` scores transitions, `relations` labels chosen arcs, `tokenizer` splits text"""
    description: Description
    card: dict[str, Any]

    @property
    def graph_bytes(self) -> int:
        return sum(map(len, self.graphs.values()))


def graph_names(description: Description) -> list[str]:
    """Return the names of the graphs that a model with this description needs."""
    tokenizer = [] if description.tokenizer is None else [TOKENIZER]
    return [MAIN, *description.features.graphs, RELATIONS, *tokenizer]


def write_model_file(target: Path, model: ModelFile) -> None:
    """Write a model file; equal content gives equal bytes."""
    with open_output(target) as stream:
        stream.write(model_file_bytes(model))


def model_file_bytes(model: ModelFile) -> bytes:
    """Return a model file as bytes."""
    entries = {
        **{f"{name}.onnx": model.graphs[name] for name in graph_names(model.description)},
        DESCRIPTION: json.dumps(model.description.as_json(), ensure_ascii=False).encode(),
        CARD: json.dumps(model.card, ensure_ascii=False, indent=1).encode(),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            # Compression hardly shrinks weights and makes loading slower.
            info.compress_type = zipfile.ZIP_STORED if name.endswith(".onnx") else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return stream.getvalue()


def read_card(source: str | Path) -> dict[str, Any]:
    """Read only the card of a model file."""
    with _archive(source, str(source)) as archive:
        return _json_entry(archive, CARD, str(source))


def read_model_file(source: str | Path | BinaryIO) -> ModelFile:
    """Read a model file; raise LongarcError for anything else."""
    name = str(source) if isinstance(source, (str, Path)) else str(getattr(source, "name", "<stream>"))
    with _archive(source, name) as archive:
        description = Description.from_json(_json_entry(archive, DESCRIPTION, name), name)
        names = {f"{graph}.onnx": graph for graph in graph_names(description)}
        present = {entry for entry in archive.namelist() if entry.endswith(".onnx")}
        if RELATIONS not in {names.get(entry) for entry in present}:
            hint = "Package the model again with this version of Longarc."
            raise LongarcError(f"{name}: the model has no graph for relations", hint)
        if different := present ^ names.keys():
            raise LongarcError(f"{name}: {min(different)} does not fit the model's description", DAMAGED)
        graphs = {graph: _graph_entry(archive, entry, name) for entry, graph in names.items()}
        return ModelFile(graphs, description, _json_entry(archive, CARD, name))


@contextmanager
def _archive(source: str | Path | BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive; turn every problem with it into a LongarcError."""
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


def _graph_entry(archive: zipfile.ZipFile, entry: str, name: str) -> bytes:
    graph = _entry(archive, entry, MAX_GRAPH_BYTES, name)
    try:
        if not all_weights_are_numbers(graph):
            raise LongarcError(f"{name}: {entry} contains weights that are not numbers", DAMAGED)
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
        raise LongarcError(f"{name}: {entry} does not have the length that the archive claims")
    return content


def _json_entry(archive: zipfile.ZipFile, entry: str, name: str) -> dict[str, Any]:
    try:
        data = json.loads(_entry(archive, entry, MAX_JSON_BYTES, name))
    except (ValueError, RecursionError):
        raise LongarcError(f"{name}: {entry} is not valid JSON") from None
    if not isinstance(data, dict):
        raise LongarcError(f"{name}: {entry} is not a JSON object")
    return data
