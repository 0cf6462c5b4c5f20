"""Measure `longarc parse-corpus`: speed beside `longarc parse`, memory by size of the input, and overhead per worker.

The text is generated. Each command runs in a process of its own; processor time and memory are those of all its
processes, Ray's own included. Memory is the proportional set size, so that memory which processes share counts once.

    python bench/corpus_speed.py speed --megabytes 10 --rounds 3
    python bench/corpus_speed.py memory --megabytes 10 50
    python bench/corpus_speed.py memory --megabytes 10 100 1000 --conllu
    python bench/corpus_speed.py overhead --workers 1 2 4

`speed` alternates between the two commands and compares them by the ratios within each round. The outputs must be
equal. Start-up, measured with a text of one sentence, is subtracted. The target is a ratio of at least 0.9.

`memory` replaces the network by one that attaches each word to the one before it, so that a gigabyte does not take
hours: reading, batching, writing and Ray remain, and tokenization unless the input is CoNLL-U. The target is that
memory does not grow with the input.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LONGARC = [sys.executable, "-c", "from longarc.cli.main import run; run()"]
TICKS = os.sysconf("SC_CLK_TCK")
WORDS = (  # noqa: SIM905 (a list would take a line per word)
    "the of and to in is was he for it with as his on be at by had not are but from or have an they which one you were "
    "her all she there would their we him been has when who will more no if out so said what up its about into than "
    "them can only other new some could time these two may then do first any my now such like our over man me even "
    "most made after also did many before must through back years where much your way well down should because each"
).split()


EMPTY_CELLS = "\t_" * 8 + "\n"


@dataclass
class Usage:
    """What a command and all its processes used."""

    seconds: float = 0.0
    processor: float = 0.0
    """Processor seconds of all processes"""
    ray_processor: float = 0.0
    """Those of Ray's own processes and of the driver; they grow with the time that a run takes"""
    peak_memory: int = 0
    memory: list[int] = field(default_factory=list)
    """Samples, in bytes"""

    @property
    def steady_memory(self) -> int:
        """The median over the second half of the run."""
        half = self.memory[len(self.memory) // 2 :]
        return int(statistics.median(half)) if half else 0


def main() -> None:
    arguments = parse_arguments()
    # Ray's default is 15: other programs would slow down only its workers.
    os.environ |= {"RAY_worker_niceness": "0"}
    with tempfile.TemporaryDirectory(prefix="longarc-corpus-", dir=arguments.folder) as name:
        {"speed": measure_speed, "memory": measure_memory, "overhead": measure_overhead, "run-flat": run_flat}[
            arguments.measure
        ](arguments, Path(name))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("measure", choices=["speed", "memory", "overhead", "run-flat"])
    parser.add_argument("--model", help="a .longarc file or a name (default: the English model)")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[10.0], help="size of the text (default: 10)")
    parser.add_argument("--files", type=int, default=20, help="text files to divide it into (default: 20)")
    parser.add_argument("--workers", type=int, nargs="+", default=[os.cpu_count() or 1], help="default: all cores")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds, alternating (default: 3)")
    parser.add_argument("--conllu", action="store_true", help="for memory: CoNLL-U instead of text")
    parser.add_argument("--folder", help="where to put temporary files")
    parser.add_argument("--corpus", nargs=2, metavar=("INPUT", "OUT"), help=argparse.SUPPRESS)
    return parser.parse_args()


def write_corpus(folder: Path, megabytes: float, files: int, conllu: bool = False) -> tuple[list[str], int]:
    """Write files of text or CoNLL-U of equal size; return their paths and the number of words, without punctuation."""
    folder.mkdir(parents=True, exist_ok=True)
    chooser = random.Random(1)
    paths, words = [], 0
    for number in range(files):
        path = folder / f"{number:04}.{'conllu' if conllu else 'txt'}"
        with path.open("w") as stream:
            size = 0
            while size < megabytes * 1e6 / files:
                length = min(60, 1 + int(chooser.lognormvariate(2.6, 0.6)))
                sentence = chooser.choices(WORDS, k=length)
                if conllu:
                    text = "".join(f"{i}\t{word}{EMPTY_CELLS}" for i, word in enumerate(sentence, 1)) + "\n"
                else:
                    text = " ".join(sentence).capitalize() + "." + chooser.choice(["\n\n", " ", " ", " ", " "])
                stream.write(text)
                size += len(text)
                words += length
        paths.append(str(path))
    return paths, words


