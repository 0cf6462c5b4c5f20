"""Malformed CoNLL input is rejected with its file and line, or skipped on request."""

from __future__ import annotations

import gzip
import io
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longarc.data import conll
from longarc.data.conll import read, read_all, write
from longarc.errors import InputError, LongarcError
from longarc.trees.structure import require_tree
from tests.helpers.generators import quick, trickle, word
from tests.helpers.malformed_files import GOOD, MALFORMED, NOT_TREES, WRONGLY_ENCODED, Case, damaged, to_bytes


def error_of(data: bytes, folder: Path, **options: object) -> InputError:
    """The error that reading a file with these bytes ends in; it names that file."""
    path = folder / "bad.conllu"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_all(path, **options)
    assert caught.value.path == str(path)
    assert str(caught.value).startswith(f"{path}:")
    return caught.value


# ---------------------------------------------------------------------------------------------------------------------
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
def test_wrongly_encoded_bytes_are_refused_and_the_hint_names_an_encoding(place: str, tmp_path: Path) -> None:
    comment = "# se\udcf1al\n"
    text = {
        "form": GOOD + WRONGLY_ENCODED[0],
        "comment": GOOD + "#\n" + comment + word(1, 0),
        "after the last sentence": GOOD + "#\n" + comment,
    }[place]
    error = error_of(to_bytes(text), tmp_path)
    assert error.line == 5
    assert "byte 0xf1 is not valid utf-8" in error.message
    assert "Specify the file's encoding, for example latin-1" in error.hint


def test_a_file_in_utf_16_is_refused(tmp_path: Path) -> None:
    error = error_of(GOOD.encode("utf-16"), tmp_path)
    assert error.line == 1
    assert error.hint


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "cp037"])
def test_encodings_in_which_lines_cannot_be_found_are_refused_with_a_way_out(encoding: str) -> None:
    with pytest.raises(LongarcError, match=f"files in {encoding} are not supported") as caught:
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


# ---------------------------------------------------------------------------------------------------------------------
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


# ---------------------------------------------------------------------------------------------------------------------
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


# ---------------------------------------------------------------------------------------------------------------------
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


@settings(quick, max_examples=100)
@given(damaged())
def test_a_damaged_file_is_refused_or_comes_back_whole(data: bytes) -> None:
    assert_refused_or_whole(data)
