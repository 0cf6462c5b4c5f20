"""A model as one `.longarc` file: a zip archive of ONNX graphs, a description in JSON and a card in JSON.

It is data and never code. Reading a file runs nothing and writes nothing, and sizes are checked before data is read.
"""

from __future__ import annotations

import hashlib
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

from longarc.data.characters import CATEGORY_NUMBERS
from longarc.data.files import open_output
from longarc.data.language_profile import SIZE, LanguageProfile
from longarc.errors import LongarcError
from longarc.runtime.description import Description
from longarc.runtime.features import MAIN, TableRows
from longarc.runtime.graph_check import check_graph
from longarc.runtime.installed_models import EMBEDDED
from longarc.runtime.untrusted_json import check_values, printable, read_object

RELATIONS, TOKENIZER = "relations", "tokenizer"
"""The names of the graphs besides MAIN; an encoder may need others, see Featurizer.graphs."""
DESCRIPTION, CARD, PROFILE = "model.json", "card.json", "language.bin"
DIGESTS = "SHA256SUMS"
MAX_GRAPH_BYTES = 1 << 30
MAX_COMPRESSED_BYTES = 4 << 20
"""Larger graphs are not compressed: that saves only a tenth of their size and makes loading slower, and in the file of
somebody else, a small entry could become a graph of a gigabyte."""
MAX_JSON = {DESCRIPTION: (32 << 20, 2_500_000), CARD: (1 << 20, 10_000)}
"""The bytes and values of the JSON files; a description with a million words has about 12 MB."""
MAX_ENTRIES = 64
MAX_CARD_TEXT = 100_000
CARD_TEXTS = {"name", "treebank", "licence", "attribution", "precision", "command", "date"}
CARD_SCORES = {"scores", "float32_scores"}

DAMAGED = "The file is damaged; get it again."


@dataclass(frozen=True)
class ModelFile:
    """The content of a model file."""

    graphs: dict[str, bytes]
    """ONNX graphs by name: `model` scores transitions, `relations` labels chosen arcs, `tokenizer` splits text"""
    description: Description
    card: dict[str, Any]
    profile: LanguageProfile | None = None
    """By which `--lang auto` recognizes the language; models of earlier versions have none"""

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
        CARD: json.dumps(printable(model.card), ensure_ascii=False, indent=1).encode(),
        **({} if model.profile is None else {PROFILE: model.profile.to_bytes()}),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED if _may_be_compressed(name, len(content)) else zipfile.ZIP_STORED
            archive.writestr(info, content)
    return stream.getvalue()


def _may_be_compressed(entry: str, size: int) -> bool:
    """Return whether an entry of this size may be compressed."""
    return not entry.endswith(".onnx") or size <= MAX_COMPRESSED_BYTES


def read_card(source: str | Path) -> dict[str, Any]:
    """Read only the card of a model file."""
    with _archive(source, str(source)) as archive:
        return _card(archive, str(source))


def read_profile(source: str | Path) -> LanguageProfile | None:
    """Read only the language profile of a model file; return None if it has none."""
    with _archive(source, str(source)) as archive:
        return _profile(archive, str(source))


def read_model_file(source: str | Path | BinaryIO) -> ModelFile:
    """Read a model file; raise LongarcError for anything else."""
    name = str(source) if isinstance(source, (str, Path)) else str(getattr(source, "name", "<stream>"))
    if isinstance(source, (str, Path)):
        _check_digest(Path(source))
    with _archive(source, name) as archive:
        description = Description.from_json(_json_entry(archive, DESCRIPTION, name), name)
        names = {f"{graph}.onnx": graph for graph in graph_names(description)}
        present = {entry for entry in archive.namelist() if entry.endswith(".onnx")}
        if RELATIONS not in {names.get(entry) for entry in present}:
            hint = "Package the model again with this version of Longarc."
            raise LongarcError(f"{name}: the model has no graph for relations", hint)
        if different := present ^ names.keys():
            raise LongarcError(f"{name}: {min(different)!a} does not fit the model's description", DAMAGED)
        graphs = {graph: _graph_entry(archive, graph, description, name) for graph in names.values()}
        return ModelFile(graphs, description, _card(archive, name), _profile(archive, name))


