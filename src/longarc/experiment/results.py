"""What has been measured: one JSON line per run, and whether it was measured as the experiment says now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from longarc.data.files import open_output
from longarc.errors import InputError, LongarcError
from longarc.experiment.plan import Run
from longarc.training.configuration import Configuration

RESULTS = "results.jsonl"
RUNS = "runs"
IDENTITY = "run.json"
"""Beside a training: what it was begun with."""


@dataclass(frozen=True)
class Result:
    """A line of the file; scores are F1 in percent, as in `longarc evaluate`."""

    run: str
    treebank: str
    preset: str
    system: str
    seed: int
    date: str
    scores: dict[str, float]
    conventions: dict[str, str]
    test: dict[str, Any]
    """The test file, its sentences and words, and the transitions per sentence of the gold oracles."""
    arc_length: list[dict[str, Any]]
    """The rows of evaluation.breakdown: counts, and precision, recall and F1."""
    nonprojective: dict[str, Any]
    """The row of the non-projective arcs."""
    sentence_counts: dict[str, list[int]]
    """Of every test sentence the words that count, and those with the right head and the right arc."""
    training: dict[str, Any]
    """Seconds, epochs, the learning curve, threads."""
    versions: dict[str, str]
    fingerprint: str
    identity: dict[str, Any]


def read_results(out: Path) -> dict[str, Result]:
    """The results by the names of their runs; none if there is no file yet."""
    path = out / RESULTS
    found: dict[str, Result] = {}
    if not path.exists():
        return found
    expected = {field.name for field in fields(Result)}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            values = json.loads(line)
        except ValueError:
            hint = "Take the line out, and its run is repeated."
            raise InputError(str(path), number, "not valid JSON", hint) from None
        if not isinstance(values, dict) or not expected <= values.keys():
            hint = "It may be of another version of Longarc. Take the line out, or use another --out."
            raise InputError(str(path), number, "not the result of a run", hint)
        found[values["run"]] = Result(**{key: values[key] for key in expected})
    return found


def write_results(out: Path, results: Iterable[Result]) -> None:
    """Writes the whole file anew, so that a line is there whole or not at all, whenever the process is killed."""
    with open_output(out / RESULTS) as stream:
        for result in results:
            stream.write(json.dumps(asdict(result), ensure_ascii=False).encode() + b"\n")


def identity(run: Run) -> dict[str, Any]:
    """All that a run's result depends on: its configuration, the conventions, and what is in the files."""
    treebank = run.treebank
    digests = {key: _digest(path, whole=key != "vectors") for key, path in treebank.files.items()}
    named = {"preset": run.preset, "encoding": treebank.encoding, "punctuation": treebank.punctuation}
    return {**run.configuration.as_dict(), **named, **digests}


def _digest(path: Path, whole: bool) -> str:
    """The SHA-256 of a file; of a file of vectors, which may be huge, that of its size, its start and its end."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            if whole:
                while chunk := stream.read(1 << 20):
                    digest.update(chunk)
            else:
                size = path.stat().st_size
                digest.update(str(size).encode() + stream.read(1 << 20))
                stream.seek(max(0, size - (1 << 20)))
                digest.update(stream.read())
    except OSError as error:
        raise LongarcError(f"{path}: cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def fingerprint(values: Mapping[str, Any]) -> str:
    """A short name of an identity."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """In words, what differs between two identities.

    A key of the configuration that did not exist when the old one was written had its default value then.
    """
    defaults = Configuration().as_dict()
    found = []
    for key in sorted({*old, *new}):
        before, after = old.get(key, defaults.get(key)), new.get(key, defaults.get(key))
        if before == after:
            continue
        is_file = key in ("train", "dev", "test", "vectors")
        found.append(f"the file `{key}`" if is_file else f"{key} was {before!r}, is {after!r}")
    return found


def write_identity(folder: Path, values: Mapping[str, Any]) -> None:
    """Notes in a run's folder what its training is begun with."""
    with open_output(folder / IDENTITY) as stream:
        stream.write(json.dumps(values, ensure_ascii=False, indent=1).encode())


def read_identity(folder: Path) -> dict[str, Any]:
    """What the training in a folder was begun with; nothing if that is not known."""
    try:
        values = json.loads((folder / IDENTITY).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
