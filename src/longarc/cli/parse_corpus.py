"""`longarc parse-corpus`: parse many documents on one machine or on a Ray cluster."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longarc.cli.corpus_progress import CorpusProgress
from longarc.cli.extras import require_extra
from longarc.cli.options import Encoding, Model
from longarc.cli.remaining_time import format_duration
from longarc.errors import LongarcError

if TYPE_CHECKING:
    from longarc.corpus.corpus_folder import CorpusFolder
    from longarc.corpus.estimate import Estimate
    from longarc.corpus.ray_engine import Cluster

SIZE = re.compile(r"(\d+)([KMG]?)", re.IGNORECASE)
SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SHARD_LIMITS = (1 << 10, 1 << 28)


def _parse_size(value: str | None) -> str | None:
    if value is not None and not SIZE.fullmatch(value):
        raise LongarcError(f"--shard-size {value}: expected a number with K or M, such as 512K or 4M")
    return value


def parse_corpus(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT", help="Files, folders, or patterns such as 'data/**/*.txt.gz' (in quotes)."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the output.")],
    format: Annotated[
        Literal["parquet", "conllu", "jsonl"],
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="parquet, conllu or jsonl. parquet: one row per sentence, with lists of words, tags, heads …",
        ),
    ] = "parquet",
    model: Model = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Join a Ray cluster: HOST:PORT, or auto for the cluster of this machine. "
            "Without it, Ray is started on this machine only.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Most workers, with one core each; by default one for each core.")
    ] = None,
    min_workers: Annotated[
        int | None,
        typer.Option(min=1, help="Fewest workers; by default all on one machine, 1 on a cluster, which then grows."),
    ] = None,
    input_format: Annotated[
        Literal["auto", "text", "lines", "conll", "jsonl", "parquet"],
        typer.Option(
            "--input",
            metavar="FORMAT",
            help="auto: detect conll, jsonl, parquet or text. text: each file is a document; "
            "lines: each line of a text file is a document.",
        ),
    ] = "auto",
    column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column with the text in JSON lines and Parquet; by default text."),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column with the document's id; by default id if there is one, else FILE:ROW is the id.",
        ),
    ] = None,
    encoding: Encoding = "utf-8",
    keep_tags: Annotated[
        bool, typer.Option("--keep-tags", help="Keep the lemmas, tags and features of the input.")
    ] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add the probability of each arc to the output.")
    ] = False,
    ranges: Annotated[
        bool,
        typer.Option(
            "--ranges", help="Add the position of each token to MISC (TokenRange=0:5). Parquet always has it."
        ),
    ] = False,
    beam: Annotated[int, typer.Option(min=1, max=64, help="Beam size: hypotheses per sentence.")] = 1,
    memory: Annotated[
        int, typer.Option(min=16, help="Megabytes for the sentences that a worker parses at once.")
    ] = 256,
    separate: Annotated[
        bool,
        typer.Option(
            "--separate",
            help="Parse short documents one by one. Slower; with an 8-bit model, the output is then exactly that of "
            "`longarc parse`.",
        ),
    ] = False,
    shard_size: Annotated[
        str | None,
        typer.Option(
            callback=_parse_size,
            metavar="SIZE",
            help="Text in an output file, such as 4M; by default 256K to 4M. A crash loses at most the files that "
            "were being written.",
        ),
    ] = None,
    max_failures: Annotated[int, typer.Option(min=0, help="Stop if more documents than this cannot be parsed.")] = 100,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing: count the documents, parse a sample, estimate the time.")
    ] = False,
) -> None:
    """Parse a corpus of many documents, on all cores of this machine or on a Ray cluster.

    Run the same command again after a crash: it continues, and no document is lost or parsed twice. The result is in
    DIR: files of about equal size, manifest.json with counts and checksums, and failed.jsonl with the documents that
    could not be parsed and the reasons.

    On a cluster, INPUT and DIR must be in a file system that all machines share, and Longarc must be installed on all
    of them.
    """
    require_extra("ray")
    from longarc.corpus.corpus_folder import CorpusFolder
    from longarc.corpus.corpus_options import CorpusOptions
    from longarc.corpus.input_files import default_shard_bytes, find_inputs
    from longarc.corpus.ray_engine import Cluster
    from longarc.runtime.installed_models import find_model

    files = find_inputs(inputs)
    options = CorpusOptions(
        format=format,
        input=None if input_format == "auto" else input_format,
        column=column,
        id_column=id_column,
        encoding=encoding,
        keep_tags=keep_tags,
        probabilities=probabilities,
        ranges=ranges,
        beam=beam,
        memory=memory,
        separate=separate,
        shard_bytes=_size_in_bytes(shard_size) if shard_size else default_shard_bytes(files),
    )
    if min_workers is not None and workers is not None and min_workers > workers:
        raise LongarcError(f"--min-workers {min_workers} is more than --workers {workers}")
    if dry_run:
        from longarc.corpus.estimate import estimate
        from longarc.runtime.parser import load

        parser = load(model, threads=1, memory=memory, beam=beam)
        return _print_estimate(estimate(files, options, parser), workers)
    folder = CorpusFolder(out, files, options, find_model(model))
    _run(folder, Cluster(address, workers, min_workers), max_failures)


def _run(folder: CorpusFolder, cluster: Cluster, max_failures: int) -> None:
    from longarc.corpus.ray_engine import parse_with_ray

    if folder.open():
        typer.echo(f"longarc: {folder.path} is finished already; nothing to do", err=True)
        return
    progress = CorpusProgress(folder.input_bytes)
    for report in folder.reports():
        progress.add_earlier(report)
    if progress.documents:
        typer.echo(f"longarc: continuing after {progress.documents:,} documents", err=True)
    start = time.monotonic()
    _check_failures(folder, progress, max_failures)
    with progress.shown():
        for report in parse_with_ray(folder, cluster):
            progress.add(report)
            _check_failures(folder, progress, max_failures)
    counts = folder.finish()
    failed = f", {counts['failed']:,} failed (see failed.jsonl)" if counts["failed"] else ""
    typer.echo(
        f"longarc: {counts['documents']:,} documents, {counts['sentences']:,} sentences, {counts['words']:,} words in "
        f"{counts['shards']:,} files{failed}; {progress.words_per_second:,.0f} words/s, "
        f"{format_duration(time.monotonic() - start)}",
        err=True,
    )


def _check_failures(folder: CorpusFolder, progress: CorpusProgress, max_failures: int) -> None:
    if progress.failures > max_failures:
        folder.write_failures()
        raise LongarcError(
            f"{progress.failures:,} documents could not be parsed, the limit is {max_failures:,}",
            f"See {folder.path / 'failed.jsonl'}. To continue, run the command again with a larger --max-failures.",
        )


def _print_estimate(estimate: Estimate, workers: int | None) -> None:
    from longarc.cores import available_cores

    count = workers or available_cores()
    content = f" ({_megabytes(estimate.content_bytes)} of content)"
    typer.echo(f"files      {estimate.files:,}, {_megabytes(estimate.input_bytes)}{content}")
    typer.echo(f"documents  {estimate.documents:,}")
    typer.echo(f"words      about {estimate.words:,}")
    typer.echo(
        f"speed      {estimate.words_per_second:,.0f} words/s per worker, "
        f"measured here on {estimate.sample_words:,} words"
    )
    typer.echo(f"time       about {format_duration(estimate.seconds(count))} with {count:,} workers")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _size_in_bytes(value: str) -> int:
    match = SIZE.fullmatch(value)
    assert match is not None
    size = int(match[1]) * SIZE_UNITS[match[2].upper()]
    if not SHARD_LIMITS[0] <= size <= SHARD_LIMITS[1]:
        raise LongarcError(f"--shard-size {value}: expected a size from 1K to 256M")
    return size
