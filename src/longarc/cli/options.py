"""Options that several commands share, and the functions that read treebanks and report problems accordingly."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longarc.cli.completion import complete_model
from longarc.data.languages import LANGUAGES
from longarc.errors import InputError, LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence
    from longarc.runtime.auto_parser import Language


def _check_encoding(name: str | None) -> str | None:
    """Reject unknown encodings. Readers of UTF-8 keep a byte order mark, so utf-8-sig is read as utf-8."""
    if name is None:
        return None
    try:
        "a".encode(name)  # codecs.lookup also finds codecs that are not for text, such as hex
        return "utf-8" if codecs.lookup(name).name == "utf-8-sig" else name
    except (LookupError, UnicodeError):
        raise LongarcError(f"unknown encoding {name!r}", "Try utf-8, latin-1, cp1252 or koi8-r.") from None


Encoding = Annotated[
    str,
    typer.Option(metavar="NAME", callback=_check_encoding, help="Encoding of the input files, for example latin-1."),
]
OutputEncoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=_check_encoding,
        help="Encoding of the output; by default that of the input. JSON is always UTF-8.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        autocompletion=complete_model,
        help="A .longarc file, or a name or language that `longarc models` lists; en_ewt by default.",
    ),
]
SkipInvalid = Annotated[bool, typer.Option("--skip-invalid", help="Report invalid sentences and skip them.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Number of threads; by default one for each core this process may use.")
]
Memory = Annotated[int, typer.Option(min=16, help="Megabytes that a sentence may need; longer ones are rejected.")]
TreebankFile = Annotated[
    str, typer.Argument(metavar="FILE", help="CoNLL-U, CoNLL-X or JSON lines; - is standard input.")
]
TreebankName = Annotated[str, typer.Option("--treebank", help="Name of the training treebank, for the model card.")]
Licence = Annotated[str, typer.Option("--licence", help="Licence of the treebank, for the model card.")]
Attribution = Annotated[
    str, typer.Option("--attribution", help="Attribution that the licence requires, for the model card.")
]
Quantize = Annotated[
    bool, typer.Option("--quantize", help="Also write an 8-bit model, with the accuracy it loses on the dev data.")
]


def read_sentences(
    path: str,
    *,
    encoding: str,
    skip_invalid: bool,
    check: Callable[[Sentence], None] | None,
    format: Literal["conllu", "conllx", "jsonl"] | None = None,
) -> Iterator[Sentence]:
    """Return a reader of a treebank: JSON lines if the name or `format` selects them, else CoNLL, by content."""
    from longarc.data.conll import SentenceReader
    from longarc.data.jsonl import read_jsonl
    from longarc.data.treebank_file import read

    on_invalid = report_skipped if skip_invalid else None
    if format is None:
        return read(path, encoding=encoding, check=check, on_invalid=on_invalid)
    if format == "jsonl":
        return read_jsonl(path, encoding=encoding, check=check, on_invalid=on_invalid)
    return SentenceReader(path, encoding=encoding, format=format, check=check, on_invalid=on_invalid)


def check_tree_and_memory(megabytes: int, bytes_per_pair: int) -> Callable[[Sentence], None]:
    """Return a check for `read_sentences`: the heads form a tree whose pairs of words fit into the memory."""
    from longarc.data.sentence_memory import require_memory
    from longarc.trees.structure import require_tree

    check_memory = require_memory(megabytes, bytes_per_pair)

    def check(sentence: Sentence) -> None:
        check_memory(sentence)
        require_tree(sentence)

    return check


def report_skipped(error: InputError) -> None:
    """Report an invalid sentence that is skipped."""
    typer.echo(f"longarc: skipped: {error.message}", err=True)


def report_language(name: str, language: Language) -> None:
    """Report the language that was recognized in an input."""
    typer.echo(f"longarc: {name}: {LANGUAGES[language.code]} ({language.probability:.0%})", err=True)


def report_losses(lost: Counter[str]) -> None:
    """Report what CoNLL-X could not represent."""
    if lost:
        losses = ", ".join(f"{name}: {count:,}" for name, count in lost.items())
        typer.echo(f"longarc: CoNLL-X cannot represent everything; left out: {losses}", err=True)
