"""`longarc parse`: trees for sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.inputs import Encoding, FileProgress, SkipInvalid, complain, is_jsonl

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence
    from longarc.runtime.parsed import ParsedSentence


class InputFormat(str, Enum):
    auto = "auto"
    conll = "conll"
    jsonl = "jsonl"
    tokens = "tokens"


class OutputFormat(str, Enum):
    conllu = "conllu"
    conllx = "conllx"
    jsonl = "jsonl"
    tree = "tree"


def parse(
    files: Annotated[list[str] | None, typer.Argument(help="What to parse; - or nothing is standard input.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="A .longarc file.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to; its suffix chooses the format.")] = "-",
    input_format: Annotated[
        InputFormat,
        typer.Option("--input", help="auto: CoNLL-U, CoNLL-X or .jsonl; tokens: a sentence per line, words by spaces."),
    ] = InputFormat.auto,
    output_format: Annotated[
        OutputFormat | None, typer.Option("--to", help="The output's format, where its name does not say it.")
    ] = None,
    keep_tags: Annotated[bool, typer.Option("--keep-tags", help="Leave the input's tags as they are.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add to MISC how probable each arc was (Prob=0.98).")
    ] = False,
    beam: Annotated[int, typer.Option(min=1, max=64, help="Search with so many hypotheses per sentence.")] = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads; all cores this process may use unless given.")
    ] = None,
    memory: Annotated[int, typer.Option(min=16, help="Megabytes that a batch may take.")] = 256,
    encoding: Encoding = "utf-8",
    skip_invalid: SkipInvalid = False,
) -> None:
    """Parse sentences: predict tags, heads and relations, and leave everything else in the input as it is.

    Prob is the probability of the transition that made a word's arc, with its relation, among all transitions that were
    legal at that point; it says how sure the parser was there and then, not how probable the whole tree is.
    """
    from longarc.data.conll import encode
    from longarc.data.files import open_output
    from longarc.runtime.parser import load

    wanted = output_format or _format_of(output)
    parser = load(model, threads=threads, memory=memory, beam=beam)
    inputs = files or ["-"]
    out_encoding = "utf-8" if wanted == OutputFormat.jsonl else encoding
    with open_output(output) as stream, FileProgress(inputs) as progress:
        for path in inputs:
            reader = _reader(path, input_format, encoding, skip_invalid, progress)
            for parsed in parser.stream(reader, keep_tags=keep_tags, probabilities=probabilities):
                stream.write(encode(_text(parsed, wanted), out_encoding))
            if wanted == OutputFormat.conllu and getattr(reader, "format", "") == "conllu":
                stream.write(encode(getattr(reader, "tail", ""), out_encoding))


def _reader(
    path: str, input_format: InputFormat, encoding: str, skip_invalid: bool, progress: FileProgress
) -> Iterator[Sentence]:
    from longarc.data.conll import read
    from longarc.data.jsonl import read_jsonl
    from longarc.data.plain import read_tokenised

    on_invalid = complain if skip_invalid else None
    if input_format == InputFormat.tokens:
        return read_tokenised(path, encoding=encoding, counter=progress.counter)
    if input_format == InputFormat.jsonl or (input_format == InputFormat.auto and is_jsonl(path)):
        return read_jsonl(path, encoding=encoding, on_invalid=on_invalid, counter=progress.counter)
    return read(path, encoding=encoding, on_invalid=on_invalid, counter=progress.counter)


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
