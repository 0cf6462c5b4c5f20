"""`longarc parse` with unusual inputs, encodings, options and signals."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

import longarc
from tests.helpers.command import LONGARC, run_longarc
from tests.helpers.small_files import ROW, write_words

CONLLU_ENDS = ["", "\n", "\n\n\n", "\r\n\r\n"]


@pytest.mark.parametrize(
    ("end", "target"), [*((end, "conllu") for end in CONLLU_ENDS), ("", "conllx"), ("\n", "jsonl")]
)
def test_files_stay_apart_whatever_their_ends(tmp_path: Path, end: str, target: str) -> None:
    first = write_words(tmp_path / "first.conllu", "Hi", "you", end=end)
    second = write_words(tmp_path / "second.conllu", "Bye", mark="\ufeff")
    found = run_longarc("parse", first, second, "--to", target)
    assert found.returncode == 0, found.stderr
    assert b"\xef\xbb\xbf" not in found.stdout
    if target != "jsonl":
        output = tmp_path / "out.conll"
        output.write_bytes(found.stdout)
        assert b"\n\n\n\n" not in found.stdout
        assert [sentence.forms for sentence in longarc.read(output)] == [["Hi", "you"], ["Bye"]]


def test_what_conllx_has_no_place_for_is_told(tmp_path: Path) -> None:
    source = tmp_path / "in.conllu"
    rows = [ROW.format("1-2", "don't"), ROW.format("1", "do"), ROW.format("2", "n't")]
    source.write_text("\n".join(["# text = don't", *rows, "", ""]))
    assert b"left out: comments: 1, multiword tokens: 1\n" in run_longarc("parse", source, "--to", "conllx").stderr
    assert run_longarc("parse", source).stderr == b""


def test_several_texts_are_documents_with_ids_of_their_own(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("She left. He stayed.\n")
    lines = run_longarc("parse", tmp_path / "one.txt", tmp_path / "two.txt").stdout.decode().split("\n")
    documents = [line for line in lines if line.startswith("# newdoc")]
    assert documents == [f"# newdoc id = {tmp_path / name}" for name in ("one.txt", "two.txt")]
    ids = [line for line in lines if line.startswith("# sent_id")]
    assert ids == [f"# sent_id = {number}" for number in (1, 2, 3, 4)]


@pytest.mark.parametrize("text", ["#MeToo is trending.\n", "# A title", "# One\n\n## Two\n"])
def test_text_that_looks_like_comments_is_parsed(text: str) -> None:
    rows = [line for line in run_longarc("parse", "-", stdin=text.encode()).stdout.decode().split("\n") if "\t" in line]
    assert "".join(row.split("\t")[1] for row in rows) == "".join(text.split())


def test_names_that_only_look_like_treebanks_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "notes.conllu.txt"
    path.write_text("She left.\n")
    assert run_longarc("parse", path, "--to", "tree").returncode == 0


def test_probabilities_can_be_read_again_and_are_replaced(tmp_path: Path) -> None:
    source, lines, columns = tmp_path / "in.txt", tmp_path / "p.jsonl", tmp_path / "p.conllu"
    source.write_text("She left.\n")
    assert run_longarc("parse", source, "--probabilities", "-o", lines).returncode == 0
    assert run_longarc("parse", source, "--probabilities", "-o", columns).returncode == 0
    assert b'"probability"' in lines.read_bytes()
    assert b"Prob=" in columns.read_bytes()
    converted = run_longarc("convert", lines, "-", "--to", "conllu").stdout
    assert converted == columns.read_bytes()
    for again in (
        run_longarc("parse", lines),
        run_longarc("parse", columns),
        run_longarc("parse", "-", stdin=lines.read_bytes()),
    ):
        assert again.returncode == 0, again.stderr
        assert b"Prob=" not in again.stdout
        assert [row.split(b"\t")[1] for row in again.stdout.split(b"\n") if b"\t" in row] == [b"She", b"left", b"."]


def test_json_lines_may_begin_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"tokens": [{"id": 1, "form": "Hi"}]}\n')
    assert run_longarc("parse", path).stdout.startswith(b"1\tHi\t")


@pytest.mark.parametrize("encoding", ["foo", "hex"])
def test_an_unknown_encoding_is_a_message(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_text("Hi.")
    found = run_longarc("parse", "--encoding", encoding, tmp_path / "a.txt")
    assert found.returncode == 2
    assert found.stderr.startswith(b"longarc: unknown encoding")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("target", ["conllu", "tree"])
def test_text_in_any_encoding_is_parsed(tmp_path: Path, encoding: str, target: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("One café. Two cafés.\n".encode(encoding))
    found = run_longarc("parse", "--encoding", encoding, path, "--to", target)
    assert found.returncode == 0, found.stderr
    kept = encoding == "latin-1" and target == "conllu"
    assert "cafés" in found.stdout.decode(encoding if kept else "utf-8")
    assert b"\xef\xbb\xbf" not in found.stdout
    assert "cafés" in run_longarc("parse", "--encoding", encoding, "--output-encoding", "utf-8", path).stdout.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_a_message(tmp_path: Path) -> None:
    for output in (["-o", "/dev/full"], []):
        with Path("/dev/full").open("wb") as full:
            found = subprocess.run(
                [*LONGARC, "parse", "--text", "Hi.", "--to", "conllu", *output], stdout=full, stderr=subprocess.PIPE
            )
        assert (found.returncode, b"Traceback" in found.stderr) == (2, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "Hi.", "-o", "x.json"], "the suffix .json does not select an output format"),
        (
            ["--text", "Hi.", "-o", "x.csv"],
            ".conllu, .conll, .conllx, .jsonl, .ndjson or .txt, or use --to",
        ),
        (["--text", "Hi.", "-o", "x.csv.gz"], "the suffix .csv does not"),
        (["--text", "Hi.", "-o", "x.svg"], "longarc draw"),
        (["--text", "Hi.", "--probabilities"], "cannot represent them"),
        (["--text", "Hi.", "--input", "conll"], "--text is text or tokens"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, options: list[str], message: str) -> None:
    found = subprocess.run([*LONGARC, "parse", *options], capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 2
    assert message in found.stderr
    assert not list(tmp_path.iterdir())


def test_tokens_can_be_given_as_text() -> None:
    rows = run_longarc("parse", "--text", "a.b c", "--input", "tokens", "--to", "conllu").stdout.decode().split("\n")
    assert [row.split("\t")[1] for row in rows if "\t" in row] == ["a.b", "c"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_is_told_to_stop_stops_at_once_and_tidies_up(tmp_path: Path, number: signal.Signals) -> None:
    source = tmp_path / "long.txt"
    source.write_text("The old dog that we saw yesterday sleeps under the large table in the kitchen . \n\n" * 12_000)
    command = [*LONGARC, "parse", str(source), "--input", "tokens", "-o", str(tmp_path / "out.conllu")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while not list(tmp_path.glob(".out*")):
            time.sleep(0.05)
        time.sleep(1)
        begun = time.monotonic()
        process.send_signal(number)
        process.wait(60)
    assert process.returncode == 128 + number
    assert time.monotonic() - begun < 5
    assert [path.name for path in tmp_path.iterdir()] == ["long.txt"]


def test_a_sentence_that_needs_too_much_memory_is_refused_or_skipped(tmp_path: Path) -> None:
    source = tmp_path / "long.txt"
    source.write_text("Hi .\n" + "word " * 100_000 + "\nBye .\n")
    found = run_longarc("parse", source, "--input", "tokens")
    assert found.returncode == 2
    assert b"long.txt:2: a sentence of 100,000 words needs 76,294 MB of memory, the limit is 512 MB\n" in found.stderr
    assert b"--memory MEGABYTES" in found.stderr
    skipped = run_longarc("parse", source, "--input", "tokens", "--skip-invalid", "--to", "jsonl")
    assert (skipped.returncode, skipped.stdout.count(b"\n")) == (0, 2)
