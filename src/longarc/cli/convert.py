"""`longarc convert`: treebanks between CoNLL-U, CoNLL-X and JSON lines, and between projective and not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.options import (
    Encoding,
    OutputEncoding,
    SkipInvalid,
    is_jsonl,
    read_sentences,
    tell_losses,
    with_progress,
)
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence


class FileFormat(str, Enum):
    conllu = "conllu"
    conllx = "conllx"
    jsonl = "jsonl"


class SchemeName(str, Enum):
    head = "head"
    path = "path"
    head_path = "head+path"


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file to read; - is standard input.")],
    target: Annotated[
        str,
        typer.Argument(metavar="OUT", help=".conllu, .conll (CoNLL-X) or .jsonl, also with .gz or .xz; or -."),
    ],
    from_format: Annotated[
        FileFormat | None, typer.Option("--from", help="The input's format, where it cannot be told.")
    ] = None,
    to_format: Annotated[
        FileFormat | None, typer.Option("--to", help="The output's format, where the name does not say it.")
    ] = None,
    projectivize: Annotated[
        SchemeName | None,
        typer.Option(help="Lift non-projective arcs until the trees are projective, and mark the relations."),
    ] = None,
    deprojectivize: Annotated[
        bool, typer.Option("--deprojectivize", help="Lower the arcs that the relations mark as lifted.")
    ] = False,
    encoding: Encoding = "utf-8",
    output_encoding: OutputEncoding = None,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Convert a treebank; what both formats have comes over unchanged, byte for byte within one format."""
    from longarc.data.conll import encode, require_ascii_compatible
    from longarc.data.conllx import lost_in_conllx, to_conllu, to_conllx
    from longarc.data.files import open_output
    from longarc.data.jsonl import to_json
    from longarc.trees.structure import require_tree, require_tree_if_any

    if projectivize and deprojectivize:
        raise LongarcError("--projectivize and --deprojectivize exclude each other")
    wanted = to_format or _format_of(target)
    reads_json = from_format == FileFormat.jsonl or (from_format is None and is_jsonl(source))
    reader = read_sentences(
        source,
        encoding=encoding,
        skip_invalid=skip_invalid,
        check=require_tree if projectivize or deprojectivize else require_tree_if_any,
        format=from_format.value if from_format else None,
    )
    sentences = with_progress(reader, source)
    if projectivize or deprojectivize:
        sentences = _transformed(sentences, projectivize)
    lost: Counter[str] = Counter()
    out_encoding = output_encoding or ("utf-8" if wanted == FileFormat.jsonl or reads_json else encoding)
    require_ascii_compatible(out_encoding)
    same_format = True
    with open_output(target) as stream:
        for sentence in sentences:
            if wanted == FileFormat.jsonl:
                text = to_json(sentence) + "\n"
            else:
                goal = sentence.format if wanted is None else wanted.value
                same_format = same_format and goal == sentence.format
                if goal == "conllx":
                    lost += lost_in_conllx(sentence)
                    sentence = to_conllx(sentence)
                text = (to_conllu(sentence) if goal == "conllu" else sentence).to_conll()
            stream.write(encode(text, out_encoding))
        tail = getattr(reader, "tail", "")
        if wanted == FileFormat.conllx and getattr(reader, "format", "") == "conllu":
            lost += Counter(comments=sum(line.startswith("#") for line in tail.split("\n")))
        elif same_format and wanted != FileFormat.jsonl:
            stream.write(encode(tail, out_encoding))
    tell_losses(lost)


def _format_of(target: str) -> FileFormat | None:
    """The format that a name asks for; None, the input's own, for standard output."""
    if target == "-" or (Path(target).exists() and not Path(target).is_file()):
        return None
    suffixes = [suffix for suffix in Path(target).suffixes if suffix not in (".gz", ".xz")]
    formats = {".conllu": FileFormat.conllu, ".conll": FileFormat.conllx, ".conllx": FileFormat.conllx}
    if suffixes and suffixes[-1] in formats:
        return formats[suffixes[-1]]
    if is_jsonl(target):
        return FileFormat.jsonl
    raise LongarcError(
        f"{target}: the name does not say which format is wanted",
        "End it in .conllu, .conll or .jsonl (and .gz or .xz), or add --to.",
    )


def _transformed(sentences: Iterator[Sentence], scheme: SchemeName | None) -> Iterator[Sentence]:
    from longarc.trees import pseudo_projective

    for sentence in sentences:
        heads, relations = sentence.heads, sentence.relations
        if scheme is not None:
            heads, relations = pseudo_projective.projectivize(heads, relations, scheme.value)
        else:
            found = pseudo_projective.detect_scheme(relations)
            heads, relations = pseudo_projective.deprojectivize(heads, relations, found)
        sentence.set_tree(heads, relations)
        yield sentence
