"""The plan of an experiment: treebanks × presets × systems × seeds, read from a TOML file and validated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from longarc.configuration import Configuration, preset
from longarc.data.schema import convert, read_toml
from longarc.data.treebank_sources import WithFiles, require_files, resolve_paths
from longarc.errors import LongarcError
from longarc.evaluation.conventions import Punctuation
from longarc.evaluation.significance import SAMPLES
from longarc.experiment.paper_results import SCORES
from longarc.transitions import SYSTEMS


class ExperimentTreebank(WithFiles, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `[[treebank]]` of the file."""

    name: Annotated[str, Meta(pattern=r"\w", description="text with a letter or digit in it")]
    train: Path | None = None
    """If missing, nothing is trained: only the transitions of the test set are counted."""
    dev: Path | None = None
    test: Path
    vectors: Path | None = None
    """A file of word vectors"""
    subwords: Path | None = None
    """The file pieces.txt of a table of subword vectors"""
    encoding: Annotated[str, Meta(min_length=1)] = "utf-8"
    punctuation: Punctuation = "count"
    paper: str | None = None
    """The dataset in the paper that the results are compared with."""
    paper_note: str = ""
    """How the treebank differs from that dataset."""
    settings: dict[str, Any] = field(name="set", default_factory=dict)

    def __post_init__(self) -> None:
        if self.paper is not None and self.paper not in SCORES:
            raise ValueError(f"paper is {self.paper!r}, expected one of {', '.join(SCORES)}")
        _check_settings(self.settings)

    @property
    def slug(self) -> str:
        """The name in a form that is safe in file names."""
        return re.sub(r"[^\w.]+", "-", self.name).strip("-.")


class ExperimentFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of the file."""

    systems: Annotated[tuple[str, ...], Meta(min_length=1)]
    presets: Annotated[tuple[str, ...], Meta(min_length=1)] = ("paper",)
    seeds: Annotated[
        tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1, description="a list of whole numbers, at least 0")
    ] = (1,)
    settings: dict[str, Any] = field(name="set", default_factory=dict)
    threads: Annotated[int, Meta(ge=1)] | None = None
    samples: Annotated[int, Meta(ge=1)] = SAMPLES
    treebanks: Annotated[
        tuple[ExperimentTreebank, ...],
        Meta(min_length=1, description="one or more tables with the heading [[treebank]]"),
    ] = field(name="treebank")

    def __post_init__(self) -> None:
        for key, values in (("systems", self.systems), ("presets", self.presets), ("seeds", self.seeds)):
            if len(set(values)) < len(values):
                raise ValueError(f"{key} is {list(values)}, expected a list of different items")
        if not set(self.systems) <= set(SYSTEMS):
            raise ValueError(f"systems is {list(self.systems)}, expected a list of some of {', '.join(SYSTEMS)}")
        _check_settings(self.settings)


def _check_settings(settings: Mapping[str, Any]) -> None:
    for key in ("system", "seed"):
        if key in settings:
            raise ValueError(f"set: {key} cannot be set here: the list `{key}s` of the experiment defines it")


@dataclass(frozen=True)
class Run:
    """One training and its evaluation."""

    treebank: ExperimentTreebank
    preset: str
    system: str
    seed: int
    configuration: Configuration

    @property
    def name(self) -> str:
        """The name of the run's folder, of its model and of its line in the results."""
        return f"{self.treebank.slug}-{self.preset}-{self.system}-{self.seed}"

    def __str__(self) -> str:
        return f"{self.treebank.name}, preset {self.preset}, {self.system}, seed {self.seed}"


@dataclass(frozen=True)
class ExperimentPlan:
    """An experiment, with paths resolved and all its runs."""

    path: Path
    text: str
    systems: tuple[str, ...]
    presets: tuple[str, ...]
    seeds: tuple[int, ...]
    treebanks: tuple[ExperimentTreebank, ...]
    threads: int | None
    samples: int
    runs: tuple[Run, ...]
    """In the order in which they are run."""

    def require_files(self) -> None:
        """Raise if files are missing, and name all of them."""
        files = {f"{bank.name}: {key}": path for bank in self.treebanks for key, path in bank.files.items()}
        require_files(files, self.path)


def read_plan(path: Path) -> ExperimentPlan:
    """Read and validate the file of an experiment; paths in it are relative to its folder."""
    file = convert(read_toml(path), ExperimentFile, str(path))
    treebanks = tuple(resolve_paths(treebank, path.parent) for treebank in file.treebanks)
    runs = tuple(
        Run(treebank, name, system, seed, _configuration(path, name, file.settings, treebank, system, seed))
        for treebank, name, system, seed in product(treebanks, file.presets, file.systems, file.seeds)
        if treebank.train is not None
    )
    if not runs:
        raise LongarcError(
            f"{path}: no treebank has a `train` file",
            "Without training, the statistics of a treebank (stats) include its transitions.",
        )
    names: dict[str, Run] = {}
    for run in runs:
        if names.setdefault(run.name.lower(), run) is not run:
            raise LongarcError(f"{path}: two runs are called {run.name}", "Give every treebank a name of its own.")
    return ExperimentPlan(
        path=path,
        text=path.read_text("utf-8"),
        systems=file.systems,
        presets=file.presets,
        seeds=file.seeds,
        treebanks=treebanks,
        threads=file.threads,
        samples=file.samples,
        runs=runs,
    )


def _configuration(
    path: Path, name: str, common: Mapping[str, Any], treebank: ExperimentTreebank, system: str, seed: int
) -> Configuration:
    configuration = preset(name).updated(common, f"{path}: set")
    configuration = configuration.updated(treebank.settings, f"{path}: treebank {treebank.name}: set")
    return configuration.updated({"system": system, "seed": seed}, str(path))
