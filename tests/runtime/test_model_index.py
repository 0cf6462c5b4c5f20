"""Downloads: resumed, verified before they are installed, and with messages for everything that can be wrong."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from longarc.errors import LongarcError
from longarc.runtime.installed_models import find_model
from longarc.runtime.model_index import ModelIndex
from tests.helpers.command import longarc

CONTENT = bytes(range(256)) * 9000


def write_index(folder: Path, **changes: Any) -> str:
    """Write an index with one model, and the model; return the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "da_ddt.longarc").write_bytes(CONTENT)
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    entry = {"url": "da_ddt.longarc", "bytes": len(CONTENT), "sha256": sha256, "licence": "CC BY-SA 4.0"}
    entry |= {"language": "da", "treebank": "UD_Danish-DDT", "las": 85.7, **changes}
    (folder / "index.json").write_text(json.dumps({"models": {"da_ddt": entry}}))
    return str(folder)


class RangeHandler(SimpleHTTPRequestHandler):
    """Serves a folder, from the byte that a request names if `ranges` is set; counts the bytes it has sent."""

    ranges = True
    sent = 0

    def do_GET(self) -> None:
        content = Path(self.translate_path(self.path)).read_bytes()
        start = int(self.headers.get("Range", "bytes=0-")[6:-1]) if self.ranges else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        type(self).sent += len(content) - start
        self.wfile.write(content[start:])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The URL of an index on this machine."""
    folder = write_index(tmp_path / "index")
    RangeHandler.sent, RangeHandler.ranges = 0, True
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(RangeHandler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.json"
        server.shutdown()


def test_a_folder_is_an_index(model_folders: Path, tmp_path: Path) -> None:
    index = ModelIndex(write_index(tmp_path / "index"))
    arrived: list[int] = []
    path = index.download(index.find("danish"), arrived.append)
    assert path == find_model("da_ddt") == model_folders / "own" / "da_ddt.longarc"
    assert path.read_bytes() == CONTENT
    assert arrived[-1] == len(CONTENT)
    assert sorted(file.name for file in path.parent.iterdir()) == ["da_ddt.longarc", "latin.longarc"]


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_download_continues(address: str, model_folders: Path, ranges: bool) -> None:
    RangeHandler.ranges = ranges
    index = ModelIndex(address)

    class InterruptedDownloadError(Exception):
        pass

    def interrupt(count: int) -> None:
        raise InterruptedDownloadError

    with pytest.raises(InterruptedDownloadError):
        index.download("da_ddt", interrupt)
    assert not (model_folders / "own" / "da_ddt.longarc").exists()
    RangeHandler.sent = 0
    assert index.download("da_ddt").read_bytes() == CONTENT
    assert (RangeHandler.sent < len(CONTENT)) == ranges
    RangeHandler.sent = 0
    index.download("da_ddt")
    assert RangeHandler.sent == 0, "a model that is there is not downloaded again"


def test_a_damaged_download_is_not_installed(model_folders: Path, tmp_path: Path) -> None:
    index = ModelIndex(write_index(tmp_path / "index", sha256="0" * 64))
    with pytest.raises(LongarcError, match="checksum of the download is"):
        index.download("da_ddt")
    index = ModelIndex(write_index(tmp_path / "index", bytes=1000))
    with pytest.raises(LongarcError, match="larger than the 1,000 bytes"):
        index.download("da_ddt")
    assert not list(model_folders.rglob("*.part"))
    assert find_model("latin")
    with pytest.raises(LongarcError):
        find_model("da_ddt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sha256": "x"}, "sha256"),
        ({"bytes": 0}, "bytes"),
        ({"price": 5}, "price"),
        ({"url": "ftp://example.org/a"}, "starts with https"),
        ({"url": "missing.longarc"}, "cannot be read"),
    ],
)
def test_a_wrong_entry_is_explained(model_folders: Path, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(LongarcError, match=message):
        ModelIndex(write_index(tmp_path / "index", **changes)).download("da_ddt")


def test_an_index_that_is_none_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONGARC_INDEX", raising=False)
    with pytest.raises(LongarcError, match="there is no index"):
        ModelIndex()
    with pytest.raises(LongarcError, match="there is no index of models"):
        ModelIndex(str(tmp_path))
    (tmp_path / "index.json").write_text("no JSON")
    with pytest.raises(LongarcError, match="not an index of models"):
        ModelIndex(str(tmp_path))
    (tmp_path / "index.json").write_text('{"models": {"../evil": {}}}')
    with pytest.raises(LongarcError, match="models"):
        ModelIndex(str(tmp_path))


def test_an_index_can_be_named_by_its_file(model_folders: Path, tmp_path: Path) -> None:
    folder = write_index(tmp_path / "index")
    assert ModelIndex(str(Path(folder) / "index.json")).models == ModelIndex(folder).models


def test_the_command_lists_downloads_and_removes(model_folders: Path, tmp_path: Path) -> None:
    folder = write_index(tmp_path / "index")
    listing = longarc("download", "--index", folder).stdout.decode()
    assert "da_ddt, Danish, 2.3 MB, LAS 85.70 on dev" in listing
    assert "UD_Danish-DDT. Licence: CC BY-SA 4.0" in listing
    assert longarc("download", "da", "--index", folder).status == 0
    assert (model_folders / "own" / "da_ddt.longarc").exists()
    assert "Choose from da_ddt" in longarc("download", "klingon", "--index", folder).stderr
    assert longarc("models", "remove", "da_ddt").status == 0
    assert not (model_folders / "own" / "da_ddt.longarc").exists()
    for words in (["remove", "en_ewt"], ["remove", "da_ddt"], ["remove"], ["delete", "x"]):
        assert longarc("models", *words).status == 2
