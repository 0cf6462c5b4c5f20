"""Every public name has a docstring with an example, and the examples are right."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import pytest

import longarc
from tests.helpers.paths import ROOT

NAMES = sorted(set(longarc.__all__) - {"__version__"})


def examples_of(name: str) -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = {"longarc": longarc, "Sentence": longarc.Sentence}
    return [test for test in finder.find(getattr(longarc, name), name, globs=names) if test.examples]


def test_dir_lists_the_public_names() -> None:
    assert dir(longarc) == sorted(longarc.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_public_name_are_right(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    examples = examples_of(name)
    assert examples, f"{name} has no example"
    runner = doctest.DocTestRunner()
    for example in examples:
        assert runner.run(example).failed == 0, example.name


@pytest.mark.parametrize("name", NAMES)
def test_everything_public_in_a_public_class_has_a_docstring(name: str) -> None:
    thing = getattr(longarc, name)
    if inspect.isclass(thing):
        members = {key: value for key, value in vars(thing).items() if not key.startswith("_")}
        described = {key: value for key, value in members.items() if callable(value) or isinstance(value, property)}
        assert [key for key, value in described.items() if not inspect.getdoc(value)] == []
