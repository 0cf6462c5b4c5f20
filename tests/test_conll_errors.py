"""Bad input is refused with the file, the line and what to do about it, or skipped when that is wished for."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longarc.data import conll
from longarc.data.conll import read, read_all, write
from longarc.errors import InputError, LongarcError
from longarc.trees.structure import require_tree
from tests.generators import PACK, longarc, quick, trickle, word

GOOD = word(1, 2, "gode") + word(2, 0, "ord") + "\n"
"""Three lines."""


def error_of(data: bytes, folder: Path, **options: object) -> InputError:
    """The error that reading a file with these bytes ends in; it names that file."""
    path = folder / "bad.conllu"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_all(path, **options)
    assert caught.value.path == str(path)
    assert str(caught.value).startswith(f"{path}:")
    return caught.value


# Each: the lines of a sentence, the line of the mistake counted from the sentence's first, what the message says,
# what the hint says.
MALFORMED = {
    "nine columns": (word(1, 0) + word(2, 1).replace("\t_\n", "\n"), 2, "9 columns, expected 10", "separated by tabs"),
    "eleven columns": (word(1, 0) + word(2, 1).replace("\n", "\t_\n"), 2, "11 columns", "separated by tabs"),
    "spaces for tabs": (word(1, 0).replace("\t", " "), 1, "no tab in '1 w", "separated by tabs"),
    "running text": ("The dog barked .\nIt was late .\n", 1, "no tab in 'The dog barked .'", "CoNLL-U or CoNLL-X"),
    "a tab alone": (word(1, 0) + "\t\n", 2, "2 columns", "separated by tabs"),
    "a no-break space alone": (word(1, 0) + "\u00a0\n", 2, "no tab", "separated by tabs"),
    "an id left out": (word(1, 0) + word(3, 1), 2, "ID is '3', expected 2", "numbered 1, 2, 3"),
    "ids that go back": (word(1, 0) + word(2, 1) + word(2, 1), 3, "ID is '2', expected 3", "numbered 1, 2, 3"),
    "ids from zero": (word(0, 0) + word(1, 0), 1, "ID is '0', expected 1", "numbered 1, 2, 3"),
    "an id that is no number": (word("x", 0), 1, "ID is 'x', expected 1", "numbered 1, 2, 3"),
    "an id with a leading zero": (word("01", 0), 1, "ID is '01', expected 1", "numbered 1, 2, 3"),
    "no blank line between": (word(1, 0) + word(2, 1) + word(1, 0), 3, "ID is '1', expected 3", "blank line"),
    "overlapping ranges": (word("1-2") + word(1, 0) + word("2-3") + word(2, 1) + word(3, 1), 3, "2-3", ""),
    "two ranges at one word": (word("1-2") + word("1-3") + word(1, 0) + word(2, 1) + word(3, 1), 2, "1-3", ""),
    "a range that goes back": (word(1, 0) + word("2-1") + word(2, 1), 2, "2-1 where word 2 is next", ""),
    "a range in the wrong place": (word(1, 0) + word("3-4") + word(2, 1), 2, "3-4 where word 2 is next", ""),
    "a range past the end": (word(1, 0) + word("2-4") + word(2, 1) + word(3, 1), 4, "ends at 4, the sentence at 3", ""),
    "a range of thousands of digits": (word("1-" + "9" * 5000) + word(1, 0), 1, "1-999", ""),
    "a range from thousands of digits": (word("9" * 5000 + "-2") + word(1, 0), 1, "999", ""),
    "an id of thousands of digits": (word("9" * 5000, 0), 1, "expected 1", "numbered 1, 2, 3"),
    "an empty node too far": (word(1, 0) + word("1.2"), 2, "ID is '1.2', expected 2", "numbered 1, 2, 3"),
    "no words at all": (word("1-2"), 1, "without words", "at least one word"),
    "an empty head": (word(1, 0) + word(2, ""), 2, "HEAD is ''", "0 is the root"),
    "a head that is a letter": (word(1, 0) + word(2, "x"), 2, "HEAD is 'x', expected a number from 0 to 2", "_ stands"),
    "a negative head": (word(1, "-1"), 1, "HEAD is '-1'", "0 is the root"),
    "a fraction for a head": (word(1, 0) + word(2, "1.5"), 2, "HEAD is '1.5'", "0 is the root"),
    "a superscript for a head": (word(1, 0) + word(2, "²"), 2, "HEAD is '²'", "0 is the root"),
    "an Arabic digit for a head": (word(1, 0) + word(2, "١"), 2, "HEAD is '١'", "0 is the root"),
    "a head with a space": (word(1, 0) + word(2, " 1"), 2, "HEAD is ' 1'", "0 is the root"),
    "an underscore in a head": (word(1, 0) + word(2, "1_0"), 2, "HEAD is '1_0'", "0 is the root"),
    "a huge head": (word(1, 0) + word(2, "99999999999999"), 2, "HEAD is '99999999999999'", "0 is the root"),
    "a head of thousands of digits": (word(1, 0) + word(2, "9" * 5000), 2, "HEAD is '999", "0 is the root"),
    "a head past the end": (word(1, 0) + word(2, 3), 2, "HEAD is '3', expected a number from 0 to 2", "0 is the root"),
    "a NUL byte": (word(1, 0) + word(2, 1, "a\0b"), 2, "a NUL byte", "CoNLL-U or CoNLL-X"),
}
NOT_TREES = {
    "a word that is its own head": (word(1, 0) + word(2, 2), 2, "a cycle: 2 → 2", "--skip-invalid"),
    "a cycle": (word(1, 2) + word(2, 3) + word(3, 2), 2, "a cycle: 2 → 3 → 2", "--skip-invalid"),
    "a cycle after a range": (word("1-2") + word(1, 2) + word(2, 1), 2, "a cycle: 1 → 2 → 1", "--skip-invalid"),
    "a missing head": (word(1, 0) + word("2-3") + word(2, 1) + word(3, "_"), 4, "HEAD is _", "complete tree"),
}
WRONGLY_ENCODED = (word(1, 0) + word(2, 1, "se\udcf1al"), 2, "byte 0xf1 is not valid utf-8", "--encoding latin-1")

Case = tuple[str, int, str, str]


def to_bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


# Reading


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in MALFORMED.items()])
@pytest.mark.parametrize("before", ["", "# text\n", GOOD + "\n \n# text\n\n"], ids=["first", "comment", "later"])
def test_a_malformed_sentence_is_refused_with_its_line(case: Case, before: str, tmp_path: Path) -> None:
    text, line, message, hint = case
    error = error_of(to_bytes(before + text + "\n" + GOOD), tmp_path)
    assert error.line == before.count("\n") + line
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in MALFORMED.items()])
def test_line_numbers_hold_with_crlf_and_without_an_end(case: Case, tmp_path: Path) -> None:
    text, line, message, _ = case
    data = to_bytes((GOOD + text).replace("\n", "\r\n")[:-2])
    error = error_of(data, tmp_path)
    assert error.line == 3 + line
    assert message in error.message


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in NOT_TREES.items()])
def test_what_is_not_a_tree_is_refused_where_trees_are_needed(case: Case, tmp_path: Path) -> None:
    text, line, message, hint = case
    error = error_of(to_bytes(GOOD + "# text\n" + text), tmp_path, check=require_tree)
    assert error.line == 4 + line
    assert message in error.message
    assert hint in error.hint
    assert len(read_all(io.BytesIO(to_bytes(text)))) == 1, "without the check it is read"


@pytest.mark.parametrize("place", ["form", "comment", "after the last sentence"])
def test_wrongly_encoded_bytes_are_refused_and_the_hint_names_the_option(place: str, tmp_path: Path) -> None:
    comment = "# se\udcf1al\n"
    text = {
        "form": GOOD + WRONGLY_ENCODED[0],
        "comment": GOOD + "#\n" + comment + word(1, 0),
        "after the last sentence": GOOD + "#\n" + comment,
    }[place]
    error = error_of(to_bytes(text), tmp_path)
    assert error.line == 5
    assert "byte 0xf1 is not valid utf-8" in error.message
    assert "--encoding latin-1" in error.hint


def test_a_file_in_utf_16_is_refused(tmp_path: Path) -> None:
    error = error_of(GOOD.encode("utf-16"), tmp_path)
    assert error.line == 1
    assert error.hint


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "cp037"])
def test_encodings_in_which_lines_cannot_be_found_are_refused_with_a_way_out(encoding: str) -> None:
    with pytest.raises(LongarcError, match=f"files in {encoding} cannot be read") as caught:
        read_all(io.BytesIO(GOOD.encode(encoding)), encoding=encoding)
    assert "iconv" in caught.value.hint


@pytest.mark.parametrize("encoding", ["klingon", "rot13", ""])
def test_an_unknown_encoding_is_refused_with_examples(encoding: str) -> None:
    with pytest.raises(LongarcError, match="unknown encoding") as caught:
        read_all(io.BytesIO(GOOD.encode()), encoding=encoding)
    assert "latin-1" in caught.value.hint


@pytest.mark.parametrize(
    "encoding", ["ascii", "cp1252", "shift_jis", "gb18030", "utf-7", "iso2022_jp", "hz", "idna", "undefined"]
)
def test_bytes_that_an_encoding_lacks_are_never_a_crash(encoding: str) -> None:
    data = GOOD.encode().replace(b"gode", b"g\x81+\xff ~{\x1b$B\\u\x8d")
    with pytest.raises(LongarcError):
        read_all(io.BytesIO(data), encoding=encoding)


# A line of ten million characters, in any place: the middle must not be lost silently.
LONG = b"x" * 10_000_000


@pytest.mark.parametrize(
    ("data", "line"),
    [
        pytest.param(LONG, 1, id="nothing else"),
        pytest.param(GOOD.encode() + b"1\t" + LONG + word(1, 0)[2:].encode() + b"\n" + GOOD.encode(), 4, id="form"),
        pytest.param(GOOD.encode() + b"# " + LONG + b"\n" + GOOD.encode(), 4, id="comment"),
        pytest.param(GOOD.encode() + b"# " + LONG + b"\n", 4, id="comment after the last sentence"),
        pytest.param(GOOD.encode() + b"# " + LONG, 4, id="comment without a line end"),
    ],
)
def test_a_line_of_ten_megabytes_is_refused(data: bytes, line: int, tmp_path: Path) -> None:
    error = error_of(data, tmp_path)
    assert error.line == line
    assert "a line of more than 1,000,000 characters" in error.message
    assert "CoNLL-U or CoNLL-X" in error.hint


def test_a_long_blank_line_comes_back_or_is_refused(tmp_path: Path) -> None:
    data = word(1, 0).encode() + b" " * 10_000_000 + b"\n" + GOOD.encode()
    try:
        write(tmp_path / "out.conllu", read(io.BytesIO(data)))
    except InputError as error:
        assert error.line == 2
    else:
        assert (tmp_path / "out.conllu").read_bytes() == data


def test_a_long_line_is_found_in_whichever_sentence_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conll, "MAX_LINE", 100)
    error = error_of((GOOD + GOOD + word(1, 0, "x" * 100)).encode(), tmp_path)
    assert error.line == 7


def test_a_sentence_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conll, "MAX_SENTENCE_LINES", 10)
    error = error_of((GOOD + "".join(word(number, 0) for number in range(1, 31))).encode(), tmp_path)
    assert error.line == 14
    assert "no blank line" in error.message


@pytest.mark.parametrize("filler", ["# text\n", "\n"])
def test_what_follows_a_sentence_without_end_is_still_read(filler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conll, "MAX_SENTENCE_LINES", 10)
    errors: list[InputError] = []
    data = (GOOD + filler * 30 + GOOD + GOOD).encode()
    assert len(read_all(io.BytesIO(data), on_invalid=errors.append)) >= 2
    assert len(errors) <= 1


# Files that cannot be read


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_truncated_archive_is_refused(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    packed = pack("".join(word(1, 0, f"{number:x}") + "\n" for number in range(5000)).encode())
    for length in (7, 30, len(packed) // 2, len(packed) - 1):
        error = error_of(packed[:length], tmp_path)
        assert "cannot be read to its end" in error.message
        assert "damaged or incomplete" in error.hint


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(gzip.compress(b"")[:10] + b"\xff" * 20, id="gzip, nonsense after the header"),
        pytest.param(gzip.compress(GOOD.encode())[:-8] + b"\0" * 8, id="gzip, wrong checksum"),
        pytest.param(gzip.compress(GOOD.encode()) + b"more", id="gzip, nonsense after the end"),
        pytest.param(lzma.compress(b"")[:12] + b"\xff" * 20, id="xz, nonsense after the header"),
    ],
)
def test_a_damaged_archive_is_refused(packed: bytes, tmp_path: Path) -> None:
    assert "damaged or incomplete" in error_of(packed, tmp_path).hint


def test_a_missing_file_is_named() -> None:
    with pytest.raises(LongarcError, match=r"nowhere\.conllu: cannot be read: No such file"):
        read_all("nowhere.conllu")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(LongarcError, match="is a folder") as caught:
        read_all(tmp_path)
    assert "Name a file" in caught.value.hint


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens but cannot be read")
def test_a_file_that_cannot_be_read_is_named() -> None:
    with pytest.raises(LongarcError, match="/proc/self/mem: cannot be read"):
        read_all("/proc/self/mem")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    path = tmp_path / "secret.conllu"
    path.write_text(GOOD)
    path.chmod(0)
    with pytest.raises(LongarcError, match="cannot be read: Permission denied"):
        read_all(path)


# Skipping


BAD = [*MALFORMED.values(), *NOT_TREES.values(), WRONGLY_ENCODED]


@settings(quick, max_examples=60)
@given(st.lists(st.one_of(st.just(None), st.sampled_from(BAD)), max_size=8), st.sampled_from([1, 7, 100, 10_000]))
def test_bad_sentences_are_skipped_and_reported_and_good_ones_kept(cases: list[Case | None], size: int) -> None:
    data, lines, kept = "", [], []
    for number, case in enumerate(cases):
        data += f"# sent_id = {number}\n"
        if case is None:
            kept.append(f"# sent_id = {number}")
            data += GOOD
        else:
            lines.append(data.count("\n") + case[1])
            data += case[0] + "\n"
    errors: list[InputError] = []
    reader = read(trickle(to_bytes(data), size), check=require_tree, on_invalid=errors.append)
    sentences = list(reader)
    assert [sentence.comments for sentence in sentences] == [[comment] for comment in kept]
    assert all(sentence.to_conll().endswith(GOOD) for sentence in sentences)
    assert [error.line for error in errors] == lines
    assert reader.skipped == len(errors)


def test_what_is_kept_stays_lossless_when_the_first_sentence_is_skipped() -> None:
    treebank = read_all(io.BytesIO(f"\ufeff{word('x')}\n# a\n{GOOD}# end\n".encode()), on_invalid=lambda error: None)
    assert treebank[0].to_conll() == f"\ufeff# a\n{GOOD}"
    assert treebank.tail == "# end\n"


# Junk


def assert_refused_or_whole(data: bytes, **options: str) -> None:
    """Reading either ends in an InputError or gives a file back that is the same."""
    try:
        treebank = read_all(io.BytesIO(data), **options)
    except InputError as error:
        assert error.message
        return
    if not data.startswith((b"\x1f\x8b", b"\xfd7zXZ")):
        text = "".join(sentence.to_conll() for sentence in treebank) + treebank.tail
        assert text.encode(options.get("encoding", "utf-8")) == data


@settings(quick, max_examples=200)
@given(st.binary(max_size=300), st.sampled_from(["utf-8", "latin-1"]))
@example(b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 9, "utf-8")
@example(b"# \xff", "utf-8")
def test_junk_is_refused_or_comes_back_whole(data: bytes, encoding: str) -> None:
    assert_refused_or_whole(data, encoding=encoding)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good file, perhaps compressed, some of whose bytes have been overwritten, put in or taken out."""
    pack = PACK[draw(st.sampled_from(["", "", ".gz", ".xz"]))]
    data = pack(("# text\n" + word("1-2") + GOOD + GOOD).encode())
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.integers(0, 3))
        data = data[:start] + draw(st.one_of(st.binary(max_size=3), st.sampled_from([b"\t", b"\n", b"1"]))) + data[end:]
    return data


@settings(quick, max_examples=100)
@given(damaged())
def test_a_damaged_file_is_refused_or_comes_back_whole(data: bytes) -> None:
    assert_refused_or_whole(data)


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
        [sys.executable, "-c", "from longarc.cli.main import run; run()", *arguments],
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
