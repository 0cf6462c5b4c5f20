"""Fixtures that several packages share, and the test files to leave out where an optional package is missing."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import longarc
from tests.helpers.ci import IN_CI
from tests.helpers.command import run_longarc
from tests.helpers.served_models import train_toy
from tests.helpers.text_treebank import treebank_with_text
from tests.helpers.toy_treebank import write_toy_treebank

# Each fixture imports what it needs, so that the tests of a lower layer never wait for a higher one.
if TYPE_CHECKING:
    from longarc.runtime.parser import Parser
    from longarc.runtime.tokenizer import Tokenizer

NEEDS = {
    "torch": ["cli", "experiment", "model", "runtime", "server", "training", "test_spacy_component.py"],
    "fastapi": ["server", "cli/test_serve.py"],
    "matplotlib": ["cli", "experiment"],
    "playwright": ["server/test_page.py"],
    "ray": ["corpus", "cli/test_parse_corpus.py"],
    "schemathesis": ["server/test_openapi_fuzz.py"],
    "spacy": ["test_spacy_component.py"],
    "udtools": ["evaluation/test_official_scores.py"],
}
"""Optional packages, and the folders and files whose tests need them. In CI all of them must be installed."""

SLOW_FIXTURES = {"browser", "learnt_tokenizer", "text_model"}

MISSING = [] if IN_CI else [package for package in NEEDS if find_spec(package) is None]
collect_ignore = [path for package in MISSING for path in NEEDS[package]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests with an expensive fixture as slow."""
    for item in items:
        if not SLOW_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the tests that were left out."""
    for package in MISSING:
        terminalreporter.write_line(f"{package} is not installed; left out: {', '.join(NEEDS[package])}")


@pytest.fixture(scope="session")
def toy_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that knows the toy language well, float32 and int8, and its development data."""
    home = tmp_path_factory.mktemp("models")
    dev = write_toy_treebank(home / "dev.conllu", 30, seed=5)
    train_toy(home, "toy", "--dev", str(dev), "--quantize")
    return home


@pytest.fixture(scope="session")
def model(toy_models: Path) -> Path:
    """The file of the float32 toy model."""
    return toy_models / "toy" / "toy.longarc"


@pytest.fixture(scope="session")
def parser(model: Path) -> Parser:
    """A parser of the toy language."""
    return longarc.load(model, threads=1)


@pytest.fixture(scope="session")
def english() -> Parser:
    """The English parser that comes with the package."""
    return longarc.load(threads=1)


@pytest.fixture(scope="session")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a tokenizer, trained by the command line; it knows next to nothing of trees."""
    home = tmp_path_factory.mktemp("text")
    (home / "train.conllu").write_text(treebank_with_text(120))
    (home / "dev.conllu").write_text(treebank_with_text(20, seed=3))
    size = ["lstm_size=8", "lstm_layers=1", "word_dimensions=8", "spelling_size=4", "pair_dimensions=8"]
    settings = [f"--set={key}" for key in [*size, "relation_dimensions=8", "merge_dimensions=8", "tokenizer_steps=150"]]
    ran = run_longarc("train", home / "train.conllu", "--dev", home / "dev.conllu", "--out", home / "m",
                      "--epochs=1", "--threads=1", *settings)  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode()
    assert b"dev_text_words 9" in ran.stdout or b"dev_text_words 100" in ran.stdout
    return home / "m" / "m.longarc"


@pytest.fixture(scope="session")
def learnt_tokenizer() -> Tokenizer:
    """A tokenizer trained on a small treebank with running text."""
    from longarc.runtime.graph import Graph
    from longarc.runtime.tokenizer import LearnedTokenizer
    from longarc.training.threads import set_up_torch
    from longarc.training.train_tokenizer import train_tokenizer

    set_up_torch(1)
    train = longarc.read_all(io.BytesIO(treebank_with_text(200).encode()))
    trained = train_tokenizer(train, seed=1, most_steps=120, step_done=lambda *_: None, augmentation=0.1)
    graph = trained.network.export()
    return LearnedTokenizer(trained.description, Graph(graph, lambda: graph, "test"), "test")


@pytest.fixture
def model_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder of models with one (empty) file in it, and another that comes with the package."""
    for name in ("own", "embedded"):
        (tmp_path / name).mkdir()
    (tmp_path / "own" / "latin.longarc").touch()
    (tmp_path / "embedded" / "en_ewt.longarc").touch()
    monkeypatch.setenv("LONGARC_MODELS", str(tmp_path / "own"))
    monkeypatch.setattr("longarc.runtime.installed_models.EMBEDDED", tmp_path / "embedded")
    return tmp_path
