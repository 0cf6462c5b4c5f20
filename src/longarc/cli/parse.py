"""`longarc parse`: trees for sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.inputs import Encoding, FileProgress, SkipInvalid, complain, is_jsonl
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
    memory: Annotated[int, typer.Option(min=16, help="Megabytes that a batch may take.")] = 256,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Parse text or sentences: predict tags, heads and relations, and leave everything else in the input as it is.

    Text is split into sentences and words first; blank lines end sentences. What stood between the words is kept in
    MISC, so that the text can be had back from the output character for character.

    Prob is the probability of the transition that made a word's arc, with its relation, among all transitions that were
    legal at that point; it says how sure the parser was there and then, not how probable the whole tree is.
    """
    from longarc.data.conll import encode
    from longarc.data.files import open_output
    from longarc.runtime.parser import load

    if text is not None and files:
        raise LongarcError("--text and files exclude each other")
    wanted = output_format or (OutputFormat.tree if text is not None and output == "-" else _format_of(output))
    parser = load(model, threads=threads, memory=memory, beam=beam)
    inputs = [] if text is not None else files or ["-"]
    out_encoding = "utf-8" if wanted == OutputFormat.jsonl else encoding
    with open_output(output) as stream, FileProgress(inputs) as progress:

        def parse_all(sentences: Iterable[Sentence]) -> None:
            for parsed in parser.stream(sentences, keep_tags=keep_tags, probabilities=probabilities):
                stream.write(encode(_text(parsed, wanted), out_encoding))

        if text is not None:
            parse_all(parser.split(text, ranges=ranges))
        for path in inputs:
            source = _Source(path, parser, input_format, encoding, skip_invalid, ranges)
            parse_all(source.read(progress))
            if wanted == OutputFormat.conllu:
                stream.write(encode(source.tail, out_encoding))


@dataclass
class _Source:
    """A file to be parsed, whatever it is."""

    path: str
    parser: Parser
    format: InputFormat
    encoding: str
    skip_invalid: bool
    ranges: bool
    tail: str = ""
    """What a CoNLL-U file has after its last sentence, once all are read"""

    def read(self, progress: FileProgress) -> Iterator[Sentence]:
        """Its sentences."""
        from longarc.data.conll import read
        from longarc.data.files import looked_into
        from longarc.data.jsonl import read_jsonl
        from longarc.data.plain import read_tokenised
        from longarc.data.raw_text import read_text

        on_invalid = complain if self.skip_invalid else None
        with looked_into(self.path, progress.counter) as (start, stream):
            kind = self._kind(start)
            if kind == InputFormat.tokens:
                yield from read_tokenised(stream, encoding=self.encoding)
            elif kind == InputFormat.jsonl:
                yield from read_jsonl(stream, encoding=self.encoding, on_invalid=on_invalid)
            elif kind == InputFormat.text:
                pieces = read_text(stream, encoding=self.encoding)
                yield from self.parser.tokenizer.split_stream(pieces, ranges=self.ranges)
            else:
                reader = read(stream, encoding=self.encoding, on_invalid=on_invalid)
                yield from reader
                self.tail = reader.tail if reader.format == "conllu" else ""

    def _kind(self, start: bytes) -> InputFormat:
        from longarc.data.conll import looks_like_conll

        if self.format != InputFormat.auto:
            return self.format
        if is_jsonl(self.path):
            return InputFormat.jsonl
        return InputFormat.conll if _is_conll(self.path) or looks_like_conll(start) else InputFormat.text


def _is_conll(path: str) -> bool:
    return any(suffix.startswith(".conll") for suffix in Path(path).suffixes)


def _format_of(output: str) -> OutputFormat:
    suffixes = [suffix for suffix in Path(output).suffixes if suffix not in (".gz", ".xz")]
    suffix = suffixes[-1] if suffixes else ""
    if is_jsonl(output):
        return OutputFormat.jsonl
    return {".conll": OutputFormat.conllx, ".conllx": OutputFormat.conllx, ".txt": OutputFormat.tree}.get(
        suffix, OutputFormat.conllu
    )


def _text(parsed: ParsedSentence, wanted: OutputFormat) -> str:
    """The sentence as it goes to the output."""
    from longarc.data.convert import to_conllx
    from longarc.data.jsonl import to_json
    from longarc.data.sentence import MISC

    if wanted == OutputFormat.tree:
        from longarc.drawing.text import text_tree

        return text_tree(parsed) + "\n"
    if wanted == OutputFormat.jsonl:
        return _json_with_probabilities(parsed, to_json(parsed)) + "\n"
    if wanted == OutputFormat.conllx:
        return to_conllx(parsed).to_conll()
    if parsed.probabilities is None:
        return parsed.to_conllu()
    for word, token in zip(parsed.words, parsed, strict=True):
        if token.probability is not None:
            kept = [item for item in word[MISC].split("|") if item != "_" and not item.startswith("Prob=")]
            word[MISC] = "|".join([*kept, f"Prob={token.probability:.4f}"])
    return parsed.to_conllu()


def _json_with_probabilities(parsed: ParsedSentence, line: str) -> str:
    if parsed.probabilities is None:
        return line
    data: dict[str, Any] = json.loads(line)
    words = (token for token in data["tokens"] if isinstance(token.get("id"), int))
    for entry, token in zip(words, parsed, strict=True):
        if token.probability is not None:
            entry["probability"] = round(token.probability, 4)
    return json.dumps(data, ensure_ascii=False)
