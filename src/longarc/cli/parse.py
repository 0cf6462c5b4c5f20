"""`longarc parse`: parse text or sentences."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longarc.cli.options import (
    Encoding,
    Model,
    OutputEncoding,
    SkipInvalid,
    Threads,
    report_language,
    report_losses,
    report_skipped,
)
from longarc.cli.progress import show_parsing
from longarc.data.formats import FORMATS, InputFormat, format_suffix
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.files import Source


def parse(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Files to parse; standard input if - or none.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", help="Parse this text and draw its trees, unless --to or -o is given.")
    ] = None,
    model: Model = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--lang",
            metavar="LANGUAGE",
            help="Language of the input, instead of a model; auto: recognize that of each file, among those of the "
            "installed models.",
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Output file; its suffix selects the format.")
    ] = "-",
    input_format: Annotated[
        Literal["auto", InputFormat],
        typer.Option(
            "--input",
            metavar="FORMAT",
            help="auto: detect conll (CoNLL-U and CoNLL-X), jsonl (JSON lines) or text by name and content. "
            "tokens: one sentence per line, words separated by spaces.",
        ),
    ] = "auto",
    output_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Output format (conllu, conllx, jsonl, tree), if the suffix does not select it.",
        ),
    ] = None,
    keep_tags: Annotated[
        bool, typer.Option("--keep-tags", help="Keep the lemmas, tags and features of the input.")
    ] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add the probability of each arc to MISC (Prob=0.98).")
    ] = False,
    ranges: Annotated[
        bool, typer.Option("--ranges", help="Add the position of each token in the text to MISC (TokenRange=0:5).")
    ] = False,
    lines: Annotated[
        bool, typer.Option("--lines", help="Each line of raw text is a paragraph: a line break ends a sentence.")
    ] = False,
    wrapped: Annotated[
        bool, typer.Option("--wrapped", help="Lines of raw text are wrapped: only a blank line ends a paragraph.")
    ] = False,
    beam: Annotated[int, typer.Option(min=1, max=64, help="Beam size: hypotheses per sentence.")] = 1,
    threads: Threads = None,
    memory: Annotated[
        int,
        typer.Option(
            min=16, help="Megabytes for the sentences that are parsed at once; one alone may need twice as much."
        ),
    ] = 256,
    encoding: Encoding = "utf-8",
    output_encoding: OutputEncoding = None,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Parse text or sentences: predict lemmas, tags, heads and relations, and keep the rest of the input as it is.

    Text is first split into sentences and words; a blank line always ends a sentence. By default the model decides
    whether a single line break does. MISC records the white space between words, so that the text can be restored from
    the output exactly.

    Several models, separated by commas, parse together: --model one.longarc,two.longarc. They must be trained on the
    same treebank with the same transition system.

    Prob is the probability of the transition that created the word's arc, including its relation, among all
    transitions that were legal at that point. It is not the probability of the whole tree.
    """
    from longarc.runtime.parser import load
    from longarc.runtime.pipeline import OUTPUT_FORMATS, InputOptions, ParseOptions, conll_encoding, parse_files

    if model is not None and language is not None:
        raise LongarcError("--model and --lang exclude each other", "Use one of them.")
    if text is not None and files:
        raise LongarcError("--text and files exclude each other", "Use one of them.")
    if lines and wrapped:
        hint = "Use --lines if each line is a paragraph, --wrapped if paragraphs run over several lines."
        raise LongarcError("--lines and --wrapped exclude each other", hint)
    if (lines or wrapped) and input_format not in ("auto", "text"):
        raise LongarcError(f"--lines and --wrapped are for raw text, not for {input_format}", "Use --input text.")
    format = output_format or ("tree" if text is not None and output == "-" else _output_format(output))
    if format not in OUTPUT_FORMATS:
        raise LongarcError(f"unknown output format {format!r}", f"Choose one of {', '.join(OUTPUT_FORMATS)}.")
    if probabilities and format in ("tree", "conllx"):
        raise LongarcError(f"--probabilities: {format} cannot represent them", "Use --to conllu or --to jsonl.")
    if (files or []).count("-") > 1:
        raise LongarcError("standard input can be read only once", "Name it with one `-`.")
    if not files and text is None and sys.stdin is not None and sys.stdin.isatty():
        typer.echo("longarc: reading standard input; end it with Ctrl-D", err=True)
    sources: list[Source] = [*(files or ["-"])]
    if text is not None:
        if input_format not in ("auto", "text", "tokens"):
            hint = "Use a file or standard input for other formats."
            raise LongarcError(f"--text is text or tokens, not {input_format}", hint)
        sources = [_text_stream(text)]
        input_format = "tokens" if input_format == "tokens" else "text"
        output_encoding = output_encoding or conll_encoding(encoding)
        encoding = "utf-8"
    options = ParseOptions(
        InputOptions(
            None if input_format == "auto" else input_format,
            encoding,
            ranges,
            "paragraphs" if lines else "spaces" if wrapped else "auto",
        ),
        keep_tags=keep_tags,
        probabilities=probabilities,
        output_format=format,
        output_encoding=output_encoding,
    )
    on_invalid = report_skipped if skip_invalid else None
    parser = load(language if model is None else model, threads=threads, memory=memory, beam=beam)
    with show_parsing([] if text is not None else files or ["-"]) as progress:
        report = parse_files(
            parser, sources, output, options, on_invalid=on_invalid, on_language=report_language, progress=progress
        )
    report_losses(report.lost)


def _text_stream(text: str) -> io.BytesIO:
    try:
        stream = io.BytesIO(text.encode())
        stream.name = "--text"
        return stream
    except UnicodeEncodeError:  # bytes that Python could not decode
        raise LongarcError("--text is not valid UTF-8", "Put it into a file and use --encoding.") from None


def _is_file(output: str) -> bool:
    """Return whether the output is a file, and not standard output, a device or a pipe."""
    return output != "-" and (not Path(output).exists() or Path(output).is_file())


def _output_format(output: str) -> str:
    """Return the format that the name of the output selects."""
    suffix = format_suffix(output)
    if not suffix or not _is_file(output):
        return "conllu"
    if suffix not in FORMATS:
        *others, last = FORMATS
        hint = f"End the name in {', '.join(others)} or {last}, or use --to; `longarc draw` writes pictures."
        raise LongarcError(f"{output}: the suffix {suffix} does not select an output format", hint)
    return "tree" if FORMATS[suffix] == "text" else FORMATS[suffix]