def _check_digest(path: Path) -> None:
    """Raise if a model that comes with Longarc is not the one that was released."""
    if path.parent != EMBEDDED or not (EMBEDDED / DIGESTS).is_file():
        return
    digests = dict(line.split()[::-1] for line in (EMBEDDED / DIGESTS).read_text("ascii").splitlines())
    if path.name in digests and path.is_file():
        digest = hashlib.sha256()
        with path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        if digest.hexdigest() != digests[path.name]:
            raise LongarcError(f"{path}: not the model that was released with Longarc", "Install Longarc again.")


@contextmanager
def _archive(source: str | Path | BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive; turn every problem with it into a LongarcError."""
    try:
        with zipfile.ZipFile(source) as archive:
            if len(archive.filelist) > MAX_ENTRIES:
                raise LongarcError(f"{name}: not a Longarc model: it has more than {MAX_ENTRIES} entries")
            yield archive
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise LongarcError(f"{name}: cannot be read: {error.strerror}") from None
    except MemoryError:
        raise LongarcError(f"{name}: the model needs more memory than is available") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        struct.error,
        NotImplementedError,
        RuntimeError,
        UnicodeDecodeError,
    ) as error:
        raise LongarcError(f"{name}: not a Longarc model, or damaged: {ascii(str(error))[1:-1]}") from None


def _graph_entry(archive: zipfile.ZipFile, graph: str, description: Description, name: str) -> bytes:
    entry = f"{graph}.onnx"
    content = _entry(archive, entry, MAX_GRAPH_BYTES, name)
    try:
        check_graph(content, table_rows(description).get(graph, {}), len(description.relations))
    except ValueError as error:
        raise LongarcError(f"{name}: {entry} is not a graph that Longarc writes: {error}", DAMAGED) from None
    return content


def table_rows(description: Description) -> TableRows:
    """Return how many rows the table has from which each input of a graph selects."""
    rows = description.features.table_rows()
    if description.tokenizer is not None:
        rows[TOKENIZER] = {"characters": description.tokenizer.character_numbers, "categories": CATEGORY_NUMBERS}
    return rows


def _entry(archive: zipfile.ZipFile, entry: str, limit: int, name: str) -> bytes:
    try:
        info = archive.getinfo(entry)
    except KeyError:
        raise LongarcError(f"{name}: not a Longarc model: it has no {entry}") from None
    if info.file_size > limit:
        raise LongarcError(f"{name}: {entry} claims {info.file_size:,} bytes, more than the limit of {limit:,}")
    compressions = [zipfile.ZIP_STORED]
    if _may_be_compressed(entry, info.file_size):
        compressions.append(zipfile.ZIP_DEFLATED)
    if info.compress_type not in compressions:
        raise LongarcError(f"{name}: {entry} is not compressed in the expected way")
    try:
        with archive.open(info) as stream:
            content = stream.read(info.file_size + 1)
    except (ValueError, OverflowError) as error:  # a damaged position
        raise zipfile.BadZipFile(str(error)) from None
    if len(content) != info.file_size:
        raise LongarcError(f"{name}: {entry} does not have the length that the archive claims")
    return content


def _json_entry(archive: zipfile.ZipFile, entry: str, name: str) -> dict[str, Any]:
    max_bytes, max_values = MAX_JSON[entry]
    content = _entry(archive, entry, max_bytes, name)
    try:
        return read_object(content, max_values)
    except ValueError as error:
        raise LongarcError(f"{name}: {entry}: {error}", DAMAGED) from None


def _card(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    card = _json_entry(archive, CARD, name)
    try:
        check_values(card, MAX_CARD_TEXT)
        for key, value in card.items():
            _check_card_value(key, value)
    except ValueError as error:
        raise LongarcError(f"{name}: {CARD}: {error}", DAMAGED) from None
    return card


def _profile(archive: zipfile.ZipFile, name: str) -> LanguageProfile | None:
    if PROFILE not in archive.namelist():
        return None
    try:
        return LanguageProfile.from_bytes(_entry(archive, PROFILE, SIZE, name))
    except ValueError as error:
        raise LongarcError(f"{name}: {PROFILE}: {error}", DAMAGED) from None


def _check_card_value(key: str, value: Any) -> None:
    if key in CARD_TEXTS and not isinstance(value, str):
        raise ValueError(f"{key} is {ascii(value)[:100]}, expected text")
    if key in CARD_SCORES and not (isinstance(value, dict) and all(map(_is_number, value.values()))):
        raise ValueError(f"{key} is {ascii(value)[:100]}, expected numbers by name")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
