"""Commands reject malformed input with a message, status 2 and no leftover files."""

from __future__ import annotations

import gzip
import lzma
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.command import LONGARC, longarc
from tests.helpers.generators import quick, word
from tests.helpers.malformed_files import GOOD, MALFORMED, NOT_TREES, WRONGLY_ENCODED, damaged, to_bytes

# ---------------------------------------------------------------------------------------------------------------------
# Junk


@pytest.fixture(scope="module")
def junkyard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("junk")


@settings(quick, max_examples=50)
@given(st.one_of(st.binary(max_size=300), damaged()), st.sampled_from(["in.conllu", "in.jsonl", "in.gz"]))
def test_the_command_takes_junk_calmly(junkyard: Path, data: bytes, name: str) -> None:
    (junkyard / name).write_bytes(data)
    out = junkyard / "out.conllu"
    outcome = longarc("convert", junkyard / name, out)
    assert outcome.status in (0, 2)
    assert out.exists() == (outcome.status == 0)
    assert bool(outcome.stderr) == (outcome.status == 2)
    out.unlink(missing_ok=True)
    (junkyard / name).unlink()
    assert list(junkyard.iterdir()) == []


# ---------------------------------------------------------------------------------------------------------------------
# The command

FILES: dict[str, tuple[bytes, str]] = {
    **{name: (to_bytes(GOOD + case[0]), f":{3 + case[1]}: ") for name, case in MALFORMED.items()},
    "a cycle": (to_bytes(GOOD + NOT_TREES["a cycle"][0]), ":5: the heads form a cycle"),
    "wrong encoding": (to_bytes(GOOD + WRONGLY_ENCODED[0]), "--encoding latin-1"),
    "truncated gzip": (gzip.compress(GOOD.encode())[:-9], "damaged or incomplete"),
    "damaged gzip": (gzip.compress(b"")[:10] + b"\xff" * 20, "damaged or incomplete"),
    "truncated xz": (lzma.compress(GOOD.encode())[:-9], "damaged or incomplete"),
}


@pytest.mark.parametrize(("data", "message"), [pytest.param(*value, id=name) for name, value in FILES.items()])
def test_convert_refuses_bad_files_and_leaves_nothing_behind(data: bytes, message: str, tmp_path: Path) -> None:
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu"
    source.write_bytes(data)
    outcome = longarc("convert", source, target)
    assert outcome.status == 2
    assert outcome.stderr.startswith(f"longarc: {source}")
    assert message in outcome.stderr
    assert list(tmp_path.iterdir()) == [source]
    target.write_text("an older file")
    assert longarc("convert", source, target).status == 2
    assert target.read_text() == "an older file"
    assert sorted(tmp_path.iterdir()) == [source, target]


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_compressed_output_is_not_left_behind_either(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(GOOD + word("x"))
    assert longarc("convert", tmp_path / "in.conllu", tmp_path / f"out.conllu{suffix}").status == 2
    assert list(tmp_path.iterdir()) == [tmp_path / "in.conllu"]


def test_convert_in_place_leaves_a_bad_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    path.write_text(GOOD + word("x"))
    assert longarc("convert", path, path).status == 2
    assert path.read_text() == GOOD + word("x")


@pytest.mark.parametrize("command", [("stats",), ("oracle",), ("convert", "--projectivize", "head")])
def test_every_command_that_needs_trees_refuses_sentences_without(command: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    path.write_text(GOOD + word(1, "_"))
    targets = [tmp_path / "out.conllu"] if command[0] == "convert" else []
    outcome = longarc(*command, path, *targets)
    assert outcome.status == 2
    assert f"{path}:4: HEAD is _" in outcome.stderr


def test_skip_invalid_reports_on_standard_error_and_goes_on(tmp_path: Path) -> None:
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu"
    bad = [MALFORMED["an id left out"], NOT_TREES["a cycle"], WRONGLY_ENCODED]
    text, lines = GOOD, []
    for case in bad:
        lines.append(text.count("\n") + case[1])
        text += case[0] + "\n" + GOOD
    source.write_bytes(to_bytes(text))
    outcome = longarc("convert", "--skip-invalid", source, target)
    assert outcome.status == 0
    assert target.read_text() == GOOD * 4
    reports = outcome.stderr.splitlines()
    assert len(reports) == len(bad)
    for report, line, case in zip(reports, lines, bad, strict=True):
        assert report.startswith(f"longarc: skipped: {source}:{line}: ")
        assert case[2] in report


def test_a_bad_sentence_on_standard_input_is_named_so() -> None:
    outcome = longarc("convert", "-", "-", stdin=(GOOD + word("x")).encode())
    assert outcome.status == 2
    assert "<stdin>:4: ID is 'x'" in outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", "bad.conllu", "out.conllu"),
        ("convert", "nowhere.conllu", "out.conllu"),
        ("convert", ".", "out.conllu"),
        ("convert", "--encoding", "klingon", "good.conllu", "out.conllu"),
        ("convert", "--encoding", "utf-16", "good.conllu", "out.conllu"),
        ("convert", "good.conllu", "nowhere/out.conllu"),
        ("stats", "bad.conllu"),
    ],
    ids=" ".join,
)
def test_a_mistake_ends_the_real_command_with_status_2_and_a_message(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "bad.conllu").write_text(GOOD + word("x"))
    (tmp_path / "good.conllu").write_text(GOOD)
    before = sorted(tmp_path.iterdir())
    outcome = subprocess.run(
        [*LONGARC, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("longarc: ")
    assert "Traceback" not in outcome.stderr
    assert outcome.stdout == ""
    assert sorted(tmp_path.iterdir()) == before