# ---------------------------------------------------------------------------------------------------------------------
# Measuring a process and its descendants


def run_measured(command: Sequence[str], interval: float = 0.5) -> Usage:
    """Run a command and measure all its processes until it ends; raise if it fails."""
    usage = Usage()
    processor: dict[int, float] = {}
    workers: set[int] = set()
    start = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        messages: list[str] = []
        reader = threading.Thread(target=lambda: messages.extend(process.stderr or []))
        reader.start()
        known = {process.pid}
        while process.poll() is None:
            memory = 0
            known |= descendants(known)
            for pid in known:
                memory += proportional_memory(pid)
                if (seconds := processor_seconds(pid)) is not None:
                    processor[pid] = seconds
                    workers |= {pid} if is_worker(pid) else set()
            usage.memory.append(memory)
            time.sleep(interval)
        reader.join()
    if process.returncode:
        sys.exit(f"{' '.join(command)}\n{''.join(messages)}")
    usage.seconds = time.perf_counter() - start
    usage.processor = sum(processor.values())
    usage.ray_processor = sum(seconds for pid, seconds in processor.items() if pid not in workers)
    usage.peak_memory = max(usage.memory, default=0)
    return usage


def descendants(known: set[int]) -> set[int]:
    """Return the processes whose parent, or parent's parent and so on, is known."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: set[int] = set()
    size = -1
    while size < len(found):
        size = len(found)
        found |= {pid for pid, parent in parents.items() if parent in known or parent in found}
    return found


def processor_seconds(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / TICKS


def is_worker(pid: int) -> bool:
    """Return whether a process reads or parses for Ray Data."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::Map")
    except OSError:
        return False


def proportional_memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


# ---------------------------------------------------------------------------------------------------------------------
# Speed


def parse_command(arguments: argparse.Namespace, paths: list[str], output: Path) -> list[str]:
    model = ["--model", arguments.model] if arguments.model else []
    return [*LONGARC, "parse", *paths, *model, "-o", str(output), "--threads", str(arguments.workers[0])]


def corpus_command(arguments: argparse.Namespace, paths: list[str], out: Path, workers: int) -> list[str]:
    model = ["--model", arguments.model] if arguments.model else []
    command = [*LONGARC, "parse-corpus", *paths, *model, "--out", str(out), "--format", "conllu"]
    return [*command, "--workers", str(workers)]


def measure_speed(arguments: argparse.Namespace, folder: Path) -> None:
    """Print the speed of `longarc parse-corpus` beside that of `longarc parse`."""
    paths, words = write_corpus(folder / "input", arguments.megabytes[0], arguments.files)
    tiny = folder / "tiny.txt"
    tiny.write_text("The dog sleeps.\n")
    rows: list[dict[str, float]] = []
    for number in range(1, arguments.rounds + 1):
        out = folder / "out"
        runs = {
            "parse": parse_command(arguments, paths, folder / "out.conllu"),
            "corpus": corpus_command(arguments, paths, out, arguments.workers[0]),
            "parse start": parse_command(arguments, [str(tiny)], folder / "tiny.conllu"),
            "corpus start": corpus_command(arguments, [str(tiny)], folder / "tiny", arguments.workers[0]),
        }
        usages = {}
        for name in sorted(runs, reverse=number % 2 == 0):
            shutil.rmtree({"corpus": out, "corpus start": folder / "tiny"}.get(name, ""), ignore_errors=True)
            usages[name] = run_measured(runs[name])
        check_equal(folder / "out.conllu", out)
        row: dict[str, float] = {}
        for clock in ("seconds", "processor"):
            times = {name: getattr(usage, clock) for name, usage in usages.items()}
            row |= {f"{name} {clock}": value for name, value in times.items()}
            row[f"ratio {clock}"] = times["parse"] / times["corpus"]
            row[f"net ratio {clock}"] = (times["parse"] - times["parse start"]) / (
                times["corpus"] - times["corpus start"]
            )
        row["corpus Ray's processor"] = usages["corpus"].ray_processor
        rows.append(row)
        print(f"round {number}: " + ", ".join(f"{name} {value:.2f}" for name, value in row.items()), file=sys.stderr)
    print(f"{words:,} words in {len(paths)} files, {arguments.workers[0]} cores, medians of {len(rows)} rounds\n")
    for name in rows[0]:
        print(f"{name:26} {statistics.median(row[name] for row in rows):10.2f}")
    for name in ("parse", "corpus"):
        seconds = statistics.median(row[f"{name} seconds"] - row[f"{name} start seconds"] for row in rows)
        print(f"{name + ' words/s':26} {words / seconds:10,.0f}")


