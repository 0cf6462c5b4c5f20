"""Parse files from end to end: read any input format, parse, write any output format.

Everything that the parser does not predict is written as it was read: comments, blank lines, the byte order mark, the
white space between tokens, and what follows the last sentence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from longarc.data.characters import LineBreaks
from longarc.data.conll import Check, RowError, encode, missing_sentence_end, read, require_ascii_compatible
from longarc.data.conllx import lost_in_conllx, to_conllu, to_conllx
from longarc.data.files import ByteCounter, Source, open_and_peek, open_output, source_name
from longarc.data.formats import InputFormat, detect_input_format
from longarc.data.jsonl import read_jsonl, to_json
from longarc.data.pretokenized import read_pretokenized
from longarc.data.raw_text import read_text
from longarc.data.sentence import MISC, Sentence, with_probability
from longarc.data.sentence_memory import require_memory
from longarc.drawing.text import text_tree
from longarc.errors import InputError, LongarcError
from longarc.runtime.parse_progress import ParseProgress

if TYPE_CHECKING:  # onnxruntime takes long to import
    from longarc.runtime.auto_parser import AutoParser, Language
    from longarc.runtime.parser import Parser
    from longarc.runtime.tokenizer import Tokenizer

BYTES_PER_PAIR, SENTENCE_SHARE = 8, 2
"""Approximate memory of a sentence per pair of words; a sentence alone may need this many times the parser's memory."""

OnLanguage = Callable[[str, "Language"], None]
"""Receives the name of an input and its language."""
OnInvalid = Callable[[InputError], None]
"""Receives the error of each invalid sentence, which is then skipped. Without it, the error is raised."""


@dataclass(frozen=True)
class InputOptions:
    """How to read an input."""

    format: InputFormat | None = None
    """None: detect it from the file name and the content"""
    encoding: str = "utf-8"
    ranges: bool = False
    """Add the position of each token in raw text to MISC (`TokenRange=0:5`)"""
    line_breaks: LineBreaks = "auto"
    """What a single line break in raw text is"""


@dataclass(frozen=True)
class ParseOptions:
    """How to read, parse and write files."""

    input: InputOptions = InputOptions()
    keep_tags: bool = False
    """Keep the tags of the input"""
    probabilities: bool = False
    """Add the probability of each arc, in CoNLL-U and JSON lines"""
    output_format: str = "conllu"
    """A key of OUTPUT_FORMATS"""
    output_encoding: str | None = None
    """None: the encoding of the input if CoNLL can be written in it, else UTF-8"""


@dataclass(frozen=True)
class ParseReport:
    """The result of `parse_files`."""

    sentences: int
    lost: Counter[str]
    """What the output format could not represent, with counts"""


def parse_files(
    parser: Parser | AutoParser,
    sources: Sequence[Source],
    target: str | Path,
    options: ParseOptions = ParseOptions(),
    *,
    on_invalid: OnInvalid | None = None,
    on_language: OnLanguage | None = None,
    progress: ParseProgress | None = None,
) -> ParseReport:
    """Parse `sources` one after the other and write them to `target`, where `-` is standard output.

    With several sources, each raw text starts with `# newdoc`. `progress` counts what is read and parsed. With
    `longarc.load("auto")` as parser, each source is parsed with the model of its language; `on_language` receives that.

    >>> report = longarc.parse_files(longarc.load(), ["examples/nonprojective.conllu"], "parsed.conllu")
    >>> report.sentences
    2
    """
    from longarc.runtime.auto_parser import AutoParser  # onnxruntime takes long to import

    progress = progress or ParseProgress()
    encoding = options.output_encoding or conll_encoding(options.input.encoding)
    check = require_memory(SENTENCE_SHARE * parser.memory, BYTES_PER_PAIR)
    with open_output(target) as stream:
        writer = SentenceWriter(stream, options.output_format, encoding)
        for source in sources:
            name = str(source) if isinstance(source, (str, Path)) else source_name(source)
            with ExitStack() as opened:
                own, counter = parser, progress.bytes_read
                if isinstance(own, AutoParser):
                    start, source = opened.enter_context(open_and_peek(source, counter))
                    own, language = own.parser_for_file(start, options.input.encoding)
                    counter = ByteCounter()  # the bytes are counted already
                    if on_language is not None:
                        on_language(name, language)
                reader = InputReader(
                    source,
                    own.tokenizer,
                    options.input,
                    first_number=writer.sentences + 1,
                    document=name if len(sources) > 1 else "",
                    check=check,
                    on_invalid=on_invalid,
                    counter=counter,
                )
                parsing = own.stream(
                    progress.count_read(reader),
                    keep_tags=options.keep_tags,
                    probabilities=options.probabilities,
                    on_parsed=progress.add_parsed,
                )
                with closing(parsing) as sentences:
                    for sentence in sentences:
                        writer.write(sentence)
                writer.end_file(reader.tail)
    return ParseReport(writer.sentences, writer.lost)


def format_sentence(sentence: Sentence, format: str, probabilities: NDArray[np.float64] | None = None) -> str:
    """Return a sentence in an output format; CoNLL-U and JSON lines include `probabilities` [n + 1] unless NaN."""
    return OUTPUT_FORMATS[format](sentence, probabilities)


