"""Reading and writing CoNLL files: lossless, streaming, in bounded memory."""

from __future__ import annotations

import gc
import io
import time
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longarc.data import conll
from longarc.data.conll import detect_format, missing_sentence_end, parse_conll, read, read_all, write
from longarc.data.files import read_chunks
from longarc.data.sentence import DEPREL, HEAD, MISC, NO_HEAD, Sentence
from longarc.errors import InputError, LongarcError
from tests.helpers.generators import PACK, UNPACK, RawFile, Trickle, quick, raw_files, sentence_of, trickle, word

ROW = word(1, 0).encode()

ONE_SENTENCE = ROW + b"\n"

ODD_ENDINGS = [
    pytest.param(b"", id="empty file"),
    pytest.param(b"\xef\xbb\xbf", id="byte order mark only"),
    pytest.param(b"\n", id="one blank line"),
    pytest.param(b"# only a comment\n", id="comment only"),
    pytest.param(b"# only a comment", id="comment only, no final newline"),
    pytest.param(b"\xef\xbb\xbf# only a comment\r\n", id="comment only, byte order mark"),
    pytest.param(ROW, id="no blank line at the end"),
    pytest.param(ROW[:-1], id="no final newline"),
    pytest.param(ROW[:-1] + b"\r", id="CR is the last byte"),
    pytest.param(ROW + b"\n\n\n", id="several blank lines at the end"),
    pytest.param(ROW + b" ", id="spaces without newline at the end"),
    pytest.param(ROW[:-1] + b"\r\n\r", id="CR without newline at the end"),
    pytest.param(b"\n \n" + ROW, id="leading blank lines"),
    pytest.param(b"\n# a\n\n# b\n" + ROW, id="comments and blank lines mixed"),
    pytest.param(ONE_SENTENCE + b"# after the end", id="comment after the last sentence, no newline"),
    pytest.param(ONE_SENTENCE + b"\n# after the end\n\n", id="comment after the last sentence"),
]


def written_back(source: Any, folder: Path, name: str = "out.conllu", **options: Any) -> bytes:
    """The bytes that `write` makes of what `read` streams from `source`."""
    write(folder / name, read(source, **options), encoding=options.get("encoding", "utf-8"))
    return (folder / name).read_bytes()


def joined(sentences: Sequence[Sentence], tail: str, encoding: str = "utf-8") -> bytes:
    return ("".join(sentence.to_conll() for sentence in sentences) + tail).encode(encoding)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conll")


# ---------------------------------------------------------------------------------------------------------------------
# Lossless


@pytest.mark.parametrize("data", ODD_ENDINGS)
def test_odd_beginnings_and_endings_come_back(data: bytes, tmp_path: Path) -> None:
    assert written_back(io.BytesIO(data), tmp_path) == data


@quick
@given(raw_files())
def test_a_streamed_file_comes_back_byte_for_byte(folder: Path, file: RawFile) -> None:
    (folder / "in.conllu").write_bytes(file.data)
    assert written_back(folder / "in.conllu", folder) == file.data


@quick
@given(raw_files())
def test_all_sentences_are_read_and_come_back_from_read_all(file: RawFile) -> None:
    treebank = read_all(io.BytesIO(file.data))
    # Where line ends differ within a sentence the CR stays with the last column.
    found = [[[*row[:MISC], row[MISC].removesuffix("\r")] for row in sentence.word_rows] for sentence in treebank]
    assert found == file.sentences
    assert joined(treebank, treebank.tail) == file.data


@settings(quick, max_examples=60)
@given(raw_files(), st.integers(1, 9))
def test_a_stream_that_trickles_comes_back(file: RawFile, size: int) -> None:
    treebank = read_all(trickle(file.data, size))
    assert joined(treebank, treebank.tail) == file.data
    assert len(treebank) == len(file.sentences)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
