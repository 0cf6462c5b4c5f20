"""`longarc parse`: trees for sentences."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from longarc.cli.options import (
    Encoding,
    FileProgress,
    OutputEncoding,
    SkipInvalid,
    complain,
    is_jsonl,
    suffix_of,
    tell_losses,
)
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence
    from longarc.runtime.parsed import ParsedSentence
    from longarc.runtime.parser import Parser


class InputFormat(str, Enum):
    auto = "auto"
    conll = "conll"
    jsonl = "jsonl"
    tokens = "tokens"
    text = "text"


class OutputFormat(str, Enum):
    conllu = "conllu"
    conllx = "conllx"
    jsonl = "jsonl"
    tree = "tree"


def parse(
    files: Annotated[list[str] | None, typer.Argument(help="What to parse; - or nothing is standard input.")] = None,
    text: Annotated[
        str | None, typer.Option("--text", help="Parse this text, and show its trees unless told otherwise.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="A .longarc file, or a name that `longarc models` lists.")
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to; its suffix chooses the format.")] = "-",
    input_format: Annotated[
        InputFormat,
        typer.Option(
            "--input",
            help="auto: CoNLL-U, CoNLL-X, .jsonl or text, by name and content; tokens: a sentence per line, words by "
            "spaces.",
        ),
    ] = InputFormat.auto,
    output_format: Annotated[
        OutputFormat | None, typer.Option("--to", help="The output's format, where its name does not say it.")
    ] = None,
    keep_tags: Annotated[bool, typer.Option("--keep-tags", help="Leave the input's tags as they are.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add to MISC how probable each arc was (Prob=0.98).")
    ] = False,
    ranges: Annotated[
        bool, typer.Option("--ranges", help="Add to MISC where each token stands in the text (TokenRange=0:5).")
    ] = False,
    beam: Annotated[int, typer.Option(min=1, max=64, help="Search with so many hypotheses per sentence.")] = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads; all cores this process may use unless given.")
    ] = None,
    memory: Annotated[
        int, typer.Option(min=16, help="Megabytes for the sentences that are parsed at once, unless one needs more.")
    ] = 256,
    encoding: Encoding = "utf-8",
    output_encoding: OutputEncoding = None,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Parse text or sentences: predict tags, heads and relations, and leave everything else in the input as it is.

    Text is split into sentences and words first; blank lines end sentences. What stood between the words is kept in
    MISC, so that the text can be had back from the output character for character.

    Prob is the probability of the transition that made a word's arc, with its relation, among all transitions that were
    legal at that point; it says how sure the parser was there and then, not how probable the whole tree is.
    """
    from longarc.data.files import open_output
    from longarc.runtime.parser import load

    if text is not None and files:
        raise LongarcError("--text and files exclude each other")
    wanted = output_format or (OutputFormat.tree if text is not None and output == "-" else _format_of(output))
    if probabilities and wanted in (OutputFormat.tree, OutputFormat.conllx):
        raise LongarcError(f"--probabilities: {wanted.value} has no place for them", "Use --to conllu or jsonl.")
    parser = load(model, threads=threads, memory=memory, beam=beam)
    inputs = [] if text is not None else files or ["-"]
    with open_output(output) as stream, FileProgress(inputs) as progress:
        out = _Output(stream, wanted, _encoding_of(wanted, encoding, output_encoding))

        def parse_all(sentences: Iterable[Sentence]) -> None:
            with closing(parser.stream(sentences, keep_tags=keep_tags, probabilities=probabilities)) as found:
                for parsed in found:
                    out.write(parsed)

        if text is not None:
            parse_all(_sentences_of(text, parser, input_format, ranges))
        for path in inputs:
            source = _Source(path, parser, input_format, encoding, skip_invalid, ranges)
            if len(inputs) > 1:
                source.first_number, source.document = out.sentences + 1, path
            parse_all(source.read(progress))
            out.end_file(source.tail)
    tell_losses(out.lost)


def _sentences_of(text: str, parser: Parser, format: InputFormat, ranges: bool) -> list[Sentence]:
    """What --text gives."""
    from longarc.data.plain import read_tokenised

    if re.search("[\ud800-\udfff]", text):
        raise LongarcError("--text is not valid UTF-8", "Put it into a file and use --encoding.")
    if format == InputFormat.tokens:
        return list(read_tokenised(io.BytesIO(text.encode())))
    if format not in (InputFormat.auto, InputFormat.text):
        raise LongarcError(f"--text is text or tokens, not {format.value}", "Put it into a file, or into a pipe.")
    return parser.split(text, ranges=ranges)


def _encoding_of(wanted: OutputFormat, encoding: str, output_encoding: str | None) -> str:
    """The output's encoding: CoNLL comes out as it came in, if it can; the rest in UTF-8."""
    from longarc.data.conll import require_ascii_compatible

    if wanted in (OutputFormat.jsonl, OutputFormat.tree):
        return "utf-8"
    if output_encoding is not None:
        require_ascii_compatible(output_encoding)
        return output_encoding
    try:
        require_ascii_compatible(encoding)
    except LongarcError:  # text can be in any encoding, columns cannot
        return "utf-8"
    return encoding


