"""Fetch and verify the treebanks and word vectors that experiments and recipes use; `treebanks.toml` lists them."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar
from urllib.parse import urldefrag, urljoin
from urllib.request import urlopen
from zipfile import BadZipFile, ZipFile

import msgspec
import msgspec.structs

from longarc.data.files import open_output, read_chunks
from longarc.data.schema import convert, read_toml
from longarc.errors import LongarcError

FOLDER_VARIABLE = "LONGARC_TREEBANKS"
Action = Literal["already there", "copied", "downloaded"]
S = TypeVar("S", bound=msgspec.Struct)


class SourceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sha256: str
    """Checksum of the uncompressed content."""
    path: str = ""
    """Relative to the repository at its revision, or a URL; `#MEMBER` is a file in a zip archive."""


class TreebankSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    licence: str
    repository: str
    revision: str
    files: dict[str, SourceFile]
    note: str = ""
    """How the files without a path were made."""

    def url(self, file: SourceFile) -> str:
        raw = self.repository.replace("https://github.com/", "https://raw.githubusercontent.com/")
        return urljoin(f"{raw}/{self.revision}/", file.path)


@cache
def treebank_sources() -> dict[str, TreebankSource]:
    """Return all known sources by name."""
    path = Path(__file__).with_name("treebanks.toml")
    return convert(read_toml(path), dict[str, TreebankSource], str(path))


def find_source(name: str) -> TreebankSource:
    """Return the source of a treebank."""
    sources = treebank_sources()
    if name not in sources:
        raise LongarcError(f"unknown treebank {name!r}", f"Known treebanks and word vectors: {', '.join(sources)}.")
    return sources[name]


def data_folder() -> Path:
    """Return the folder of fetched treebanks: $LONGARC_TREEBANKS, or `treebanks` in the working directory."""
    return Path(os.environ.get(FOLDER_VARIABLE) or "treebanks")


PRETRAINED = ("vectors", "subwords", "pretrained")
"""The keys of files that are no treebanks."""


class WithFiles(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a TOML file some of whose values are paths."""

    @property
    def files(self) -> dict[str, Path]:
        """All files to read, by key."""
        return path_fields(self)

    @property
    def pretrained_files(self) -> list[Path]:
        """The files of pretrained vectors and encoders."""
        return [path for key, path in self.files.items() if key in PRETRAINED]


def path_fields(struct: msgspec.Struct) -> dict[str, Path]:
    """Return the paths among the fields of a struct by field name."""
    return {name: value for name, value in msgspec.structs.asdict(struct).items() if isinstance(value, Path)}


def resolve_paths(struct: S, folder: Path) -> S:
    """Return a copy of what was read from a file in `folder`, with all paths resolved.

    Paths are relative to `folder`; `$LONGARC_TREEBANKS/...` is a path in the data folder.
    """
    return msgspec.structs.replace(
        struct, **{name: _resolved(path, folder) for name, path in path_fields(struct).items()}
    )


def _resolved(path: Path, folder: Path) -> Path:
    if path.parts[:1] != (f"${FOLDER_VARIABLE}",):
        return folder / path
    return _or_compressed(data_folder().joinpath(*path.parts[1:]))


def require_files(paths: Mapping[str, Path], origin: Path) -> None:
    """Raise if files do not exist that the file `origin` names; `paths` has a description of each."""
    missing = {label: path for label, path in paths.items() if not path.is_file()}
    if not missing:
        return
    count = "a file is missing" if len(missing) == 1 else f"{len(missing)} files are missing"
    message = "\n  ".join([f"{origin}: {count}", *(f"{label}: {path}" for label, path in missing.items())])
    to_fetch = {path.parent.name: "" for path in missing.values() if path.parent.parent == data_folder()}
    hint = f"Paths are relative to the folder of {origin.name}; ${FOLDER_VARIABLE} is the folder {data_folder()}."
    raise LongarcError(message, f"{hint} Fetch first: {', '.join(to_fetch)}." if to_fetch else hint)


def _or_compressed(path: Path) -> Path:
    """Return the path, or that of the compressed file if there is only that."""
    compressed = [path.with_name(path.name + suffix) for suffix in (".xz", ".gz")]
    return next((candidate for candidate in (path, *compressed) if candidate.is_file()), path)


def fetch_treebank(name: str, folder: Path, local: Path | None = None) -> Iterator[tuple[Path, Action]]:
    """Write the files of a treebank to `folder/name`, and yield each path with what was done.

    The files are downloaded, or copied from `local/name` (compressed or not). A file whose checksum is wrong is not
    written. Raise at the end if there are files that cannot be downloaded.
    """
    source = find_source(name)
    not_available = []
    for file_name, file in source.files.items():
        target = _or_compressed(folder / name / file_name)
        if target.is_file() and _checksum(read_chunks(target)) == file.sha256:
            yield target, "already there"
        elif local is not None:
            path = _or_compressed(local / name / file_name)
            yield _write(read_chunks(path), folder / name / file_name, file.sha256, str(path)), "copied"
        elif file.path:
            url = source.url(file)
            yield _write(_download(url), folder / name / file_name, file.sha256, url), "downloaded"
        else:
            not_available.append(file_name)
    if not_available:
        raise LongarcError(
            f"{name}: cannot be downloaded: {', '.join(not_available)}. {source.note}",
            f"Source: {source.repository}, revision {source.revision}. "
            f"If you have the files, put them into a folder {name} and fetch them from the folder above it.",
        )


def _write(chunks: Iterable[bytes], target: Path, sha256: str, origin: str) -> Path:
    """Write the content to `target` if its checksum is right."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LongarcError(f"{target.parent}: cannot be created: {error.strerror}") from None
    with open_output(target) as stream:
        checksum = _checksum(chunks, stream)
        if checksum != sha256:
            message = f"{origin}: the SHA-256 checksum of the content is {checksum}, expected {sha256}"
            raise LongarcError(message, "The file is damaged or another version. Nothing was written.")
    return target


def _checksum(chunks: Iterable[bytes], copy: BinaryIO | None = None) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        if copy is not None:
            copy.write(chunk)
    return digest.hexdigest()


def _download(url: str) -> Iterator[bytes]:
    """Yield the content of a file, or of the member of a zip archive that the URL's fragment names."""
    address, member = urldefrag(url)
    try:
        with urlopen(address, timeout=60) as response:
            if member:
                yield ZipFile(io.BytesIO(response.read())).read(member)
            else:
                yield from iter(lambda: response.read(1 << 20), b"")
    except (OSError, HTTPException, BadZipFile, KeyError) as error:
        hint = "Check the network connection, or fetch from a local folder that has the file."
        raise LongarcError(f"{url}: cannot be downloaded: {getattr(error, 'reason', error)}", hint) from None