def _to_conllu(sentence: Sentence, probabilities: NDArray[np.float64] | None) -> str:
    sentence = to_conllu(sentence)
    if probabilities is not None:
        sentence = sentence.copy()
        for word, probability in zip(sentence.word_rows, probabilities[1:].tolist(), strict=True):
            if not math.isnan(probability):
                word[MISC] = with_probability(word[MISC], probability)
    return sentence.to_conll()


OUTPUT_FORMATS: dict[str, Callable[[Sentence, NDArray[np.float64] | None], str]] = {
    "conllu": _to_conllu,
    "conllx": lambda sentence, _: to_conllx(sentence).to_conll(),
    "jsonl": lambda sentence, probabilities: to_json(sentence, probabilities) + "\n",
    "tree": lambda sentence, _: text_tree(sentence) + "\n",
}
"""How to write a sentence, given the probabilities of its arcs [n + 1], if any. `tree` is a drawing for terminals."""


def conll_encoding(encoding: str) -> str:
    """Return `encoding` if CoNLL can be written in it, else UTF-8: raw text can be in any encoding, columns cannot."""
    try:
        require_ascii_compatible(encoding)
    except LongarcError:
        return "utf-8"
    return encoding


class InputReader(Iterator[Sentence]):
    """Iterates over the sentences of one input, in constant memory; raw text is split by `tokenizer`.

    After the last sentence, `tail` contains the rest of a CoNLL-U file, or comments with the white space at the end of
    a text, for `SentenceWriter.end_file`.
    """

    def __init__(
        self,
        source: Source,
        tokenizer: Tokenizer,
        options: InputOptions = InputOptions(),
        *,
        first_number: int = 1,
        document: str = "",
        check: Check | None = None,
        on_invalid: OnInvalid | None = None,
        counter: ByteCounter | None = None,
    ) -> None:
        """`first_number` and `document`: `sent_id` and `# newdoc id` of the first sentence of raw text.

        A sentence that `check` rejects is invalid.
        """
        self.tail = ""
        self._source = source
        self._tokenizer = tokenizer
        self._options = options
        self._first_number = first_number
        self._document = document
        self._check = check
        self._on_invalid = on_invalid
        self._sentences = self._read(counter)

    def __next__(self) -> Sentence:
        sentence = next(self._sentences)
        while not self._accepts(sentence):
            sentence = next(self._sentences)
        return sentence

    def _accepts(self, sentence: Sentence) -> bool:
        """Return whether a sentence is valid; raise InputError if invalid ones are not skipped."""
        try:
            if self._check is not None:
                self._check(sentence)
        except RowError as error:
            problem = InputError(source_name(self._source), sentence.line, error.message, error.hint)
            if self._on_invalid is None:
                raise problem from None
            self._on_invalid(problem)
            return False
        return True

    def _read(self, counter: ByteCounter | None) -> Iterator[Sentence]:
        encoding = self._options.encoding
        with open_and_peek(self._source, counter) as (start, stream):
            format = self._options.format or detect_input_format(source_name(self._source), start)
            if format == "tokens":
                yield from read_pretokenized(stream, encoding=encoding)
            elif format == "jsonl":
                yield from read_jsonl(stream, encoding=encoding, on_invalid=self._on_invalid)
            elif format == "text":
                self.tail = yield from self._tokenizer.split_stream(
                    read_text(stream, encoding=encoding),
                    ranges=self._options.ranges,
                    line_breaks=self._options.line_breaks,
                    first_number=self._first_number,
                    lead=f"# newdoc id = {self._document}\n" if self._document else "",
                )
            else:
                reader = read(stream, encoding=encoding, on_invalid=self._on_invalid)
                yield from reader
                self.tail = reader.tail if reader.format == "conllu" else ""


class SentenceWriter:
    """Writes the parsed sentences of one or several inputs to a stream. JSON lines and trees are always UTF-8."""

    def __init__(self, stream: BinaryIO, format: str = "conllu", encoding: str = "utf-8") -> None:
        self.sentences = 0
        """How many have been written"""
        self.lost: Counter[str] = Counter()
        """What the format could not represent, with counts"""
        self._stream = stream
        self._format = format
        self._is_conll = format in ("conllu", "conllx")
        self._encoding = encoding if self._is_conll else "utf-8"
        self._previous = ""
        """The last sentence as it was written, and the tail of its file"""
        self._starts_file = False
        """Whether the next sentence is the first of another input"""
        require_ascii_compatible(self._encoding)

    def write(self, parsed: Sentence) -> None:
        """Write a sentence; this removes outdated probabilities from its MISC column."""
        if self._format == "conllx":
            self.lost += lost_in_conllx(parsed)
        if parsed.format == "conllu":
            for word in parsed.word_rows:
                if "Prob=" in word[MISC]:
                    word[MISC] = with_probability(word[MISC], None)
        text = format_sentence(parsed, self._format, parsed.probabilities)
        if self._starts_file and self._is_conll:
            text = missing_sentence_end(self._previous) + text.removeprefix("\ufeff")
        self._starts_file = False
        self._stream.write(encode(text, self._encoding))
        self._previous = text
        self.sentences += 1

    def end_file(self, tail: str = "") -> None:
        """End an input whose last sentence is followed by `tail`, which only CoNLL-U can represent."""
        if self._format == "conllu":
            self._stream.write(encode(tail, self._encoding))
            self._previous += tail
        self._starts_file = True