@settings(quick, max_examples=25)
@given(file=raw_files(), size=st.integers(1, 60))
def test_compressed_files_come_back(folder: Path, suffix: str, file: RawFile, size: int) -> None:
    (folder / f"in{suffix}").write_bytes(PACK[suffix](file.data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll, "read_chunks", partial(read_chunks, size=size))
        packed = written_back(folder / f"in{suffix}", folder, f"out.conllu{suffix}")
    assert UNPACK[suffix](packed) == file.data
    assert written_back(folder / f"in{suffix}", folder) == file.data


@pytest.mark.parametrize("packing", [".gz", ".xz"])
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_compressed_data_is_recognised_however_slowly_it_comes(packing: str, size: int) -> None:
    assert len(read_all(trickle(PACK[packing](ONE_SENTENCE), size))) == 1


@settings(quick, max_examples=30)
@given(raw_files("latin-1"))
def test_latin_1_files_come_back(folder: Path, file: RawFile) -> None:
    assert written_back(io.BytesIO(file.data), folder, encoding="latin-1") == file.data


def test_latin_1_letters_are_read_as_such() -> None:
    (sentence,) = read_all(io.BytesIO(word(1, 0, "señal").encode("latin-1")), encoding="latin-1")
    assert sentence.forms == ["señal"]


def test_lines_end_at_newlines_only() -> None:
    form = "a\u2028b\u0085c\x0bd\x0ce\x1cf\u00a0 g"
    (sentence,) = read_all(io.BytesIO(word(1, 0, form).encode()))
    assert sentence.forms == [form]


def test_an_open_stream_stays_open_for_whoever_opened_it() -> None:
    stream = io.BytesIO(ONE_SENTENCE)
    assert len(read_all(stream)) == 1
    assert not stream.closed


@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_files_are_closed_when_they_have_been_read(packing: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(PACK[packing](ONE_SENTENCE))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_all(tmp_path / "in")
        gc.collect()
    assert caught == []


def test_a_sentence_is_handed_out_as_soon_as_its_blank_line_has_arrived() -> None:
    class Waiting(Trickle):
        def readinto(self, buffer: Any) -> int:
            count = super().readinto(buffer)
            assert count, "the reader waits for more than it needs"
            return count

    for data in (ONE_SENTENCE, b"# text\n" + ROW + ROW.replace(b"1", b"2", 1) + b"\r\n"):
        assert next(read(cast(BinaryIO, Waiting(data, 1000)))).to_conll() == data.decode()


# ---------------------------------------------------------------------------------------------------------------------
# What a sentence is


def test_multiword_tokens_empty_nodes_and_comments_are_rows_but_not_words() -> None:
    text = "# text\n" + word("0.1") + word("1-2", form="im") + word(1, 2) + "# stray\n" + word("1.1") + word(2, 0)
    sentence = sentence_of(text + "\n")
    assert [row[0] for row in sentence.rows] == ["0.1", "1-2", "1", "# stray", "1.1", "2"]
    assert [row[0] for row in sentence.word_rows] == ["1", "2"]
    assert sentence.node_heads.tolist() == [NO_HEAD, 2, 0]
    assert sentence.comments == ["# text"]
    assert sentence.line == 2


def test_each_sentence_knows_its_line() -> None:
    text = "\n# a\n" + word(1) + "\n\n" + word(1) + word(2) + " \n# b\n" + word(1)
    assert [sentence.line for sentence in read_all(io.BytesIO(text.encode()))] == [3, 6, 10]


def test_heads_beyond_the_common_lengths_are_read() -> None:
    length = 2100
    text = "".join(word(number, number - 1) for number in range(1, length + 1))
    assert sentence_of(text).node_heads.tolist() == [NO_HEAD, *range(length)]


# ---------------------------------------------------------------------------------------------------------------------
# Predictions


def with_tree(data: bytes, heads: Callable[[int], bytes], relation: bytes) -> bytes:
    """The file with HEAD and DEPREL of all words replaced, by cutting its lines up as bytes."""
    lines = data.split(b"\n")
    for position, line in enumerate(lines):
        columns = line.split(b"\t")
        if len(columns) == 10 and columns[0].removeprefix(b"\xef\xbb\xbf").isdigit():
            number = int(columns[0].removeprefix(b"\xef\xbb\xbf"))
            columns[HEAD], columns[DEPREL] = heads(number), relation
            lines[position] = b"\t".join(columns)
    return b"\n".join(lines)


@settings(quick, max_examples=60)
@given(raw_files())
@example(RawFile(b"# a\n1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n" + ROW + ROW.replace(b"1", b"2") + b"\n", []))
def test_predictions_replace_heads_and_relations_and_no_other_byte(file: RawFile) -> None:
    treebank = read_all(io.BytesIO(file.data))
    for sentence in treebank:
        sentence.set_tree([NO_HEAD, *range(len(sentence))], [""] + ["ny·rel"] * len(sentence))
    expected = with_tree(file.data, lambda number: str(number - 1).encode(), "ny·rel".encode())
    assert joined(treebank, treebank.tail) == expected


@settings(quick, max_examples=30)
@given(raw_files())
def test_setting_the_tree_that_a_sentence_has_changes_nothing(file: RawFile) -> None:
    treebank = read_all(io.BytesIO(file.data))
    for sentence in treebank:
        sentence.set_tree(sentence.node_heads, sentence.node_relations)
    assert joined(treebank, treebank.tail) == file.data


@settings(quick, max_examples=30)
@given(raw_files())
def test_changing_a_copy_leaves_the_sentence_alone(file: RawFile) -> None:
    treebank = read_all(io.BytesIO(file.data))
    for sentence in treebank:
        duplicate = sentence.copy()
        assert duplicate.to_conll() == sentence.to_conll()
        duplicate.set_tree([NO_HEAD] + [0] * len(sentence), [""] + ["changed"] * len(sentence))
        assert all(row[DEPREL] == "changed" for row in duplicate.rows if row[0].isdecimal())
    assert joined(treebank, treebank.tail) == file.data


# ---------------------------------------------------------------------------------------------------------------------
# Format

CONLLX = "1\tDet\tdet\tpn\tPD\t_\t2\tsubj\t_\t_\n2\tgår\tgå\tv\tVA\t_\t0\tROOT\t_\t_\n\n"


@pytest.mark.parametrize(
    ("text", "format"),
    [
        pytest.param(CONLLX, "conllx", id="tags that are not universal"),
        pytest.param("# text = Det går\n" + CONLLX, "conllu", id="a comment"),
        pytest.param("\n\n" + CONLLX, "conllx", id="blank lines first"),
        pytest.param(CONLLX.replace("\n", "\r\n"), "conllx", id="CRLF"),
        pytest.param("\ufeff" + CONLLX, "conllx", id="byte order mark"),
        pytest.param("\ufeff# text = Det går\n" + CONLLX, "conllu", id="byte order mark before a comment"),
        pytest.param(word("1-2") + CONLLX, "conllu", id="a multiword token"),
        pytest.param(word("0.1") + CONLLX, "conllu", id="an empty node"),
        pytest.param(CONLLX.replace("ROOT\t_", "ROOT\t0:root"), "conllu", id="enhanced dependencies"),
        pytest.param(CONLLX.replace("_\t_\n", "_\tSpaceAfter=No\n"), "conllu", id="an attribute in MISC"),
        pytest.param(CONLLX.replace("ROOT\t_\t_", "ROOT\t0\tROOT"), "conllx", id="a projective head"),
        pytest.param(word(1, 0) + word(2, 1), "conllu", id="universal tags only"),
        pytest.param(word(1, 0).replace("X", "NOUN") + word(2, 0, relation="x"), "conllu", id="what could be either"),
        pytest.param("", "conllu", id="nothing"),
    ],
)
def test_the_format_is_told_from_the_first_lines(text: str, format: str) -> None:
    assert read_all(io.BytesIO(text.encode())).format == format


def test_a_given_format_is_not_questioned() -> None:
    treebank = read_all(io.BytesIO(CONLLX.encode()), format="conllu")
    assert treebank.format == treebank[0].format == "conllu"


@pytest.mark.parametrize("size", [1, 30, 1000])
def test_the_format_does_not_depend_on_how_the_bytes_arrive(size: int) -> None:
    text = word(1, 0) + CONLLX.replace("2\tg", "3\tg").replace("1\tD", "2\tD")
    assert detect_format(text) == "conllx"
    assert {sentence.format for sentence in read_all(trickle(text.encode(), size))} == {"conllx"}


# ---------------------------------------------------------------------------------------------------------------------
# Text in memory


@settings(quick, max_examples=60)
@given(raw_files())
def test_a_text_gives_the_same_sentences_as_a_file(file: RawFile) -> None:
    treebank = parse_conll(file.data.decode())
    assert [sentence.word_rows for sentence in treebank] == [s.word_rows for s in read_all(io.BytesIO(file.data))]
    assert joined(treebank, treebank.tail) == file.data
    if len(treebank) == 1:
        sentence = Sentence.from_conll(file.data.decode())
        assert sentence.to_conll() == treebank[0].to_conll()


@pytest.mark.parametrize("count", [0, 2])
def test_one_sentence_from_a_text_is_exactly_one(count: int) -> None:
    with pytest.raises(LongarcError, match=f"the text contains {count} sentences, expected 1"):
        Sentence.from_conll((word(1, 0) + "\n") * count)


def test_errors_in_a_text_name_it_and_the_line() -> None:
    with pytest.raises(InputError, match="request:2: ID is '3', expected 2"):
        parse_conll(word(1, 0) + word(3, 0), name="request")
    with pytest.raises(LongarcError, match="cannot be written in utf-8"):
        parse_conll(word(1, 0, form="\ud800"))


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\n\n", "\n \r\n", "\r\n\r\n", "\n\n\n"])
def test_another_sentence_can_follow_a_text_whose_end_is_completed(ending: str) -> None:
    text = word(1, 0).rstrip("\n") + ending
    assert len(parse_conll(text + missing_sentence_end(text) + word(1, 0))) == 2
    assert (missing_sentence_end(text) == "") == (ending.count("\n") > 1)


def test_nothing_is_missing_from_an_empty_text() -> None:
    assert missing_sentence_end("") == ""


# ---------------------------------------------------------------------------------------------------------------------
# Time


# Inputs of n bytes that a search for the first blank line could scan again and again.
SLOW_INPUTS: dict[str, Callable[[int], bytes]] = {
    "one line without an end": lambda n: b"x" * n,
    "spaces without a line end": lambda n: b"x\n" + b" " * n,
    "lines of one character": lambda n: b"x\n" * (n // 2),
    "comments": lambda n: b"#\n" * (n // 2),
    "blank lines": lambda n: b" \r\n" * (n // 3),
    "a comment, then spaces": lambda n: b"#" * (n // 2) + b"\n" + b" \r" * (n // 4),
}


def seconds_to_read(data: bytes, size: int) -> float:
    """Return the shortest of several times, since other processes only ever add to it."""
    times = []
    gc.disable()  # a collection looks at all objects of the process
    try:
        for _ in range(3):
            start = time.perf_counter()
            for _ in read(trickle(data, size), on_invalid=lambda error: None):
                pass
            times.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return min(times)


@pytest.mark.parametrize("size", [100, 1_000_000])
@pytest.mark.parametrize("make", SLOW_INPUTS.values(), ids=SLOW_INPUTS)
def test_reading_takes_linear_time(make: Callable[[int], bytes], size: int) -> None:
    once, twice = (seconds_to_read(make(length), size) for length in (90_000, 180_000))
    assert twice < 2.6 * once + 0.05


# ---------------------------------------------------------------------------------------------------------------------
# Memory


class Generated(io.RawIOBase):
    """A treebank that is made while it is read, `total` bytes or a little more."""

    def __init__(self, sentence: bytes, total: int) -> None:
        self._sentence, self._left = sentence, total
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest and self._left > 0:
            self._rest = self._sentence * (1 + len(buffer) // len(self._sentence))
            self._left -= len(self._rest)
        chunk, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)


def test_a_file_of_any_size_streams_through_in_constant_memory() -> None:
    rows = "".join(word(number, number - 1, form="lang" * 300) for number in range(1, 11))
    stream = cast(BinaryIO, Generated(f"# text = lang\n{rows}\n".encode(), 60_000_000))
    tracemalloc.start()
    try:
        written = sum(len(sentence.to_conll()) for sentence in read(stream))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert written >= 60_000_000
    assert peak < 12_000_000


AMBIGUOUS = "1\ta\t_\tNN\tNN\t_\t0\troot\t_\t_\n\n"
"""UD 1 has treebanks without comments and universal tags."""


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("a.conllu", AMBIGUOUS, "conllu"),
        ("a.CONLLU.gz", AMBIGUOUS, "conllu"),
        ("a.conll", AMBIGUOUS.replace("NN", "NOUN"), "conllx"),
        ("a.txt", AMBIGUOUS, "conllx"),
        ("-", AMBIGUOUS, "conllx"),
        ("a.conllu", AMBIGUOUS.replace("root\t_", "root\t0"), "conllx"),
        ("a.conll", "# a comment\n" + AMBIGUOUS, "conllu"),
    ],
)
def test_where_the_content_allows_both_formats_the_suffix_decides(name: str, text: str, format: str) -> None:
    assert detect_format(text, name) == format
    source = io.BytesIO(text.encode())
    source.name = name
    assert read_all(source).format == format


@pytest.mark.parametrize("lead", ["", "# a comment\n", "\ufeff"])
@pytest.mark.parametrize("end", ["", "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n", " \r\n  "])
def test_a_million_blank_lines_are_white_space(lead: str, end: str) -> None:
    text = lead + "\n" * 1_000_000 + end
    treebank = parse_conll(text)
    assert "".join(sentence.to_conll() for sentence in treebank) + treebank.tail == text
    assert [sentence.line for sentence in treebank] == [text.count("\n", 0, text.index("1\t")) + 1 for _ in treebank]
