"""Malformed treebank files, each with the error it must raise."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.helpers.generators import PACK, word

GOOD = word(1, 2, "gode") + word(2, 0, "ord") + "\n"
"""Three lines."""

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
    "a word that is its own head": (word(1, 0) + word(2, 2), 2, "a cycle: 2 → 2", "must lead to the root"),
    "a cycle": (word(1, 2) + word(2, 3) + word(3, 2), 2, "a cycle: 2 → 3 → 2", "must lead to the root"),
    "a cycle after a range": (word("1-2") + word(1, 2) + word(2, 1), 2, "a cycle: 1 → 2 → 1", "must lead to the root"),
    "a missing head": (word(1, 0) + word("2-3") + word(2, 1) + word(3, "_"), 4, "HEAD is _", "complete tree"),
}

WRONGLY_ENCODED = (word(1, 0) + word(2, 1, "se\udcf1al"), 2, "byte 0xf1 is not valid utf-8", "for example latin-1")

Case = tuple[str, int, str, str]


def to_bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


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
