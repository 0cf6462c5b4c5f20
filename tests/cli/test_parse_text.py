"""`longarc parse` on raw text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from longarc import read_all
from longarc.data.raw_text import text_of
from tests.helpers.command import run_longarc
from tests.helpers.text_treebank import TEXT


def test_the_command_line_takes_text(text_model: Path, tmp_path: Path) -> None:
    piped = run_longarc("parse", "-", "--model", text_model, stdin=TEXT.encode())
    assert piped.returncode == 0, piped.stderr.decode()
    sentences = read_all(io.BytesIO(piped.stdout))
    assert text_of(sentences) == TEXT
    assert [len(sentence) for sentence in sentences] == [6, 6, 5]
    assert all((sentence.node_heads[1:] >= 0).all() for sentence in sentences)
    (tmp_path / "a.txt").write_text(TEXT)
    assert run_longarc("parse", tmp_path / "a.txt", "--model", text_model).stdout == piped.stdout
    drawn = run_longarc("parse", "--text", TEXT, "--model", text_model)
    assert drawn.returncode == 0
    assert "n't" in drawn.stdout.decode() and "\t" not in drawn.stdout.decode()
    ranges = run_longarc("parse", "--text", TEXT, "--model", text_model, "--to", "conllu", "--ranges")
    assert b"TokenRange=4:9" in ranges.stdout


def test_what_is_parsed_again_stays_as_it_is(text_model: Path) -> None:
    once = run_longarc("parse", "-", "--model", text_model, stdin=TEXT.encode())
    assert run_longarc("parse", "-", "--model", text_model, stdin=once.stdout).stdout == once.stdout


@pytest.mark.parametrize(
    ("start", "words"), [(b"# A title\n\nwith text", 6), (b"1 is a number", 4), (b"", 0), (b"\n\n", 0)]
)
def test_what_is_text_is_told_by_its_content(text_model: Path, start: bytes, words: int) -> None:
    ran = run_longarc("parse", "-", "--model", text_model, "--input", "auto", stdin=start)
    assert ran.returncode == 0, ran.stderr.decode()
    found = read_all(io.BytesIO(ran.stdout))
    assert abs(sum(map(len, found)) - words) <= 1  # how the words are split does not matter here


def test_mistakes_are_told(text_model: Path) -> None:
    both = run_longarc("parse", "x.txt", "--text", "x", "--model", text_model)
    assert both.returncode == 2 and b"exclude each other" in both.stderr
    damaged = run_longarc("parse", "-", "--model", text_model, stdin=b"1\tonly\ttabs\n\n")
    assert damaged.returncode == 2 and b"<stdin>:1" in damaged.stderr
    binary = run_longarc("parse", "-", "--model", text_model, stdin=b"one\ntwo \xff")
    assert binary.returncode == 2 and b"<stdin>:2" in binary.stderr


def test_lines_end_paragraphs_or_are_wrapped(text_model: Path) -> None:
    text = "Ann sees the\nhouse. Bob\n"

    def parse(*options: str) -> list[list[str]]:
        ran = run_longarc("parse", "-", "--input", "text", *options, "--model", text_model, stdin=text.encode())
        assert ran.returncode == 0, ran.stderr.decode()
        sentences = read_all(io.BytesIO(ran.stdout))
        assert text_of(sentences) == text
        return [sentence.forms for sentence in sentences]

    assert parse("--lines") == [["Ann", "sees", "the"], ["house", "."], ["Bob"]]
    assert parse("--wrapped") == [["Ann", "sees", "the", "house", "."], ["Bob"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lines", "--wrapped"], b"exclude each other"),
        (["--lines", "--input", "conll"], b"are for raw text"),
        (["--wrapped", "--input", "tokens"], b"are for raw text"),
    ],
)
def test_line_options_are_for_raw_text(text_model: Path, options: list[str], message: bytes) -> None:
    ran = run_longarc("parse", "-", *options, "--model", text_model, stdin=b"x")
    assert ran.returncode == 2 and message in ran.stderr
