"""The output folder of a corpus: its shards, the state of an unfinished run, and the manifest of a finished one.

While a run is unfinished, the folder `progress` contains the plan, a copy of the model, the number of items of each
chunk that was read to its end, and a report for each item that is finished. The same command continues such a run.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from longarc import __version__
from longarc.corpus.corpus_options import CorpusOptions
from longarc.corpus.input_files import InputFile, digest_of, divide_into_chunks
from longarc.corpus.read_items import item_name
from longarc.corpus.write_shards import ShardReport
from longarc.data.files import open_output, remove_stale_temporaries
from longarc.errors import LongarcError
from longarc.runtime.model_file import read_card

MANIFEST, FAILED, PROGRESS = "manifest.json", "failed.jsonl", "progress"
PLAN, MODEL = "plan.json", "model.longarc"


@dataclass(frozen=True)
class Chunk:
    """Files that one task reads, and the items of it that are finished."""

    number: int
    files: list[InputFile]
    done: frozenset[int]

    def to_json(self) -> str:
        files = [[file.name, file.path, file.size] for file in self.files]
        return json.dumps({"number": self.number, "files": files, "done": sorted(self.done)})

    @classmethod
    def from_json(cls, text: str) -> Chunk:
        data = json.loads(text)
        return cls(data["number"], [InputFile(*file) for file in data["files"]], frozenset(data["done"]))


class CorpusFolder:
    """The output folder of one run."""

    def __init__(self, path: Path, files: list[InputFile], options: CorpusOptions, model: Path) -> None:
        self.path = path
        self.progress = self.progress_of(path)
        self.options = options
        self._files = files
        self._model = model

    @staticmethod
    def progress_of(path: Path) -> Path:
        """Return the folder with the state of the run whose output folder is `path`."""
        return path / PROGRESS

    @staticmethod
    def model_in(progress: Path) -> Path:
        """Return the copy of the model that the workers load."""
        return progress / MODEL

    @property
    def model(self) -> Path:
        """The copy of the model that the workers load."""
        return self.model_in(self.progress)

    @property
    def input_bytes(self) -> int:
        return sum(file.size for file in self._files)

    @cached_property
    def plan(self) -> dict[str, Any]:
        """Everything that determines the output."""
        return {
            "longarc": __version__,
            "input": {"files": len(self._files), "bytes": self.input_bytes, "sha256": digest_of(self._files)},
            "model": {"sha256": _sha256(self._model)},
            "options": self.options.as_json(),
        }

    def open(self) -> bool:
        """Create the folder or continue the run in it; return whether the run is finished already.

        Raise LongarcError if the folder contains anything else, or a run with other input, options or model.
        """
        manifest = self.path / MANIFEST
        if manifest.is_file():
            self._require_same_plan(json.loads(manifest.read_text("utf-8")))
            shutil.rmtree(self.progress, ignore_errors=True)
            return True
        plan = self.progress / PLAN
        if plan.is_file():
            self._require_same_plan(json.loads(plan.read_text("utf-8")))
            for attempts in self.progress.glob("*.attempts"):
                attempts.unlink()
            for folder in (self.path, self.progress):
                remove_stale_temporaries(folder)
            return False
        if self.path.is_dir() and any(entry.name != PROGRESS for entry in self.path.iterdir()):
            raise LongarcError(f"{self.path}: the folder is not empty", "Choose a new folder for the output.")
        try:
            self.progress.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LongarcError(f"{self.path}: cannot be created: {error.strerror}") from None
        with open_output(self.model) as stream:
            stream.write(self._model.read_bytes())
        _write_json(plan, self.plan)
        return False

    def _require_same_plan(self, earlier: dict[str, Any]) -> None:
        different = [
            *(key for key in ("longarc", "input") if earlier[key] != self.plan[key]),
            *(["model"] if earlier["model"]["sha256"] != self.plan["model"]["sha256"] else []),
            *(f"option {key}" for key, value in self.plan["options"].items() if earlier["options"].get(key) != value),
        ]
        if different:
            message = f"{self.path}: contains a run with another {', '.join(different)}"
            raise LongarcError(message, "Repeat the command of that run, or choose a new folder for the output.")

    # -----------------------------------------------------------------------------------------------------------------
    # The state of the run

    def reports(self) -> Iterator[ShardReport]:
        """Yield the reports of the finished items in order."""
        for path in sorted(self.progress.glob("*-*.json")):
            yield ShardReport.from_json(path.read_text("utf-8"))

    def chunks(self) -> tuple[list[Chunk], list[Chunk]]:
        """Return the chunks that are finished, and those that are not."""
        done: dict[int, set[int]] = {}
        for path in self.progress.glob("*-*.json"):
            number, _, item = path.stem.partition("-")
            done.setdefault(int(number), set()).add(int(item))
        finished: list[Chunk] = []
        unfinished: list[Chunk] = []
        for index, files in enumerate(divide_into_chunks(self._files, self.options.shard_bytes)):
            chunk = Chunk(index, files, frozenset(done.get(index, ())))
            count = self._item_count(index)
            is_finished = count is not None and chunk.done == frozenset(range(count))
            (finished if is_finished else unfinished).append(chunk)
        return finished, unfinished

    def _item_count(self, chunk: int) -> int | None:
        """Return the number of items of a chunk, if it was read to its end."""
        path = self.progress / chunk_file(chunk)
        return int(path.read_text("ascii")) if path.is_file() else None

    # -----------------------------------------------------------------------------------------------------------------
    # The result

    def write_failures(self) -> int:
        """Write the documents that failed so far; return how many there are."""
        count = 0
        with open_output(self.path / FAILED) as stream:
            for report in self.reports():
                for failure in report.failures:
                    stream.write(json.dumps(failure.as_json(), ensure_ascii=False).encode() + b"\n")
                    count += 1
        return count

    def finish(self) -> dict[str, Any]:
        """Write the manifest, remove the state of the run and return the manifest's counts.

        Raise LongarcError if an item is missing.
        """
        _, unfinished = self.chunks()
        if unfinished:
            missing = item_name(unfinished[0].number, 0).partition("-")[0]
            message = f"{len(unfinished)} parts of the input are not finished, the first is {missing}"
            raise LongarcError(message, "Run the same command again to continue.")
        failed = self.write_failures()
        counts = {"documents": 0, "sentences": 0, "words": 0, "failed": failed, "shards": 0, "bytes": 0}
        shards = []
        for report in self.reports():
            counts["documents"] += report.documents
            counts["sentences"] += report.sentences
            counts["words"] += report.words
            counts["bytes"] += report.bytes
            if report.shard is not None:
                counts["shards"] += 1
                shards.append({key: getattr(report, key) for key in SHARD_KEYS})
        card = read_card(self.model)
        plan = {**self.plan, "model": {**self.plan["model"], "card": card}}
        _write_json(self.path / MANIFEST, {**plan, "counts": counts, "shards": shards})
        shutil.rmtree(self.progress, ignore_errors=True)
        return counts


SHARD_KEYS = ("shard", "documents", "sentences", "words", "bytes", "sha256", "continues")


def chunk_file(chunk: int) -> str:
    """Return the name of the file with the number of items of a chunk."""
    return f"{chunk:06}.count"


def _write_json(path: Path, data: dict[str, Any]) -> None:
    with open_output(path) as stream:
        stream.write(json.dumps(data, indent=1, ensure_ascii=False).encode() + b"\n")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