class _Output:
    """Where parsed sentences go, of one file after the other."""

    def __init__(self, stream: BinaryIO, format: OutputFormat, encoding: str) -> None:
        self.sentences = 0
        self.lost: Counter[str] = Counter()
        """What the format has no place for"""
        self._stream = stream
        self._format = format
        self._encoding = encoding
        self._last = ""
        """The last sentence as it was written, and what followed it in its file"""
        self._is_new_file = False
        """Whether what comes next is of another file"""

    def write(self, parsed: ParsedSentence) -> None:
        from longarc.data.conllx import lost_in_conllx

        if self._is_new_file:
            self._is_new_file = False
            parsed.lead = parsed.lead.removeprefix("\ufeff")
            if self._format in (OutputFormat.conllu, OutputFormat.conllx):
                self._put(_missing_end(self._last))
        if self._format == OutputFormat.conllx:
            self.lost += lost_in_conllx(parsed)
        self._put(_text(parsed, self._format))
        self.sentences += 1

    def end_file(self, tail: str) -> None:
        """`tail`: what the file has after its last sentence."""
        if self._format == OutputFormat.conllu:
            last = self._last
            self._put(tail)
            self._last = last + tail
        self._is_new_file = True

    def _put(self, text: str) -> None:
        from longarc.data.conll import encode

        self._stream.write(encode(text, self._encoding))
        self._last = text


def _missing_end(text: str) -> str:
    """What CoNLL that ends so lacks before another sentence can follow."""
    if not text or re.search(r"\n[ \r]*\n\Z", text):
        return ""
    return "\n" if text.endswith("\n") else "\n\n"


@dataclass
class _Source:
    """A file to be parsed, whatever it is."""

    path: str
    parser: Parser
    format: InputFormat
    encoding: str
    skip_invalid: bool
    ranges: bool
    first_number: int = 1
    """The `sent_id` of the first sentence of a text"""
    document: str = ""
    """The name of a text among others"""
    tail: str = ""
    """What a CoNLL-U file has after its last sentence, once all are read"""

    def read(self, progress: FileProgress) -> Iterator[Sentence]:
        """Its sentences."""
        from longarc.data.conll import read
        from longarc.data.files import open_and_peek
        from longarc.data.jsonl import read_jsonl
        from longarc.data.plain import read_tokenised
        from longarc.data.raw_text import read_text

        on_invalid = complain if self.skip_invalid else None
        with open_and_peek(self.path, progress.counter) as (start, stream):
            kind = self._kind(start)
            if kind == InputFormat.tokens:
                yield from read_tokenised(stream, encoding=self.encoding)
            elif kind == InputFormat.jsonl:
                yield from read_jsonl(stream, encoding=self.encoding, on_invalid=on_invalid)
            elif kind == InputFormat.text:
                pieces = read_text(stream, encoding=self.encoding)
                split = self.parser.tokenizer.split_stream
                found = split(pieces, ranges=self.ranges, first_number=self.first_number)
                if self.document and (first := next(found, None)) is not None:
                    first.lead = f"# newdoc id = {self.document}\n{first.lead}"
                    yield first
                yield from found
            else:
                reader = read(stream, encoding=self.encoding, on_invalid=on_invalid)
                yield from reader
                self.tail = reader.tail if reader.format == "conllu" else ""

    def _kind(self, start: bytes) -> InputFormat:
        from longarc.data.conll import looks_like_conll

        if self.format != InputFormat.auto:
            return self.format
        if is_jsonl(self.path) or _JSON_LINE.match(start):
            return InputFormat.jsonl
        return InputFormat.conll if _is_conll(self.path) or looks_like_conll(start) else InputFormat.text


_JSON_LINE = re.compile(rb'(\xef\xbb\xbf)?\{"(comments|tokens)": *\[')


def _is_conll(path: str) -> bool:
    return suffix_of(path).startswith(".conll")


def _format_of(output: str) -> OutputFormat:
    if is_jsonl(output):
        return OutputFormat.jsonl
    suffix = suffix_of(output)
    if suffix in (".json", ".svg", ".tex", ".html", ".pdf", ".png"):
        hint = "Name it .conllu, .conll, .jsonl or .txt, or use --to; `longarc draw` makes pictures."
        raise LongarcError(f"{output}: no format of `longarc parse`", hint)
    return {".conll": OutputFormat.conllx, ".conllx": OutputFormat.conllx, ".txt": OutputFormat.tree}.get(
        suffix, OutputFormat.conllu
    )


def _text(parsed: ParsedSentence, wanted: OutputFormat) -> str:
    """The sentence as it goes to the output."""
    from longarc.data.conllx import to_conllx
    from longarc.data.jsonl import to_json

    if wanted == OutputFormat.tree:
        from longarc.drawing.text import text_tree

        return text_tree(parsed) + "\n"
    _set_probabilities(parsed, are_shown=wanted == OutputFormat.conllu)
    if wanted == OutputFormat.jsonl:
        return _json_with_probabilities(parsed, to_json(parsed)) + "\n"
    if wanted == OutputFormat.conllx:
        return to_conllx(parsed).to_conll()
    return parsed.to_conllu()


def _set_probabilities(parsed: ParsedSentence, are_shown: bool) -> None:
    """Writes them into MISC, if they are there and to be shown, and takes out those of other arcs that were there."""
    from longarc.data.sentence import MISC, with_probability

    found: Iterable[float | None] = [None] * len(parsed)
    if are_shown and parsed.probabilities is not None:
        found = (token.probability for token in parsed)
    for word, probability in zip(parsed.words, found, strict=True):
        if probability is not None or "Prob=" in word[MISC]:
            word[MISC] = with_probability(word[MISC], probability)


def _json_with_probabilities(parsed: ParsedSentence, line: str) -> str:
    if parsed.probabilities is None:
        return line
    data: dict[str, Any] = json.loads(line)
    words = (token for token in data["tokens"] if isinstance(token.get("id"), int))
    for entry, token in zip(words, parsed, strict=True):
        if token.probability is not None:
            entry["probability"] = round(token.probability, 4)
    return json.dumps(data, ensure_ascii=False)
