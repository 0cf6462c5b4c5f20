"""`longarc build`: make a model from a recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from longarc.errors import LongarcError
from longarc.runtime.model_file import read_model_file
from longarc.training.recipe import read_recipe
from tests.helpers.command import run_longarc
from tests.helpers.text_treebank import treebank_with_text

RECIPE = """
name = "little"
train = "train.conllu"
dev = "dev.conllu"
test = "test.conllu"
most_words = 9
narrow = false
licence = "CC0"
set = { lstm_size = 8, lstm_layers = 1, word_dimensions = 8, spelling_size = 4, pair_dimensions = 8, epochs = 1,
        relation_dimensions = 8, merge_dimensions = 8, tokenizer_steps = 40 }
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    for seed, name in enumerate(("train", "dev", "test")):
        (tmp_path / f"{name}.conllu").write_text(treebank_with_text(60, seed=seed))
    # TOML wants a table on one line.
    (tmp_path / "little.toml").write_text(RECIPE.replace(",\n       ", ","))
    return tmp_path / "little.toml"


@pytest.mark.slow
def test_a_recipe_makes_a_model_and_does_nothing_twice(recipe: Path, tmp_path: Path) -> None:
    first = run_longarc("build", recipe, "--out", tmp_path / "out", "--threads=1")
    assert first.returncode == 0, first.stderr.decode()
    assert b"epoch   1" in first.stdout
    model = tmp_path / "out" / "little" / "little-int8.longarc"
    package = read_model_file(model)
    assert len(package.description.features.as_json()["words"]) == 9
    assert package.card["licence"] == "CC0" and "lstm_inputs" not in package.card
    for name in ("dev_las", "test_las", "test_text_words", "test_text_las"):
        assert 0 <= package.card["scores"][name] <= 100
    assert "dev_las" in package.card["float32_scores"]
    again = run_longarc("build", recipe, "--out", tmp_path / "out", "--threads=1")
    assert again.returncode == 0
    assert b"epoch" not in again.stdout
    assert read_model_file(model).graphs == package.graphs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("name =", "nome ="), "unknown key 'nome'"),
        (('dev = "dev.conllu"\n', ""), "expected either dev or dev_fraction"),
        (('dev = "dev.conllu"\n', 'dev = "dev.conllu"\ndev_fraction = 0.1\n'), "expected either dev or dev_fraction"),
        (("most_words = 9", 'most_words = "9"'), "expected a whole number"),
        (("narrow = false", "narrow = 0"), "expected true or false"),
        (("test.conllu", "nowhere.conllu"), "test: .*nowhere.conllu"),
        (("epochs = 1", "epoch = 1"), "unknown key 'epoch'"),
    ],
)
def test_mistakes_in_recipes_are_told(recipe: Path, change: tuple[str, str], message: str) -> None:
    recipe.write_text(recipe.read_text().replace(*change))
    with pytest.raises(LongarcError, match=message):
        read_recipe(recipe)


@pytest.mark.slow
def test_a_folder_of_recipes_makes_all_models_and_teachers_teach(recipe: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recipes"
    folder.mkdir()
    text = recipe.read_text().replace(' = "train', ' = "../train').replace(' = "test', ' = "../test')
    text = text.replace('dev = "dev.conllu"', "dev_fraction = 0.2").replace(
        "tokenizer_steps = 40", "tokenizer_steps = 0"
    )
    (folder / "a.toml").write_text(text.replace("little", "first"))
    (folder / "b.toml").write_text(text.replace("little", "second").replace("set =", 'teachers = ["first"]\nset ='))
    result = run_longarc("build", folder, "--out", tmp_path / "out", "--threads=1")
    assert result.returncode == 0, result.stderr.decode()
    assert b"recipe 2 of 2: second" in result.stdout
    rows = result.stdout.decode().split(" model ")[-1].split()
    assert [cell for cell in rows if cell in ("first", "second")] == ["first", "second"]
    assert b"training data: 48 sentences" in result.stdout
    again = run_longarc("build", folder, "--out", tmp_path / "out", "--threads=1")
    assert b"the model is finished" in again.stderr
    assert again.stdout.decode().split(" model ")[-1].split() == rows
    alone = run_longarc("build", folder / "b.toml", "--out", tmp_path / "elsewhere", "--threads=1")
    assert alone.returncode == 2
    assert b"its teacher is missing" in alone.stderr


def test_a_folder_without_recipes_is_an_error(tmp_path: Path) -> None:
    result = run_longarc("build", tmp_path, "--out", tmp_path / "out")
    assert result.returncode == 2
    assert b"no recipes in this folder" in result.stderr
