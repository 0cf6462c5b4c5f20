"""What the tests about files share: generated treebank files of every odd kind, streams that trickle, the command."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO, cast

from hypothesis import settings
from hypothesis import strategies as st

from longarc.data.conll import read
from longarc.data.sentence import Sentence

quick = settings(max_examples=100, deadline=None)

ODD_FIELDS = [
    *("_", "", " ", "New York", "#", "# no comment", "1-2", "0.1", "a=b|c", '"', "'", "\\"),
    *("a\u2028b", "\u2029", "\u0085", "\u00a0", "\ufeff", "x\x0by\x0cz", "\x1c", "\u200f", "e\u0301", "𝄞"),
]

RARELY = st.sampled_from([False] * 9 + [True])
SOMETIMES = st.sampled_from([False, False, True])
BLANK_LINES = st.sampled_from(["", " ", "   "])
EMPTY_NODES = st.sampled_from([0, 0, 0, 1, 2])
LINE_ENDS = st.sampled_from([["\n"], ["\r\n"], ["\n", "\r\n"]])
LAST_LINE_ENDS = st.sampled_from(["", "", "\n", "\r\n"])


@dataclass(frozen=True)
class RawFile:
    """The bytes of a treebank file and the columns of the words that are in it, sentence by sentence."""

    data: bytes
    sentences: list[list[list[str]]]


def texts(encoding: str = "utf-8", **options: Any) -> st.SearchStrategy[str]:
    """Text that stays within a column: anything but tabs, line ends and NUL."""
    return st.text(st.characters(codec=encoding, exclude_characters="\t\n\r\0"), **options)


@cache
def fields(encoding: str = "utf-8") -> st.SearchStrategy[str]:
    """A column of a row, often an odd one."""
    odd = [field for field in ODD_FIELDS if _fits(field, encoding)]
    return st.one_of(st.just("_"), st.sampled_from(odd), texts(encoding, max_size=4))


def _fits(text: str, encoding: str) -> bool:
    return text.encode(encoding, errors="ignore").decode(encoding) == text


@cache
def comments(encoding: str = "utf-8") -> st.SearchStrategy[str]:
    """A comment line; a tab in it is nothing special."""
    return st.one_of(
        st.sampled_from(["#", "# sent_id = 1", "# text = Dogs  bark ", "#\t", "# a\tb\tc"]),
        texts(encoding, max_size=6).map("#".__add__),
    )


@st.composite
def sentence_rows(draw: st.DrawFn, encoding: str = "utf-8") -> list[list[str]]:
    """Words with heads of any kind that the reader takes, multiword tokens and empty nodes in the right places."""
    length = draw(st.integers(1, 6))
    field = fields(encoding)
    head = st.integers(-1, length).map(lambda head: "_" if head < 0 else str(head))
    rows: list[list[str]] = []
    inside = 0  # the last word of the multiword token that the current word belongs to
    for number in range(length + 1):
        if number:
            columns = draw(st.tuples(*[field] * 5, head, *[field] * 3))
            rows.append([str(number), *columns])
        for empty in range(draw(EMPTY_NODES)):
            rows.append([f"{number}.{empty + 1}", draw(field), *"_____", "_", f"{number}:dep|0:root", draw(field)])
        if inside <= number < length and draw(SOMETIMES):
            inside = draw(st.integers(number + 1, length))
            rows.append([f"{number + 1}-{inside}", draw(field), *"_______", draw(field)])
    return rows


@st.composite
def raw_files(draw: st.DrawFn, encoding: str = "utf-8") -> RawFile:
    """A file as found in the wild: any line ends, blank lines and comments anywhere, perhaps no final line end."""
    between = st.lists(st.one_of(BLANK_LINES, comments(encoding)), max_size=3)
    lines: list[str] = []
    sentences: list[list[list[str]]] = []
    for _ in range(draw(st.integers(0, 3))):
        lines += draw(between)
        rows = draw(sentence_rows(encoding))
        sentences.append([row for row in rows if row[0].isdecimal()])
        for number, row in enumerate(rows):
            if number and draw(RARELY):
                lines.append(draw(comments(encoding)))
            lines.append("\t".join(row))
        lines.append(draw(BLANK_LINES))
    lines += draw(between)
    without_blank_line = draw(st.booleans())
    if sentences and without_blank_line:
        while not lines[-1].strip(" "):
            lines.pop()
    end = st.sampled_from(draw(LINE_ENDS))
    text = "".join(line + draw(end) for line in lines).removesuffix(draw(LAST_LINE_ENDS))
    mark = "\ufeff" if encoding == "utf-8" and draw(SOMETIMES) else ""
    return RawFile((mark + text).encode(encoding), sentences)


@st.composite
def trees(draw: st.DrawFn, length: int) -> list[int]:
    """Heads of the words 1 … length of any tree, projective or not, with one root or several."""
    order = draw(st.permutations(range(1, length + 1)))
    heads = [0] * (length + 1)
    for position, word in enumerate(order):
        heads[word] = draw(st.sampled_from([0, *order[:position]]))
    return heads[1:]


def word(number: int | str, head: int | str = "_", form: str = "w", relation: str = "dep") -> str:
    """The line of one word, with its line end."""
    return "\t".join([str(number), form, "_", "X", "_", "_", str(head), relation, "_", "_"]) + "\n"


def sentence_of(text: str) -> Sentence:
    """The one sentence of a text in CoNLL-U."""
    (sentence,) = read(io.BytesIO(text.encode()), format="conllu")
    return sentence


class Trickle(io.RawIOBase):
    """A stream that hands out a few bytes at a time, as a slow pipe does."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = io.BytesIO(data)
        self._size = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._data.read(min(self._size, len(buffer)))
        buffer[: len(chunk)] = chunk
        return len(chunk)


PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
UNPACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.decompress, ".xz": lzma.decompress}


def trickle(data: bytes, size: int) -> BinaryIO:
    """A stream of `data`, at most `size` bytes at a time."""
    return cast(BinaryIO, Trickle(data, size))
