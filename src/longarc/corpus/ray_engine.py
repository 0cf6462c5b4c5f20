"""Parse a corpus with Ray Data: tasks read chunks into items, actors with a model parse items and write shards.

Ray runs a task again if its worker or machine is lost. Ray Data's checkpoints are not used: they record the ids of
finished rows, but a long document is in several shards here. The reports beside the shards record the same, need
nothing that is still a beta version, and work for any engine.
"""

from __future__ import annotations

import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from longarc.cores import available_cores
from longarc.corpus.corpus_folder import Chunk, CorpusFolder, chunk_file
from longarc.corpus.corpus_options import CorpusOptions
from longarc.corpus.input_files import InputFile
from longarc.corpus.read_items import ItemReader, whole_text_bytes
from longarc.corpus.work_items import WorkItem
from longarc.corpus.write_shards import ShardReport, write_item
from longarc.data.files import open_output
from longarc.errors import LongarcError
from longarc.runtime.model_file import read_model_file
from longarc.runtime.parser import Parser
from longarc.runtime.tokenizer import make_tokenizer

if TYPE_CHECKING:
    from longarc.runtime.tokenizer import Tokenizer

MEGABYTE = 1 << 20
WORKER_MEGABYTES = 300
"""Memory of a worker besides its model and its batches: Python, Ray, Arrow, and the item."""
READER_MEGABYTES = 300
MODEL_COPIES = 3
"""How often a model is in memory while it is loaded."""
ITEM_GROWTH = 12
"""How much larger an item in CoNLL-U is than its text."""
ITEMS_PER_WORKER = 3
"""Items that wait for each worker, at most."""
LEAST_STORE = 256 * MEGABYTE
CONNECT_SECONDS = 10.0
CONTINUE_HINT = "Run the same command again to continue."


@dataclass(frozen=True)
class Cluster:
    """Where to run."""

    address: str | None = None
    """None: start Ray on this machine"""
    workers: int | None = None
    """The most workers; None: one for each core of the machine or the cluster"""
    min_workers: int | None = None
    """The fewest workers; None: as many as `workers` on this machine, 1 on a cluster"""


def parse_with_ray(folder: CorpusFolder, cluster: Cluster) -> Iterator[ShardReport]:
    """Parse the unfinished chunks of a corpus and yield a report for each item as soon as it is finished."""
    _, chunks = folder.chunks()
    if not chunks:
        return
    with _connected(cluster, folder) as workers:
        import ray
        import ray.data

        try:
            yield from _execute(folder, chunks, workers, cluster)
        except ray.exceptions.RayError as error:
            raise _as_user_error(error) from error


