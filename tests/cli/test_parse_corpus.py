"""`longarc parse-corpus` on one machine."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.helpers.command import longarc, run_longarc
from tests.helpers.corpora import write_texts


@pytest.mark.slow
def test_a_corpus_becomes_parquet_with_a_manifest_and_a_list_of_failures(model: Path, tmp_path: Path) -> None:
    write_texts(tmp_path / "in", 4)
    (tmp_path / "in" / "bad.txt").write_bytes(b"\xff")
    command = ["parse-corpus", *map(str, [tmp_path / "in", "--out", tmp_path / "out", "-m", model]), "--workers", "1"]
    stopped = run_longarc(*command, "--max-failures", "0")
    assert stopped.returncode == 2
    assert b"1 documents could not be parsed, the limit is 0" in stopped.stderr
    assert b"Traceback" not in stopped.stderr
    assert json.loads((tmp_path / "out" / "failed.jsonl").read_text())["id"] == str(tmp_path / "in" / "bad.txt")
    done = run_longarc(*command)
    assert done.returncode == 0, done.stderr
    assert b"4 documents, 32 sentences" in done.stderr
    assert b"1 failed (see failed.jsonl)" in done.stderr
    table = pyarrow.parquet.read_table(tmp_path / "out" / "000000-000000.parquet")
    assert table.num_rows == 32
    assert set(table.column("id").to_pylist()) == {str(tmp_path / "in" / f"{n:03}.txt") for n in range(4)}
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["counts"]["documents"] == 4


def test_a_dry_run_counts_documents_and_writes_nothing(model: Path, tmp_path: Path) -> None:
    write_texts(tmp_path / "in", 5)
    (tmp_path / "rows.jsonl").write_text('{"text": "The dog sleeps."}\n{"text": "The cat sees it."}\n')
    ran = longarc("parse-corpus", tmp_path / "in", tmp_path / "rows.jsonl", "-o", tmp_path / "out", "-m", model,
                  "--dry-run", "--workers", "3")  # fmt: skip
    assert ran.status == 0, ran.stderr
    assert b"documents  7\n" in ran.stdout
    assert b"with 3 workers" in ran.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt"], "nowhere.txt: there is no such file"),
        (["in", "--shard-size", "lots"], "expected a number with K or M"),
        (["in", "--shard-size", "1"], "expected a size from 1K to 256M"),
        (["in", "--workers", "1", "--min-workers", "2"], "is more than --workers 1"),
        (["in", "--address", "127.0.0.1:1"], "there is no Ray cluster at 127.0.0.1:1"),
        (["in", "-m", "nothing"], "neither a file nor the name of a model"),
        (["in", "--out", "in"], "in: the folder is not empty"),
    ],
)
def test_mistakes_are_explained(
    arguments: list[str], message: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(tmp_path / "in", 1)
    monkeypatch.chdir(tmp_path)
    ran = longarc("parse-corpus", "--out", "out", "-m", model, *arguments)
    assert ran.status == 2
    assert message in ran.stderr


def test_a_folder_with_another_run_is_left_alone(model: Path, tmp_path: Path) -> None:
    write_texts(tmp_path / "in", 1)
    command = ["parse-corpus", *map(str, [tmp_path / "in", "--out", tmp_path / "out", "-m", model])]
    command += ["--address", "127.0.0.1:1"]
    assert longarc(*command).status == 2  # there is no cluster, but the run was started
    ran = longarc(*command, "--probabilities", "--beam", "2")
    assert ran.status == 2
    assert "another option probabilities, option beam" in ran.stderr


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longarc.cli.extras.importlib.util.find_spec", lambda name: None)
    ran = longarc("parse-corpus", tmp_path, "--out", tmp_path / "out")
    assert ran.status == 2
    assert "this command needs ray and pyarrow" in ran.stderr
    assert "pip install 'longarc[ray]'" in ran.stderr