def check_equal(expected: Path, out: Path) -> None:
    """Exit if the commands wrote different trees; `longarc parse` numbers the sentences of all files together."""

    def lines(text: str) -> list[str]:
        return [line for line in text.split("\n") if not line.startswith("# sent_id")]

    shards = "".join(path.read_text("utf-8") for path in sorted(out.glob("*.conllu")))
    if lines(shards) != lines(expected.read_text("utf-8")):
        sys.exit("the outputs differ")


# ---------------------------------------------------------------------------------------------------------------------
# Memory


def measure_memory(arguments: argparse.Namespace, folder: Path) -> None:
    """Print memory by the size of the input: one long file, as in the worst case."""
    workers = arguments.workers[0]
    print(
        f"one {'treebank' if arguments.conllu else 'text'} file, {workers} workers; memory of all processes together\n"
    )
    print(f"{'MB':>6} {'seconds':>9} {'steady MB':>10} {'peak MB':>9} {'output MB':>10}")
    for megabytes in arguments.megabytes:
        (path,), _ = write_corpus(folder / f"input-{megabytes:g}", megabytes, 1, arguments.conllu)
        out = folder / "out"
        model = ["--model", arguments.model] if arguments.model else []
        command = [sys.executable, __file__, "run-flat", "--corpus", path, str(out), *model]
        usage = run_measured([*command, "--workers", str(workers)], interval=1.0)
        written = sum(file.stat().st_size for file in out.iterdir())
        print(
            f"{megabytes:6g} {usage.seconds:9.0f} {usage.steady_memory / 1e6:10.0f} {usage.peak_memory / 1e6:9.0f} "
            f"{written / 1e6:10.0f}",
            flush=True,
        )
        shutil.rmtree(out)
        Path(path).unlink()


def run_flat(arguments: argparse.Namespace, _: Path) -> None:
    """Parse a corpus with workers that attach each word to the one before it."""
    from longarc.corpus import ray_engine
    from longarc.corpus.corpus_folder import CorpusFolder
    from longarc.corpus.corpus_options import CorpusOptions
    from longarc.corpus.input_files import default_shard_bytes, find_inputs
    from longarc.data.sentence import DEPREL, HEAD, Sentence
    from longarc.runtime.installed_models import find_model

    class FlatWorker(ray_engine.ShardWorker):
        def __init__(self, options: dict[str, Any], folder: str) -> None:
            super().__init__(options, folder)

            def parse_batch(sentences: Sequence[Sentence], **_: Any) -> list[Sentence]:
                for sentence in sentences:
                    sentence.set_column(HEAD, ["", *map(str, range(len(sentence)))])
                    sentence.set_column(DEPREL, ["", *["dep"] * len(sentence)])
                return list(sentences)

            self._parser.parse_batch = parse_batch  # type: ignore[method-assign]

    ray_engine.ShardWorker = FlatWorker  # type: ignore[misc]
    source, out = arguments.corpus
    files = find_inputs([source])
    options = CorpusOptions(format="parquet", shard_bytes=default_shard_bytes(files))
    folder = CorpusFolder(Path(out), files, options, find_model(arguments.model))
    folder.open()
    for _report in ray_engine.parse_with_ray(folder, ray_engine.Cluster(workers=arguments.workers[0])):
        pass
    folder.finish()


# ---------------------------------------------------------------------------------------------------------------------
# Overhead


def measure_overhead(arguments: argparse.Namespace, folder: Path) -> None:
    """Print what a run costs that has nothing to parse, by number of workers."""
    tiny = folder / "tiny.txt"
    tiny.write_text("The dog sleeps.\n")
    print(f"{'workers':>8} {'seconds':>9} {'processor s':>12} {'peak MB':>9}")
    for workers in arguments.workers:
        usages = []
        for _ in range(arguments.rounds):
            shutil.rmtree(folder / "out", ignore_errors=True)
            usages.append(run_measured(corpus_command(arguments, [str(tiny)], folder / "out", workers)))
        seconds, processor, memory = (
            statistics.median(getattr(usage, name) for usage in usages)
            for name in ("seconds", "processor", "peak_memory")
        )
        print(f"{workers:8} {seconds:9.1f} {processor:12.1f} {memory / 1e6:9.0f}", flush=True)


if __name__ == "__main__":
    main()
