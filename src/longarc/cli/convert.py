"""`longarc convert`: convert treebanks between CoNLL-U, CoNLL-X and JSON lines, and to and from projective trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longarc.cli.options import Encoding, OutputEncoding, SkipInvalid, read_sentences, report_losses
from longarc.cli.progress import count_sentences
from longarc.data.formats import format_of_path
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence

TreebankFormat = Literal["conllu", "conllx", "jsonl"]
Scheme = Literal["head", "path", "head+path"]


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="File to read; - is standard input.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="File to write: .conllu, .conll (CoNLL-X) or .jsonl, also .gz or .xz; or -."
        ),
    ],
    from_format: Annotated[
        TreebankFormat | None, typer.Option("--from", help="Input format, if it cannot be detected.")
    ] = None,
    to_format: Annotated[
        TreebankFormat | None, typer.Option("--to", help="Output format, if the suffix does not select it.")
    ] = None,
    projectivize: Annotated[
        Scheme | None,
        typer.Option(help="Lift non-projective arcs until the trees are projective, and mark the relations."),
    ] = None,
    deprojectivize: Annotated[
        bool, typer.Option("--deprojectivize", help="Lower the arcs that are marked as lifted.")
    ] = False,
    encoding: Encoding = "utf-8",
    output_encoding: OutputEncoding = None,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Convert a treebank. Everything that both formats can represent is kept; within one format, every byte is."""
    from longarc.data.conll import encode, require_ascii_compatible
    from longarc.data.conllx import lost_in_conllx
    from longarc.data.files import open_output
    from longarc.runtime.pipeline import format_sentence
    from longarc.trees.structure import require_acyclic, require_tree

    if projectivize and deprojectivize:
        raise LongarcError("--projectivize and --deprojectivize exclude each other", "Use one of them.")
    target_format = to_format or _target_format(target)
    needs_tree = projectivize is not None or deprojectivize
    reader = read_sentences(
        source,
        encoding=encoding,
        skip_invalid=skip_invalid,
        check=require_tree if needs_tree else require_acyclic,
        format=from_format,
    )
    sentences = count_sentences(reader, source)
    if needs_tree:
        sentences = _transform(sentences, projectivize)
    lost: Counter[str] = Counter()
    if "jsonl" in (target_format, from_format or format_of_path(source)):
        encoding = "utf-8"
    encoding = output_encoding or encoding
    require_ascii_compatible(encoding)
    keeps_format = target_format != "jsonl"
    with open_output(target) as stream:
        for sentence in sentences:
            format = target_format or sentence.format
            keeps_format = keeps_format and format == sentence.format
            if format == "conllx":
                lost += lost_in_conllx(sentence)
            stream.write(encode(format_sentence(sentence, format), encoding))
        tail = getattr(reader, "tail", "")
        if target_format == "conllx" and getattr(reader, "format", "") == "conllu":
            lost += Counter(comments=sum(line.startswith("#") for line in tail.split("\n")))
        elif keeps_format:
            stream.write(encode(tail, encoding))
    report_losses(lost)


def _target_format(target: str) -> TreebankFormat | None:
    """Return the format that a file name selects; None, the format of the input, for standard output and devices."""
    if target == "-" or (Path(target).exists() and not Path(target).is_file()):
        return None
    match format_of_path(target):
        case "conllu" | "conllx" | "jsonl" as format:
            return format
    hint = "End the name in .conllu, .conll or .jsonl (and .gz or .xz), or use --to."
    raise LongarcError(f"{target}: the suffix does not select a format", hint)


def _transform(sentences: Iterator[Sentence], scheme: Scheme | None) -> Iterator[Sentence]:
    """Projectivize the trees by a scheme, or deprojectivize them without one."""
    from longarc.trees import pseudo_projective

    for sentence in sentences:
        heads, relations = sentence.node_heads, sentence.node_relations
        if scheme is not None:
            heads, relations = pseudo_projective.projectivize(heads, relations, scheme)
        else:
            detected = pseudo_projective.detect_scheme(relations)
            heads, relations = pseudo_projective.deprojectivize(heads, relations, detected)
        sentence.set_tree(heads, relations)
        yield sentence
