"""What an experiment is to do, read from TOML and checked key by key before anything begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, cast, get_args

from longarc.errors import LongarcError
from longarc.evaluation.conventions import Punctuation
from longarc.evaluation.significance import SAMPLES
from longarc.experiment.paper_results import SCORES
from longarc.training.configuration import Configuration, preset, read_toml
from longarc.transitions import SYSTEMS


@dataclass(frozen=True)
class Treebank:
    """A `[[treebank]]` of the file."""

    name: str
    test: Path
    train: Path | None = None
    """Without it nothing is trained: only the transitions of the test set are counted."""
    dev: Path | None = None
    encoding: str = "utf-8"
    punctuation: Punctuation = "count"
    paper: str | None = None
    """The paper's dataset whose figures ours are comparable to."""
    paper_note: str = ""
    """How it differs from that."""
    vectors: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The name as a part of file names."""
        return re.sub(r"[^\w.]+", "-", self.name).strip("-.")

    @property
    def files(self) -> dict[str, Path]:
        """All files that are read, by their keys."""
        paths = {"train": self.train, "dev": self.dev, "test": self.test, "vectors": self.vectors}
        return {key: path for key, path in paths.items() if path is not None}


@dataclass(frozen=True)
class Run:
    """One training and its measurement."""

    treebank: Treebank
    preset: str
    system: str
    seed: int
    configuration: Configuration

    @property
    def name(self) -> str:
        """Of the run's folder, its model and its line among the results."""
        return f"{self.treebank.slug}-{self.preset}-{self.system}-{self.seed}"

    def __str__(self) -> str:
        return f"{self.treebank.name}, preset {self.preset}, {self.system}, seed {self.seed}"


@dataclass(frozen=True)
class Plan:
    """All that the file says."""

    path: Path
    text: str
    systems: tuple[str, ...]
    presets: tuple[str, ...]
    seeds: tuple[int, ...]
    treebanks: tuple[Treebank, ...]
    threads: int | None
    samples: int
    runs: tuple[Run, ...]
    """In the order in which they are done."""


Kind = tuple[str, Callable[[Any], bool]]
"""What a value must be, in words and as a test."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def _is_list_of(value: Any, test: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(test, value)) and len(set(value)) == len(value)


def _one_of(names: list[str]) -> Kind:
    return f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names


_TEXT: Kind = ("text", _is_text)
_SETTINGS: Kind = ("a table of configuration keys", lambda value: isinstance(value, dict))
_TOP: dict[str, Kind] = {
    "systems": (
        f"a list of different systems out of {', '.join(SYSTEMS)}",
        lambda value: _is_list_of(value, lambda name: isinstance(name, str) and name in SYSTEMS),
    ),
    "presets": ("a list of different presets' names", lambda value: _is_list_of(value, _is_text)),
    "seeds": (
        "a list of different whole numbers, 0 or more",
        lambda value: _is_list_of(value, lambda seed: _is_number(seed, 0)),
    ),
    "set": _SETTINGS,
    "threads": ("a whole number, 1 or more", lambda value: _is_number(value, 1)),
    "samples": ("a whole number, 1 or more", lambda value: _is_number(value, 1)),
    "treebank": (
        "one or more tables, each under the heading [[treebank]]",
        lambda value: isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value),
    ),
}
_TREEBANK: dict[str, Kind] = {
    **dict.fromkeys(("name", "train", "test", "dev", "encoding", "vectors", "paper_note"), _TEXT),
    "punctuation": _one_of(list(get_args(Punctuation))),
    "paper": _one_of(list(SCORES)),
    "set": _SETTINGS,
}


def _check(values: Mapping[str, Any], kinds: Mapping[str, Kind], required: tuple[str, ...], origin: str) -> None:
    valid = f"Valid keys: {', '.join(kinds)}."
    for key, value in values.items():
        if key not in kinds:
            raise LongarcError(f"{origin}: unknown key {key!r}", valid)
        expected, test = kinds[key]
        if not test(value):
            raise LongarcError(f"{origin}: {key} is {value!r}, expected {expected}", valid)
    for key in required:
        if key not in values:
            raise LongarcError(f"{origin}: {key} is missing", valid)


def read_plan(path: Path) -> Plan:
    """Reads and checks an experiment's file; paths in it are relative to its folder."""
    values = read_toml(path)
    _check(values, _TOP, ("systems", "treebank"), str(path))
    treebanks = tuple(
        _treebank(entry, path.parent, f"{path}: treebank {number}")
        for number, entry in enumerate(values["treebank"], 1)
    )
    presets = tuple(values.get("presets", ["paper"]))
    seeds = tuple(values.get("seeds", [1]))
    common = values.get("set", {})
    _check_settings(common, f"{path}: set")
    runs = tuple(
        Run(treebank, name, system, seed, _configuration(path, name, common, treebank, system, seed))
        for treebank, name, system, seed in product(treebanks, presets, values["systems"], seeds)
        if treebank.train is not None
    )
    if not runs:
        raise LongarcError(f"{path}: no treebank has a `train` file", "`longarc stats` counts transitions too.")
    known: dict[str, Run] = {}
    for run in runs:
        other = known.setdefault(run.name.lower(), run)
        if other is not run:
            raise LongarcError(f"{path}: two runs are called {run.name}", "Give every treebank a name of its own.")
    return Plan(
        path=path,
        text=path.read_text("utf-8"),
        systems=tuple(values["systems"]),
        presets=presets,
        seeds=seeds,
        treebanks=treebanks,
        threads=values.get("threads"),
        samples=values.get("samples", SAMPLES),
        runs=runs,
    )


def _treebank(values: Mapping[str, Any], folder: Path, origin: str) -> Treebank:
    _check(values, _TREEBANK, ("name", "test"), origin)
    _check_settings(values.get("set", {}), f"{origin}: set")

    def path(key: str) -> Path | None:
        return folder / values[key] if key in values else None

    treebank = Treebank(
        name=values["name"],
        test=folder / values["test"],
        train=path("train"),
        dev=path("dev"),
        encoding=values.get("encoding", "utf-8"),
        punctuation=cast(Punctuation, values.get("punctuation", "count")),
        paper=values.get("paper"),
        paper_note=values.get("paper_note", ""),
        vectors=path("vectors"),
        settings=values.get("set", {}),
    )
    if not treebank.slug:
        raise LongarcError(f"{origin}: name is {treebank.name!r}, which has no letter or digit in it")
    return treebank


def _check_settings(settings: Mapping[str, Any], origin: str) -> None:
    """Refuses what the lists of the file say."""
    for key, where in (("system", "systems"), ("seed", "seeds")):
        if key in settings:
            raise LongarcError(f"{origin}: {key} cannot be set here", f"It comes from the list `{where}`.")


def _configuration(
    path: Path, name: str, common: Mapping[str, Any], treebank: Treebank, system: str, seed: int
) -> Configuration:
    configuration = preset(name).updated(common, f"{path}: set")
    configuration = configuration.updated(treebank.settings, f"{path}: treebank {treebank.name}: set")
    return configuration.updated({"system": system, "seed": seed}, str(path))


def require_files(plan: Plan) -> None:
    """Says which files are not there, all at once."""
    missing = [
        f"{treebank.name}: {key}: {path}"
        for treebank in plan.treebanks
        for key, path in treebank.files.items()
        if not path.is_file()
    ]
    if missing:
        count = "a file is missing" if len(missing) == 1 else f"{len(missing)} files are missing"
        hint = f"Paths are relative to the folder of {plan.path.name}."
        raise LongarcError("\n  ".join([f"{plan.path}: {count}", *missing]), hint)
