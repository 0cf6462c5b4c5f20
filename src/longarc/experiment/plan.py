"""The plan of an experiment: treebanks × presets × variants × systems × seeds, from a TOML file, validated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
    pretrained: Path | None = None
    """The file config.json of a pretrained encoder"""
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
        return slug(self.name)


def slug(name: str) -> str:
    """Return a name in a form that is safe in file names."""
    return re.sub(r"[^\w.]+", "-", name).strip("-.")


Systems = Annotated[tuple[str, ...], Meta(min_length=1)]
Seeds = Annotated[
    tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1, description="a list of whole numbers, at least 0")
]


class Variant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `[[variant]]` of the file: configuration keys that its runs have and those of other variants do not."""

    name: Annotated[str, Meta(pattern=r"\w", description="text with a letter or digit in it")]
    settings: dict[str, Any] = field(name="set", default_factory=dict)
    systems: Systems | None = None
    """Instead of those of the experiment."""
    seeds: Seeds | None = None

    def __post_init__(self) -> None:
        _check_lists(systems=self.systems or (), seeds=self.seeds or ())
        _check_settings(self.settings)


class ExperimentFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of the file."""

    systems: Systems
    presets: Annotated[tuple[str, ...], Meta(min_length=1)] = ("paper",)
    seeds: Seeds = (1,)
    settings: dict[str, Any] = field(name="set", default_factory=dict)
    threads: Annotated[int, Meta(ge=1)] | None = None
    samples: Annotated[int, Meta(ge=1)] = SAMPLES
    treebanks: Annotated[
        tuple[ExperimentTreebank, ...],
        Meta(min_length=1, description="one or more tables with the heading [[treebank]]"),
    ] = field(name="treebank")
    variants: tuple[Variant, ...] = field(name="variant", default=())

    def __post_init__(self) -> None:
        names = tuple(variant.name for variant in self.variants)
        _check_lists(systems=self.systems, presets=self.presets, seeds=self.seeds, **{"names of variants": names})
        _check_settings(self.settings)


def _check_lists(*, systems: Sequence[str], **lists: Sequence[Any]) -> None:
    for key, values in {"systems": systems, **lists}.items():
        if len(set(values)) < len(values):
            raise ValueError(f"{key} is {list(values)}, expected a list of different items")
    if not set(systems) <= set(SYSTEMS):
        raise ValueError(f"systems is {list(systems)}, expected a list of some of {', '.join(SYSTEMS)}")


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
    variant: str
    """Empty if the experiment has no variants."""
    seed: int
    configuration: Configuration

    @property
    def name(self) -> str:
        """The name of the run's folder, of its model and of its line in the results."""
        parts = [self.treebank.slug, self.preset, self.system, slug(self.variant), str(self.seed)]
        return "-".join(part for part in parts if part)

    @property
    def label(self) -> str:
        """The name in tables of what is compared: the system, and the variant if there are variants."""
        return label(self.system, self.variant)

    def __str__(self) -> str:
        return f"{self.treebank.name}, preset {self.preset}, {self.label}, seed {self.seed}"


def label(system: str, variant: str) -> str:
    """Return the name of a system in a variant; see Run.label."""
    return f"{system}: {variant}" if variant else system


def system_of(label: str) -> str:
    """Return the system in a label."""
    return label.partition(":")[0]


@dataclass(frozen=True)
class ExperimentPlan:
    """An experiment, with paths resolved and all its runs."""

    path: Path
    text: str
    presets: tuple[str, ...]
    variants: tuple[str, ...]
    """Their names; one empty name if there are no variants."""
    treebanks: tuple[ExperimentTreebank, ...]
    threads: int | None
    samples: int
    runs: tuple[Run, ...]
    """In the order in which they are run."""

    @property
    def systems(self) -> list[str]:
        """The systems of all runs."""
        return list(dict.fromkeys(run.system for run in self.runs))

    @property
    def labels(self) -> list[str]:
        """What is compared: all systems, in all variants."""
        return list(dict.fromkeys(run.label for run in self.runs))

    @property
    def seeds(self) -> list[int]:
        """The seeds of all runs."""
        return list(dict.fromkeys(run.seed for run in self.runs))

    def require_files(self) -> None:
        """Raise if files are missing, and name all of them."""
        files = {f"{bank.name}: {key}": path for bank in self.treebanks for key, path in bank.files.items()}
        require_files(files, self.path)


def read_plan(path: Path) -> ExperimentPlan:
    """Read and validate the file of an experiment; paths in it are relative to its folder."""
    file = convert(read_toml(path), ExperimentFile, str(path))
    treebanks = tuple(resolve_paths(treebank, path.parent) for treebank in file.treebanks)
    runs = tuple(
        _run(path, file, treebank, preset, variant, system, seed)
        for treebank, preset, variant in product(treebanks, file.presets, file.variants or (None,))
        for system in (variant and variant.systems) or file.systems
        for seed in (variant and variant.seeds) or file.seeds
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
            hint = "Give every treebank and every variant a name of its own."
            raise LongarcError(f"{path}: two runs are called {run.name}", hint)
    return ExperimentPlan(
        path=path,
        text=path.read_text("utf-8"),
        presets=file.presets,
        variants=tuple(variant.name for variant in file.variants) or ("",),
        treebanks=treebanks,
        threads=file.threads,
        samples=file.samples,
        runs=runs,
    )


def _run(
    path: Path,
    file: ExperimentFile,
    treebank: ExperimentTreebank,
    preset_name: str,
    variant: Variant | None,
    system: str,
    seed: int,
) -> Run:
    configuration = preset(preset_name).updated({"system": system, "seed": seed}, str(path))
    configuration = configuration.updated(file.settings, f"{path}: set")
    configuration = configuration.updated(treebank.settings, f"{path}: treebank {treebank.name}: set")
    if variant is not None:
        configuration = configuration.updated(variant.settings, f"{path}: variant {variant.name}: set")
    return Run(treebank, preset_name, system, variant.name if variant else "", seed, configuration)
