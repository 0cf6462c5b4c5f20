"""The package longarc-models: every model is small, says where it comes from, and parses."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from longarc.data.languages import LANGUAGES
from longarc.runtime.installed_models import SUFFIX, language_of_model
from longarc.runtime.model_file import DIGESTS, read_card, read_model_file, read_profile, write_model_file
from longarc.runtime.parser import load
from longarc.trees.structure import require_tree
from tests.helpers.paths import ROOT

PACKAGE = ROOT / "packages" / "longarc-models" / "longarc_models"
LICENCES = "LICENSES.md"
MODELS = sorted(PACKAGE.glob(f"*{SUFFIX}"))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_of_the_package(path: Path) -> None:
    card = read_card(path)
    assert path.stat().st_size <= 4_500_000
    assert language_of_model(path.stem, card) in LANGUAGES and read_profile(path) is not None
    assert "NC" not in card["licence"] and card["licence"] and card["attribution"] and card["treebank"]
    assert card["scores"]["test_las"] > 50
    assert f"## {path.stem}\n" in (PACKAGE / LICENCES).read_text("utf-8")
    for sentence in load(path)("1 2 3. 4 5!"):
        require_tree(sentence)


def test_the_package_is_not_too_large() -> None:
    assert sum(path.stat().st_size for path in MODELS) <= 90_000_000


def test_the_digests_are_those_of_the_models() -> None:
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in MODELS]
    assert (PACKAGE / DIGESTS).read_text("ascii").splitlines() == lines


def test_models_are_collected_from_a_build(toy_models: Path, tmp_path: Path) -> None:
    build, package = tmp_path / "build", tmp_path / "package"
    package.mkdir()
    name = min((ROOT / "models" / "languages").iterdir()).stem
    (build / name).mkdir(parents=True)
    model = read_model_file(toy_models / "toy" / "toy.longarc")
    card = {**model.card, "treebank": "UD Toy", "licence": "CC0", "attribution": "nobody"}
    write_model_file(build / name / f"{name}-int8{SUFFIX}", replace(model, card=card))
    command = [sys.executable, str(ROOT / "tools" / "collect_models.py"), str(build), "--package", str(package)]
    assert name in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "UD Toy" in (package / LICENCES).read_text("utf-8")
    assert (package / DIGESTS).read_text("ascii").endswith(f"  {name}{SUFFIX}\n")
    assert load(package / f"{name}{SUFFIX}") is not None
