"""Read text that is tokenized already: one sentence per line, words separated by spaces."""

from __future__ import annotations

from collections.abc import Iterator

from longarc.data.conll import MAX_LINE, require_ascii_compatible
from longarc.data.files import ENCODING_HINT, NUL_MESSAGE, Source, read_lines, source_name
from longarc.data.sentence import Sentence
from longarc.errors import InputError


def read_pretokenized(source: Source, *, encoding: str = "utf-8") -> Iterator[Sentence]:
    """Yield the sentences of a file; empty lines are skipped."""
    name = source_name(source)
    require_ascii_compatible(encoding)
    for number, raw in enumerate(read_lines(source, 4 * MAX_LINE), 1):
        try:
            line = raw.decode(encoding)
        except UnicodeDecodeError as error:
            message = f"byte 0x{raw[error.start]:02x} is not valid {encoding}"
            raise InputError(name, number, message, ENCODING_HINT) from None
        if "\0" in line:
            raise InputError(name, number, NUL_MESSAGE)
        if forms := line.removeprefix("\ufeff").split():
            sentence = Sentence.from_forms(forms)
            sentence.line = number
            yield sentence
