"""Tokenised text: one sentence per line, its words separated by spaces."""

from __future__ import annotations

from collections.abc import Iterator

from longarc.data.conll import MAX_LINE, require_ascii_compatible
from longarc.data.files import ByteCounter, Source, read_lines, source_name
from longarc.data.sentence import Sentence
from longarc.errors import InputError


def read_tokenised(
    source: Source, *, encoding: str = "utf-8", counter: ByteCounter | None = None
) -> Iterator[Sentence]:
    """Streams the sentences of a file; empty lines are passed over."""
    name = source_name(source)
    require_ascii_compatible(encoding)
    for number, raw in enumerate(read_lines(source, 4 * MAX_LINE, counter), 1):
        try:
            line = raw.decode(encoding)
        except UnicodeDecodeError as error:
            hint = "If the file is in another encoding, say so, such as --encoding latin-1."
            raise InputError(name, number, f"byte 0x{raw[error.start]:02x} is not valid {encoding}", hint) from None
        if "\0" in line:
            raise InputError(name, number, "a NUL byte: this looks like binary data")
        if forms := line.removeprefix("\ufeff").split():
            sentence = Sentence.from_forms(forms)
            sentence.line = number
            yield sentence
