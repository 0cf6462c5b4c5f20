"""Convert raw text to sentences and back without losing a character.

White space after a token is recorded in MISC as UDPipe does: nothing for one space, `SpaceAfter=No` for none, else
`SpacesAfter=` with the white space; `SpacesBefore=` is the white space at the start of a text. Comments (`# spaces = `)
carry white space that belongs to no token, or that is too long for a column.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from longarc.data.files import ENCODING_HINT, NUL_MESSAGE, Source, read_chunks, source_name
from longarc.data.sentence import FORM, ID, MISC, Sentence, is_comment, is_empty_node, is_multiword
from longarc.errors import InputError

MAX_WORDS = 1_000
"""Longer sentences are split: no treebank has one, and parsing time is quadratic in the length."""

LONG_SPACE = 20_000
"""Longer white space ends a sentence and is carried by comments: a column with all of it could be too long to be read
back, because most characters are escaped as six."""
_SPACES_COMMENT = "# spaces = "
_COMMENT_CHARACTERS = 100_000
_ESCAPES = {" ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p", "\\": "\\\\"}
_UNESCAPES = {escape[1]: character for character, escape in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Span:
    """The position of a token in a text."""

    start: int
    end: int
    words: Sequence[str] = ()
    """The words of a multiword token; empty if the token is one word."""


def sentences_of(
    text: str,
    sentences: Sequence[Sequence[Span]],
    *,
    first_number: int = 1,
    gap: str = "",
    offset: int = 0,
    ranges: bool = False,
    paragraph_breaks: int = 2,
) -> list[Sentence]:
    """Return the sentences of a text; `sentences` are the spans of their tokens, with only white space between them.

    White space longer than LONG_SPACE may only be at the start of the text and between sentences.

    `first_number` is the `sent_id` of the first sentence. `gap` is the white space before the text, which belongs to
    the previous sentence. `offset` is the text's position in its document. With `ranges`, tokens get `TokenRange=`.
    `paragraph_breaks` line breaks start a new paragraph.
    """
    spans = [span for sentence in sentences for span in sentence]
    result = []
    comments = ""  # the long white space before a sentence
    done = 0  # tokens
    for number, sentence in enumerate(sentences):
        rows: list[list[str]] = []
        words: list[list[str]] = []
        plain = long_space = ""
        for index, span in enumerate(sentence):
            done += 1
            next_start = spans[done].start if done < len(spans) else len(text)
            after = text[span.end : next_start]
            before = text[: span.start] if done == 1 else ""
            if len(before) > LONG_SPACE:
                comments, before = spaces_comments(before), ""
            if len(after) > LONG_SPACE and done < len(spans) and index + 1 == len(sentence):
                long_space, after = after, ""
            misc = _misc(before, after, span, offset if ranges else None)
            form = text[span.start : span.end]
            plain += form + (" " if after and index + 1 < len(sentence) else "")
            first = len(words) + 1
            if span.words:
                rows.append([f"{first}-{first + len(span.words) - 1}", form, *"_______", misc])
            for word in span.words or [form]:
                words.append([str(len(words) + 1), word, *"_______", "_" if span.words else misc])
                rows.append(words[-1])
        if number:
            gap = text[sentences[number - 1][-1].end : sentence[0].start]
        lead = comments + ("# newpar\n" if gap.count("\n") >= paragraph_breaks else "")
        comments = spaces_comments(long_space)
        lead += f"# sent_id = {first_number + number}\n# text = {plain}\n"
        result.append(Sentence(rows, words, lead=lead))
        result[-1].start = offset + sentence[0].start
    return result


def text_of(sentences: Iterable[Sentence]) -> str:
    """Return the text of sentences, using the white space recorded in MISC: the inverse of `sentences_of`."""
    parts = [part for sentence in sentences for part in _parts(sentence)]
    return "".join(parts) + _spaces_in_comments(getattr(sentences, "tail", ""))


def set_starts(sentences: Iterable[Sentence]) -> None:
    """Set where each sentence starts in the text of all of them."""
    position = 0
    for sentence in sentences:
        parts = _parts(sentence)
        sentence.start = position + len(parts[0])
        position += sum(map(len, parts))


def _parts(sentence: Sentence) -> list[str]:
    """Return the white space before a sentence, its first token, the white space after it, the next token and so on."""
    parts = [_spaces_in_comments(sentence.lead)]
    for row in surface_rows(sentence):
        before, after = spaces_around(row)
        parts[-1] += before
        parts += [row[FORM], after]
    return parts


def spaces_comments(spaces: str) -> str:
    """Return comment lines that carry white space."""
    starts = range(0, len(spaces), _COMMENT_CHARACTERS)
    return "".join(f"{_SPACES_COMMENT}{_escape(spaces[start : start + _COMMENT_CHARACTERS])}\n" for start in starts)


def _spaces_in_comments(lines: str) -> str:
    if _SPACES_COMMENT not in lines:
        return ""
    comments = [line.removesuffix("\r") for line in lines.split("\n") if line.startswith(_SPACES_COMMENT)]
    return "".join(_unescape(comment.removeprefix(_SPACES_COMMENT)) for comment in comments)


def read_text(source: Source, *, encoding: str = "utf-8") -> Generator[str, None, None]:
    """Yield the text of a file in pieces, as they arrive."""
    name = source_name(source)
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 1
    for chunk in chain(read_chunks(source), [b""]):
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            line = lines + error.object[: error.start].count(b"\n")
            message = f"byte 0x{error.object[error.start]:02x} is not valid {encoding}"
            raise InputError(name, line, message, ENCODING_HINT) from None
        except UnicodeError:  # some codecs do not report the position
            raise InputError(name, 0, f"is not valid {encoding}", ENCODING_HINT) from None
        if "\0" in text:
            line = lines + text[: text.index("\0")].count("\n")
            raise InputError(name, line, NUL_MESSAGE)
        lines += text.count("\n")
        yield text


def surface_rows(sentence: Sentence) -> list[list[str]]:
    """Return the rows of the tokens in the text: multiword tokens instead of their words."""
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
    """Return the white space before and after a token, as recorded in its MISC column."""
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


def _misc(before: str, after: str, span: Span, ranges_from: int | None) -> str:
    items = [] if after == " " else ["SpaceAfter=No"] if not after else [f"SpacesAfter={_escape(after)}"]
    if before:
        items.append(f"SpacesBefore={_escape(before)}")
    if ranges_from is not None:
        items.append(f"TokenRange={ranges_from + span.start}:{ranges_from + span.end}")
    return "|".join(items) or "_"


def _escape(spaces: str) -> str:
    return "".join(_ESCAPES.get(character, f"\\u{ord(character):04x}") for character in spaces)


def _unescape(value: str) -> str:
    def character(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _UNESCAPES.get(match[2], match[2])

    return _ESCAPED.sub(character, value)
