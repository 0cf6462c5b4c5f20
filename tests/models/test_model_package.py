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
SENTENCES = {
    "af": "Die kind lees 'n boek in die tuin.",
    "cy": "Mae'r plentyn yn darllen llyfr yn yr ardd.",
    "da": "Barnet læser en bog i haven.",
    "en": "The child is reading a book in the garden.",
    "fr": "L'enfant lit un livre dans le jardin.",
    "ga": "Tá an páiste ag léamh leabhair sa ghairdín.",
    "gl": "O neno está a ler un libro no xardín.",
    "grc": "ὁ παῖς τὸ βιβλίον ἐν τῷ κήπῳ ἀναγιγνώσκει.",
    "hy": "Երեխան այգում գիրք է կարդում։",
    "id": "Anak itu membaca buku di taman.",
    "is": "Barnið er að lesa bók í garðinum.",
    "it": "Il bambino legge un libro nel giardino.",
    "mt": "It-tifel qed jaqra ktieb fil-ġnien.",
    "nl": "Het kind leest een boek in de tuin.",
    "pcm": "Di pikin dey read book for di garden.",
    "pt": "A criança está a ler um livro no jardim.",
    "ru": "Ребёнок читает книгу в саду.",
    "sk": "Dieťa číta knihu v záhrade.",
    "sv": "Barnet läser en bok i trädgården.",
    "th": "เด็กอ่านหนังสือในสวน",
    "uk": "Дитина читає книгу в саду.",
    "vi": "Đứa trẻ đọc sách trong vườn.",
    "wo": "Xale baa ngi jàng téere ci tool bi.",
}
"""The same sentence in the languages of all recipes"""


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_of_the_package(path: Path) -> None:
    card = read_card(path)
    assert path.stat().st_size <= 4_000_000
    assert language_of_model(path.stem, card) in LANGUAGES and read_profile(path) is not None
    assert "NC" not in card["licence"] and card["licence"] and card["attribution"] and card["treebank"]
    assert card["scores"]["test_las"] > 50
    assert card["command"] == f"longarc build models/languages/{path.stem}.toml --out BUILD"
    assert f"## {path.stem}\n" in (PACKAGE / LICENCES).read_text("utf-8")
    document = load(path)(SENTENCES[language_of_model(path.stem, card)])
    assert len(document) == 1 and len(document[0]) > 5
    require_tree(document[0])


def test_the_languages_of_the_package_are_recognized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGARC_MODELS", str(PACKAGE))
    nlp = load("auto")
    recognized = {language: nlp.identify(SENTENCES[language]).code for language in nlp.languages}
    assert recognized == dict(zip(nlp.languages, nlp.languages, strict=True))


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