def _execute(folder: CorpusFolder, chunks: list[Chunk], workers: int, cluster: Cluster) -> Iterator[ShardReport]:
    import ray.data

    _set_up_ray_data(folder.options, workers)
    arguments = {"options": folder.options.as_json(), "folder": str(folder.path.absolute())}
    rows = [{"chunk": chunk.to_json()} for chunk in chunks]
    fewest = cluster.min_workers or (workers if cluster.address is None else 1)
    dataset = (
        ray.data.from_items(rows, override_num_blocks=len(rows))
        .map_batches(
            read_chunk,
            batch_size=1,
            batch_format="pyarrow",
            fn_kwargs=arguments,
            compute=ray.data.TaskPoolStrategy(size=-(-workers // 2)),
            num_cpus=0,  # the actors occupy all cores, and reading takes little time
            memory=READER_MEGABYTES * MEGABYTE,
        )
        .map_batches(
            ShardWorker,
            batch_size=1,
            batch_format="pyarrow",
            fn_constructor_kwargs=arguments,
            compute=ray.data.ActorPoolStrategy(
                min_size=min(fewest, workers), max_size=workers, max_tasks_in_flight_per_actor=2
            ),
            num_cpus=1,
            memory=worker_memory(folder),
        )
    )
    for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
        for report in batch.column("report").to_pylist():
            yield ShardReport.from_json(report)


def read_chunk(batch: pa.Table, options: dict[str, Any], folder: str) -> Iterator[pa.Table]:
    """Read a chunk and yield its items, each as a table with one row."""
    chunk = Chunk.from_json(batch.column("chunk")[0].as_py())
    files: list[InputFile] = chunk.files
    progress = CorpusFolder.progress_of(Path(folder))
    reader = ItemReader(chunk.number, files, CorpusOptions.from_json(options), lambda: _tokenizer(progress), chunk.done)
    for item in reader:
        yield item.to_table()
    with open_output(progress / chunk_file(chunk.number)) as stream:
        stream.write(str(reader.count).encode())


@lru_cache(maxsize=1)
def _tokenizer(progress: Path) -> Tokenizer:
    path = CorpusFolder.model_in(progress)
    return make_tokenizer(read_model_file(path), lambda: read_model_file(path), str(path))


class ShardWorker:
    """An actor: loads the model once, then parses items and writes their shards."""

    def __init__(self, options: dict[str, Any], folder: str) -> None:
        pa.set_cpu_count(1)
        self._options = CorpusOptions.from_json(options)
        self._folder = Path(folder)
        self._progress = CorpusFolder.progress_of(self._folder)
        self._parser = Parser(
            CorpusFolder.model_in(self._progress), threads=1, memory=self._options.memory, beam=self._options.beam
        )

    def __call__(self, batch: pa.Table) -> pa.Table:
        item = WorkItem.from_table(batch)
        report = write_item(self._parser, item, self._options, self._folder, self._progress)
        return pa.table({"report": [report.to_json()]})


def worker_memory(folder: CorpusFolder) -> int:
    """Return the bytes that a worker needs."""
    items = 2 * ITEM_GROWTH * whole_text_bytes(folder.options.shard_bytes)
    model = MODEL_COPIES * folder.model.stat().st_size
    return (WORKER_MEGABYTES + folder.options.memory) * MEGABYTE + model + items


# ---------------------------------------------------------------------------------------------------------------------
# The cluster


@contextmanager
def _connected(cluster: Cluster, folder: CorpusFolder) -> Iterator[int]:
    """Start Ray on this machine, or join a cluster; yield the number of workers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # its messages are for Ray's developers
    with _quiet():
        import ray

    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if cluster.address is None:
        workers = cluster.workers or available_cores()
        with _quiet():
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                object_store_memory=2 * _store_bytes(folder.options, workers),
                **settings,
            )
    else:
        _check_address(cluster.address)
        try:
            with _quiet():
                ray.init(address=cluster.address, **settings)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _no_cluster(cluster.address, str(error)) from None
        workers = cluster.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    try:
        yield _workers_that_fit(workers, folder) if cluster.address is None else workers
    finally:
        ray.shutdown()


def _workers_that_fit(workers: int, folder: CorpusFolder) -> int:
    """Return how many workers this machine has memory for; otherwise Ray would wait for memory forever."""
    import ray

    needed = worker_memory(folder)
    available = int(ray.cluster_resources().get("memory", 0)) - READER_MEGABYTES * MEGABYTE
    if available < needed:
        message = f"a worker needs {needed // MEGABYTE:,} MB of memory, {max(0, available) // MEGABYTE:,} MB are free"
        raise LongarcError(message, "Allow less memory for batches, use smaller shards, or use another machine.")
    if available // needed < workers:
        warnings.warn(f"there is memory for {available // needed} workers only, not for {workers}", stacklevel=2)
    return min(workers, available // needed)


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard what Ray's C++ code prints to standard error while it starts."""
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


def _check_address(address: str) -> None:
    """Raise LongarcError at once if nothing answers at HOST:PORT; Ray would try for a long time."""
    host, colon, port = address.rpartition(":")
    if not colon or "/" in address or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise _no_cluster(address, str(error)) from None


def _no_cluster(address: str, reason: str) -> LongarcError:
    hint = "Start a cluster with `ray start --head` and name its address, or leave the address out to use this machine."
    return LongarcError(f"there is no Ray cluster at {address}: {reason.strip().splitlines()[0]}", hint)


def _store_bytes(options: CorpusOptions, workers: int) -> int:
    """Return the memory for the items that are read but not parsed yet."""
    return max(LEAST_STORE, workers * ITEMS_PER_WORKER * ITEM_GROWTH * options.shard_bytes)


def _set_up_ray_data(options: CorpusOptions, workers: int) -> None:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.target_max_block_size = 1  # each item is a block of its own, whatever its size
    context.issue_detectors_config.detectors = []
    context.execution_options.resource_limits = context.execution_options.resource_limits.copy(
        object_store_memory=_store_bytes(options, workers)
    )
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _as_user_error(error: Exception) -> Exception:
    """Return a problem that a user can solve as a LongarcError; any other error as it is."""
    cause: BaseException | None = error
    while cause is not None:
        inner = getattr(cause, "cause", None) or cause.__cause__
        if isinstance(cause, LongarcError):
            return LongarcError(f"a worker stopped: {cause.message}", CONTINUE_HINT)
        if isinstance(cause, OSError):
            return LongarcError(f"a worker stopped: {cause}", CONTINUE_HINT)
        cause = inner if isinstance(inner, BaseException) else None
    return error
