"""Raw text and the tokens in it: nothing of a text is lost when it becomes sentences, and sentences give it back.

What stands between tokens is kept in MISC, by the conventions of UDPipe: nothing where it is one space, `SpaceAfter=No`
where it is nothing, else `SpacesAfter=` with the white space itself; `SpacesBefore=` where a text begins with it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from longarc.data.files import ByteCounter, Source, read_chunks, source_name
from longarc.data.sentence import FORM, ID, MISC, Sentence, is_comment, is_empty_node, is_multiword
from longarc.errors import InputError

MAX_WORDS = 1_000
"""A sentence that goes on for longer is cut: no treebank has one, and parsing takes time by the square of it."""

_ESCAPES = {" ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p", "\\": "\\\\"}
_UNESCAPES = {escape[1]: character for character, escape in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Span:
    """A token of a text."""

    start: int
    end: int
    words: Sequence[str] = ()
    """The words of a multiword token; empty for one that is itself a word."""


def sentences_of(
    text: str,
    sentences: Sequence[Sequence[Span]],
    *,
    first_number: int = 1,
    gap: str = "",
    ranges_from: int | None = None,
) -> list[Sentence]:
    """A text as sentences, given where its tokens are, in order and with nothing but white space between them.

    `first_number`: the `sent_id` of the first; `gap`: white space before the text, which is another sentence's;
    `ranges_from`: where the text begins in its document, if tokens shall be marked with the range of their characters
    (`TokenRange=`).
    """
    spans = [span for sentence in sentences for span in sentence]
    made = []
    done = 0
    for number, sentence in enumerate(sentences):
        rows: list[list[str]] = []
        words: list[list[str]] = []
        plain = ""
        for place, span in enumerate(sentence):
            done += 1
            end_of_space = spans[done].start if done < len(spans) else len(text)
            after = text[span.end : end_of_space]
            before = text[: span.start] if done == 1 else ""
            offset = ranges_from
            misc = _misc(before, after, None if offset is None else (offset + span.start, offset + span.end))
            form = text[span.start : span.end]
            plain += form + (" " if after and place + 1 < len(sentence) else "")
            first = len(words) + 1
            if span.words:
                rows.append([f"{first}-{first + len(span.words) - 1}", form, *"_______", misc])
            for word in span.words or [form]:
                words.append([str(len(words) + 1), word, *"_______", "_" if span.words else misc])
                rows.append(words[-1])
        if number:
            gap = text[sentences[number - 1][-1].end : sentence[0].start]
        lead = "# newpar\n" if gap.count("\n") > 1 else ""
        lead += f"# sent_id = {first_number + number}\n# text = {plain}\n"
        made.append(Sentence(rows, words, lead=lead))
    return made


def text_of(sentences: Iterable[Sentence]) -> str:
    """The text that sentences come from, as far as they tell: the opposite of `sentences_of`."""
    parts = []
    for sentence in sentences:
        for row in surface_rows(sentence):
            before, after = spaces_around(row)
            parts += [before, row[FORM], after]
    return "".join(parts)


def read_text(source: Source, *, encoding: str = "utf-8", counter: ByteCounter | None = None) -> Iterator[str]:
    """The text of a file in pieces, as they arrive."""
    name = source_name(source)
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 1
    for chunk, is_last in _with_end(read_chunks(source, counter=counter)):
        try:
            text = decoder.decode(chunk, final=is_last)
        except UnicodeDecodeError as error:
            line = lines + error.object[: error.start].count(b"\n")
            hint = "If the file is in another encoding, say so, such as --encoding latin-1."
            message = f"byte 0x{error.object[error.start]:02x} is not valid {encoding}"
            raise InputError(name, line, message, hint) from None
        except UnicodeError:  # some codecs tell nothing more
            raise InputError(name, 0, f"is not valid {encoding}", "Say which encoding it is in.") from None
        if "\0" in text:
            line = lines + text[: text.index("\0")].count("\n")
            raise InputError(name, line, "a NUL byte: this looks like binary data")
        lines += text.count("\n")
        yield text


def _with_end(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for chunk in chunks:
        yield chunk, False
    yield b"", True


def surface_rows(sentence: Sentence) -> list[list[str]]:
    """The rows of the tokens that stand in the text: multiword tokens in place of their words."""
    rows = []
    last = 0
    for row in sentence.rows:
        if is_comment(row) or is_empty_node(row):
            continue
        if is_multiword(row):
            last = int(row[ID].partition("-")[2])
            rows.append(row)
        elif int(row[ID]) > last:
            rows.append(row)
    return rows


def spaces_around(row: Sequence[str]) -> tuple[str, str]:
    """The white space before and after a token, by its MISC column."""
    before, after = "", " "
    for item in row[MISC].split("|"):
        key, _, value = item.partition("=")
        if key == "SpaceAfter" and value == "No":
            after = ""
        elif key == "SpacesAfter":
            after = _unescape(value)
        elif key == "SpacesBefore":
            before = _unescape(value)
    return before, after


def _misc(before: str, after: str, characters: tuple[int, int] | None) -> str:
    items = [] if after == " " else ["SpaceAfter=No"] if not after else [f"SpacesAfter={_escape(after)}"]
    if before:
        items.append(f"SpacesBefore={_escape(before)}")
    if characters is not None:
        items.append("TokenRange={}:{}".format(*characters))
    return "|".join(items) or "_"


def _escape(spaces: str) -> str:
    return "".join(_ESCAPES.get(character, f"\\u{ord(character):04x}") for character in spaces)


def _unescape(value: str) -> str:
    def character(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _UNESCAPES.get(match[2], match[2])

    return _ESCAPED.sub(character, value)
