"""Treebanks are fetched from a folder or from their public source, and only files with the right checksum are kept."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import re
import urllib.error
import zipfile
from pathlib import Path

import msgspec
import pytest

from longarc.data import treebank_sources
from longarc.data.schema import read_toml
from longarc.data.treebank_sources import SourceFile, TreebankSource, fetch_treebank, path_fields, resolve_paths
from longarc.errors import LongarcError
from tests.helpers.paths import ROOT, TREEBANKS, treebank_file


class Paths(msgspec.Struct):
    train: Path
    dev: Path
    test: Path
    vectors: Path | None = None
    name: str = "not a path"


TRAIN, TEST = b"1\ta\n" * 1000, b"1\tb\n"


@pytest.fixture(autouse=True)
def toy_source(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "train.conllu": SourceFile(sha256=hashlib.sha256(TRAIN).hexdigest(), path="data/toy-train.conllu"),
        "test.conllu": SourceFile(sha256=hashlib.sha256(TEST).hexdigest(), path="https://host/toy.zip#toy/test"),
    }
    source = TreebankSource("Toy", "CC0", "https://github.com/owner/name", "abc123", files)
    converted = {**files, "dev.conllu": SourceFile(sha256="0")}
    sources = {
        "toy": source,
        "converted": TreebankSource("Converted", "CC0", "https://x.org/y", "1.0", converted, "Convert it."),
    }
    monkeypatch.setattr(treebank_sources, "treebank_sources", lambda: sources)


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files of a network that has nothing else, by URL."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as stream:
        stream.writestr("toy/test", TEST)
    train = "https://raw.githubusercontent.com/owner/name/abc123/data/toy-train.conllu"
    files = {
        train: TRAIN,
        "https://host/toy.zip": archive.getvalue(),
        "https://x.org/y/1.0/data/toy-train.conllu": TRAIN,
    }

    def urlopen(url: str, timeout: float) -> io.BytesIO:
        if url not in files:
            raise urllib.error.URLError("no such host")
        return io.BytesIO(files[url])

    monkeypatch.setattr(treebank_sources, "urlopen", urlopen)
    return files


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_files_are_copied_from_a_folder_whether_compressed_or_not(tmp_path: Path) -> None:
    local = tmp_path / "local" / "toy"
    local.mkdir(parents=True)
    (local / "train.conllu.xz").write_bytes(lzma.compress(TRAIN))
    (local / "test.conllu.gz").write_bytes(gzip.compress(TEST))
    actions = dict(fetch_treebank("toy", tmp_path / "out", tmp_path / "local"))
    assert set(actions.values()) == {"copied"}
    assert (tmp_path / "out" / "toy" / "train.conllu").read_bytes() == TRAIN
    assert (tmp_path / "out" / "toy" / "test.conllu").read_bytes() == TEST
    (local / "test.conllu.gz").unlink()
    assert set(dict(fetch_treebank("toy", tmp_path / "out", tmp_path / "local")).values()) == {"already there"}


def test_files_and_members_of_archives_are_downloaded(tmp_path: Path, downloads: dict[str, bytes]) -> None:
    assert set(dict(fetch_treebank("toy", tmp_path)).values()) == {"downloaded"}
    assert (tmp_path / "toy" / "train.conllu").read_bytes() == TRAIN
    assert (tmp_path / "toy" / "test.conllu").read_bytes() == TEST
    downloads.clear()
    assert set(dict(fetch_treebank("toy", tmp_path)).values()) == {"already there"}


def test_a_file_with_another_checksum_is_not_written(tmp_path: Path, downloads: dict[str, bytes]) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "train.conllu").write_text("older")
    downloads.update({url: b"other" for url in downloads if url.endswith("train.conllu")})
    with pytest.raises(LongarcError, match=f"checksum of the content is {hashlib.sha256(b'other').hexdigest()}"):
        list(fetch_treebank("toy", tmp_path))
    assert (tmp_path / "toy" / "train.conllu").read_text() == "older" and names(tmp_path) == ["train.conllu"]


def test_a_failed_download_leaves_nothing(tmp_path: Path, downloads: dict[str, bytes]) -> None:
    downloads.clear()
    with pytest.raises(LongarcError, match=r"toy-train\.conllu: cannot be downloaded: no such host"):
        list(fetch_treebank("toy", tmp_path))
    assert names(tmp_path) == []


@pytest.mark.parametrize("archive", [b"no zip", b""])
def test_a_damaged_archive_is_reported(tmp_path: Path, downloads: dict[str, bytes], archive: bytes) -> None:
    downloads["https://host/toy.zip"] = archive
    with pytest.raises(LongarcError, match=r"toy\.zip#toy/test: cannot be downloaded"):
        list(fetch_treebank("toy", tmp_path))
    assert names(tmp_path) == ["train.conllu"]


def test_of_files_that_need_a_conversion_the_origin_is_explained(tmp_path: Path, downloads: dict[str, bytes]) -> None:
    with pytest.raises(LongarcError, match=r"cannot be downloaded: dev\.conllu\. Convert it\.") as caught:
        list(fetch_treebank("converted", tmp_path))
    assert "https://x.org/y, revision 1.0" in caught.value.hint
    assert names(tmp_path) == ["test.conllu", "train.conllu"], "the others are downloaded"


def test_unknown_names_missing_files_and_folders_that_are_files_are_reported(tmp_path: Path) -> None:
    with pytest.raises(LongarcError, match=r"unknown treebank 'tyo'(.|\n)*toy, converted"):
        list(fetch_treebank("tyo", tmp_path))
    with pytest.raises(LongarcError, match=r"train\.conllu: cannot be read"):
        list(fetch_treebank("toy", tmp_path, tmp_path / "nowhere"))
    (tmp_path / "out").write_text("")
    (tmp_path / "local" / "toy").mkdir(parents=True)
    (tmp_path / "local" / "toy" / "train.conllu").write_bytes(TRAIN)
    with pytest.raises(LongarcError, match="toy: cannot be created"):
        list(fetch_treebank("toy", tmp_path / "out", tmp_path / "local"))


def test_paths_are_relative_to_their_file_or_to_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = Paths(Path("$LONGARC_TREEBANKS/toy/train.conllu"), Path("dev"), tmp_path / "absolute")
    monkeypatch.delenv("LONGARC_TREEBANKS", raising=False)
    assert path_fields(resolve_paths(paths, Path("folder"))) == {
        "train": Path("treebanks/toy/train.conllu"),
        "dev": Path("folder/dev"),
        "test": tmp_path / "absolute",
    }
    monkeypatch.setenv("LONGARC_TREEBANKS", str(tmp_path))
    assert resolve_paths(paths, Path("folder")).train == tmp_path / "toy" / "train.conllu"
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "train.conllu.xz").touch()
    assert resolve_paths(paths, Path("folder")).train == tmp_path / "toy" / "train.conllu.xz"


# ---------------------------------------------------------------------------------------------------------------------
# The real table.

SOURCES = treebank_sources.treebank_sources()
FILE_KEYS = ("train", "dev", "test", *treebank_sources.PRETRAINED)
COMMITTED = [*sorted((ROOT / "experiments").glob("*.toml")), *sorted((ROOT / "models").glob("*.toml"))]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_recipes_and_experiments_name_files_with_a_known_source(path: Path) -> None:
    values = read_toml(path)
    entries = values.get("treebank") if isinstance(values.get("treebank"), list) else [values]
    files = [entry[key] for entry in entries or [] for key in FILE_KEYS if key in entry]
    assert files
    for file in files:
        variable, name, file_name = file.split("/")
        assert variable == "$LONGARC_TREEBANKS"
        assert file_name in SOURCES[name].files


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_has_a_revision_and_checksums_and_can_be_downloaded_or_has_a_note(name: str) -> None:
    source = SOURCES[name]
    assert source.title and source.licence and source.repository.startswith("https://")
    if source.repository.startswith("https://github.com/"):
        assert re.fullmatch("[0-9a-f]{40}", source.revision) or "revision was not recorded" in source.note
    for file in source.files.values():
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.path or source.note
        assert not file.path or source.url(file).startswith(("https://raw.githubusercontent.com/", "https://files."))


@pytest.mark.parametrize("name", ["hu_szeged", "da_ddt", "eu_3lb_conll2007"])
def test_the_checksums_are_those_of_the_real_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treebank_sources, "treebank_sources", lambda: SOURCES)
    for file in SOURCES[name].files:
        treebank_file(name, file)
    actions = dict(fetch_treebank(name, tmp_path, TREEBANKS))
    assert [path.name for path in actions] == list(SOURCES[name].files)
