"""Download models that an index lists: a JSON file with the address, size, checksum and licence of each model.

The index is a URL or a local folder with a file index.json. A download that was interrupted continues; a model gets its
name in the user's folder only when its checksum is right.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Annotated, BinaryIO, cast
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import msgspec

from longarc.data.schema import convert
from longarc.errors import LongarcError
from longarc.runtime.installed_models import SUFFIX, match_names, user_folder

INDEX_VARIABLE = "LONGARC_INDEX"
INDEX_FILE = "index.json"
MAX_INDEX_BYTES = 10_000_000
TIMEOUT = 60
CHUNK = 1 << 20
HTTP_PARTIAL = 206

Progress = Callable[[int], None]
"""Called with the number of bytes that have arrived."""


class ListedModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of an index."""

    url: Annotated[str, msgspec.Meta(min_length=1)]
    """Where the file is, relative to the index"""
    bytes: Annotated[int, msgspec.Meta(gt=0)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    licence: str
    language: str = ""
    """The code of the language, such as `da`"""
    treebank: str = ""
    las: float | None = None
    """On the development data"""


class _Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: dict[Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")], ListedModel]


class ModelIndex:
    """The models of an index."""

    def __init__(self, address: str | None = None) -> None:
        """Read the index at an address: a URL, a file, or a folder with a file index.json; $LONGARC_INDEX by
        default."""
        address = address or os.environ.get(INDEX_VARIABLE)
        if not address:
            hint = f"Name its URL, file or folder with --index or in the environment variable {INDEX_VARIABLE}."
            raise LongarcError("there is no index of models", hint)
        self.address = address if _is_url(address) else _index_file(Path(address)).as_uri()
        with _open(self.address) as stream:
            content = _read(stream, MAX_INDEX_BYTES + 1)
        if len(content) > MAX_INDEX_BYTES:
            raise LongarcError(f"{address}: the index is larger than {MAX_INDEX_BYTES:,} bytes")
        try:
            values = msgspec.json.decode(content)
        except msgspec.DecodeError as error:
            raise LongarcError(f"{address}: not an index of models: {error}") from None
        self.models = convert(values, _Index, address).models

    def find(self, name: str) -> str:
        """Return the name of the model that a name or a language stands for."""
        languages = {known: model.language for known, model in self.models.items()}
        matches = match_names(name, languages)
        if len(matches) == 1:
            return matches[0]
        names = ", ".join(matches or languages)
        message = f"{name}: several models in the index" if matches else f"{name}: not in the index"
        raise LongarcError(message, f"Choose from {names}.")

    def download(self, name: str, progress: Progress = lambda _: None) -> Path:
        """Download a model to the user's folder and return its path. Do nothing if it is there already."""
        model, target = self.models[name], user_folder() / f"{name}{SUFFIX}"
        if target.is_file() and _checksum(target) == model.sha256:
            progress(model.bytes)
            return target
        partial = target.with_name(f"{target.name}.{model.sha256[:16]}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._fetch(model, partial, progress)
            checksum = _checksum(partial)
            if checksum != model.sha256:
                partial.unlink()
                message = f"{name}: the SHA-256 checksum of the download is {checksum}, expected {model.sha256}"
                raise LongarcError(message, "Nothing was installed. Try again; if that does not help, tell the owner.")
            partial.replace(target)
        except OSError as error:
            raise LongarcError(f"{target}: cannot be written: {error.strerror}") from None
        return target

    def _fetch(self, model: ListedModel, partial: Path, progress: Progress) -> None:
        """Download what is missing of a file."""
        start = partial.stat().st_size if partial.exists() else 0
        if start == model.bytes:
            return
        start = start if start < model.bytes else 0
        with _open(urljoin(self.address, model.url), start) as stream:
            is_partial = getattr(stream, "status", HTTP_PARTIAL) == HTTP_PARTIAL
            received = start if is_partial else 0
            with partial.open("ab" if received else "wb") as output:
                while chunk := _read(stream):
                    received += len(chunk)
                    if received > model.bytes:
                        partial.unlink()
                        raise LongarcError(f"{model.url}: the file is larger than the {model.bytes:,} bytes announced")
                    output.write(chunk)
                    progress(received)


def _index_file(path: Path) -> Path:
    """Return the file of a local index; raise if there is none."""
    file = (path / INDEX_FILE if path.is_dir() else path).absolute()
    if not file.is_file():
        hint = f"Name a file, or a folder with a file {INDEX_FILE}."
        raise LongarcError(f"{path}: there is no index of models", hint)
    return file


def _is_url(address: str) -> bool:
    return address.startswith(("https://", "http://", "file://"))


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        digest = hashlib.sha256()
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _open(url: str, start: int = 0) -> Iterator[BinaryIO | HTTPResponse]:
    """Open a URL at a byte of its content, if the server can do that; see the status of the response."""
    if not _is_url(url):
        raise LongarcError(f"{url}: expected an address that starts with https://, http:// or file://")
    request = Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        response = urlopen(request, timeout=TIMEOUT)
    except (OSError, HTTPException, ValueError) as error:
        message = f"{url}: cannot be read: {getattr(error, 'reason', error)}"
        raise LongarcError(message, "Check the address of the index and the network connection.") from None
    with response:
        if url.startswith("file://"):
            response.fp.seek(start)
            yield cast(BinaryIO, response.fp)
        else:
            yield cast(HTTPResponse, response)


def _read(stream: BinaryIO | HTTPResponse, size: int = CHUNK) -> bytes:
    try:
        return stream.read(size)
    except (OSError, HTTPException) as error:
        raise LongarcError(f"the download stopped: {error}", "Run the same command again to continue it.") from None
