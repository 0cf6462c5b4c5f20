"""The results of an experiment: one JSON line per run, and whether a run matches the current plan."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from longarc.configuration import Configuration
from longarc.data.files import open_output
from longarc.data.treebank_sources import PRETRAINED
from longarc.errors import InputError, LongarcError
from longarc.experiment.plan import Run
from longarc.trees.structure import Mask

RESULTS = "results.jsonl"
RUNS = "runs"
IDENTITY = "run.json"
"""The file in a run's folder with the identity that its training started with."""
NAMES = ("preset", "encoding", "punctuation")
FILES = ("train", "dev", "test", *PRETRAINED)
"""The keys of an identity besides those of the configuration."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the results file. Scores are F1 in percent, as `longarc evaluate` prints them."""

    run: str
    treebank: str
    preset: str
    system: str
    seed: int
    date: str
    scores: dict[str, float]
    conventions: dict[str, str]
    test: dict[str, Any]
    """The test file, its numbers of sentences and words, and the gold oracles' transitions per sentence."""
    arc_length: list[dict[str, Any]]
    """The rows of evaluation.breakdown: counts, and precision, recall and F1."""
    nonprojective: dict[str, Any]
    """The row of the non-projective arcs."""
    sentence_counts: dict[str, list[int]]
    """For every test sentence: the scored words, and those with the right head and with the right arc."""
    training: dict[str, Any]
    """Seconds, epochs, learning curve, threads."""
    versions: dict[str, str]
    identity: dict[str, Any]
    commit: str = ""
    """The commit of the code that trained and evaluated the model; empty if it was not run from a checkout."""
    right_words: dict[str, str] = {}
    """For `uas` and `las`: which of the counted words are right; see `pack_mask`."""
    variant: str = ""
    """The name of the variant, if the experiment has variants."""


def pack_mask(mask: Mask) -> str:
    """Return a mask as hexadecimal digits, for JSON."""
    return np.packbits(mask).tobytes().hex()


def unpack_mask(digits: str, count: int) -> Mask:
    """Return the mask of `count` entries that `pack_mask` packed."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(digits), dtype=np.uint8), count=count).astype(np.bool_)


def read_results(out: Path) -> dict[str, Result]:
    """Return the results by run name; none if there is no file yet."""
    path = out / RESULTS
    results: dict[str, Result] = {}
    if not path.exists():
        return results
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            result = msgspec.convert(json.loads(line), Result)
        except msgspec.ValidationError as error:
            hint = "It may be from another version of Longarc. Delete the line, or use another output folder."
            raise InputError(str(path), number, f"not the result of a run: {error}", hint) from None
        except ValueError:
            raise InputError(str(path), number, "not valid JSON", "Delete the line to repeat its run.") from None
        results[result.run] = result
    return results


def write_results(out: Path, results: Iterable[Result]) -> None:
    """Replace the whole file atomically, so that a killed process leaves no partial line."""
    with open_output(out / RESULTS) as stream:
        for result in results:
            line = json.dumps(msgspec.structs.asdict(result), ensure_ascii=False)
            stream.write(line.encode() + b"\n")


def identity(run: Run) -> dict[str, Any]:
    """Return everything that a run's result depends on: configuration, conventions, and the contents of the files."""
    treebank = run.treebank
    digests = {key: _digest(path, key == "vectors") for key, path in treebank.files.items()}
    names = {"preset": run.preset, "encoding": treebank.encoding, "punctuation": treebank.punctuation}
    return {**run.configuration.as_dict(), **names, **digests}


def _digest(path: Path, is_huge: bool) -> str:
    """Return the SHA-256 of a file, or, for speed, that of the size, start and end of a huge one."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            if is_huge:
                size = path.stat().st_size
                digest.update(str(size).encode() + stream.read(1 << 20))
                stream.seek(max(0, size - (1 << 20)))
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise LongarcError(f"{path}: cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Describe how two identities differ."""
    try:
        before, after = _completed(old), _completed(new)
    except LongarcError as error:
        return [error.message]
    return [
        f"the file `{key}`" if key in FILES else f"{key} was {before.get(key)!r}, is {after.get(key)!r}"
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def _completed(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity of an older version with today's configuration keys; new keys had their defaults then."""
    others = {key: value for key, value in identity.items() if key in (*NAMES, *FILES)}
    configuration = {key: value for key, value in identity.items() if key not in others}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return {**others, **Configuration().updated(configuration, "recorded configuration").as_dict()}


def write_identity(folder: Path, values: Mapping[str, Any]) -> None:
    """Record in a run's folder what its training starts with."""
    with open_output(folder / IDENTITY) as stream:
        stream.write(json.dumps(values, ensure_ascii=False, indent=1).encode())


def read_identity(folder: Path) -> dict[str, Any]:
    """Return what the training in a folder started with, or nothing if that is not recorded."""
    try:
        values = json.loads((folder / IDENTITY).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
