"""Ensembles: several models that parse together."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import longarc
from longarc import LongarcError, Sentence, read_all
from longarc.runtime.ensemble import log_softmax
from longarc.runtime.features import MAIN
from longarc.runtime.model_file import ModelFile, write_model_file
from longarc.runtime.parser import Parser
from longarc.runtime.session import Session
from tests.helpers.command import invoke
from tests.helpers.small_models import FACTORED, packaged, small
from tests.helpers.toy_treebank import write_toy_treebank


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> list[Sentence]:
    return list(read_all(write_toy_treebank(tmp_path_factory.mktemp("toy") / "toy.conllu", 12)))


def models_of(sentences: list[Sentence], system: str = "pointer", **changes: Any) -> list[ModelFile]:
    return [packaged(small(system, sentences, seed=seed, **FACTORED, **changes)) for seed in (1, 2, 3)]


def trees(parser: Parser, sentences: list[Sentence]) -> list[str]:
    return [sentence.to_conllu() for sentence in parser.stream([sentence.copy() for sentence in sentences])]


def test_copies_of_a_model_parse_as_it_does(sentences: list[Sentence]) -> None:
    model = models_of(sentences)[0]
    assert trees(Parser([model, model, model]), sentences) == trees(Parser(model), sentences)


@pytest.mark.parametrize("system", ["pointer", "nl-covington", "covington", "arc-eager"])
def test_scores_are_the_means_of_those_of_the_members(sentences: list[Sentence], system: str) -> None:
    models = models_of(sentences, system)
    forms = [sentence.forms for sentence in sentences]
    together = Parser(models).session.run(forms, totals=False, logits=True)
    sessions = [Session(model, lambda: models[0], "member") for model in models]
    alone = [session.run(forms, totals=False, logits=True) for session in sessions]
    for name, table in together.scores.arrays.items():
        np.testing.assert_allclose(table, np.mean([one.scores.arrays[name] for one in alone], axis=0), atol=1e-5)
    for name, logits in together.logits.items():
        mean = np.mean([one.logits[name] for one in alone], axis=0)
        np.testing.assert_allclose(logits, mean, atol=1e-5)
        np.testing.assert_array_equal(together.labels[name], mean.argmax(axis=-1))
    heads = np.where(np.arange(together.scores.arcs.shape[1]) < [[len(form) + 1] for form in forms], 0, -1)
    heads[:, 0] = -1
    mean = np.mean([log_softmax(s.relation_scores(one, heads)) for s, one in zip(sessions, alone, strict=True)], axis=0)
    numbers, probabilities = Parser(models).session.relations(together, heads)
    np.testing.assert_array_equal(numbers[heads == 0], mean.argmax(axis=1))
    np.testing.assert_allclose(probabilities[heads == 0], np.exp(log_softmax(mean)).max(axis=1), atol=1e-5)


def test_the_order_of_labels_does_not_matter(sentences: list[Sentence]) -> None:
    first = models_of(sentences)[0]
    # The same sentences in other proportions: other labels are frequent, so their numbers differ.
    extra = [sentence for sentence in sentences if "which" in sentence.forms]
    other = packaged(small("pointer", [*sentences, *extra * 40], seed=2, **FACTORED))
    assert other.description.relations.names != first.description.relations.names
    together = Parser([first, other])
    scores = together.session.run([sentences[0].forms], totals=False, logits=True)
    alone = [Parser(model).session.run([sentences[0].forms], totals=False, logits=True) for model in (first, other)]
    order = other.description.columns["upos"].labels.numbers(first.description.columns["upos"].labels.names)
    mean = (alone[0].logits["upos"] + alone[1].logits["upos"][..., order]) / 2
    np.testing.assert_allclose(scores.logits["upos"], mean, atol=1e-5)


def test_models_that_do_not_fit_together_are_named(sentences: list[Sentence]) -> None:
    first = models_of(sentences)[0]
    with pytest.raises(LongarcError, match="another transition system"):
        Parser([first, models_of(sentences, "mst")[0]])
    with pytest.raises(LongarcError, match="other labels"):
        Parser([first, packaged(small("pointer", [one for one in sentences if "which" not in one.forms], **FACTORED))])


def test_the_command_line_and_python_take_names_separated_by_commas(sentences: list[Sentence], tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.longarc" for number in range(3)]
    for path, model in zip(paths, models_of(sentences), strict=True):
        write_model_file(path, model)
    names = ",".join(map(str, paths))
    parser = longarc.load(names, threads=1)
    expected = trees(parser, sentences)
    assert trees(pickle.loads(pickle.dumps(parser)), sentences) == expected
    result = invoke(["parse", str(write_toy_treebank(tmp_path / "toy.conllu", 12)), "--model", names])
    assert result.stdout == "".join(expected)
    with pytest.raises(LongarcError, match="several model files"):
        parser.model_file()


def test_a_model_of_an_earlier_version_without_the_scores_of_labels_cannot_be_a_member(
    sentences: list[Sentence],
) -> None:
    model = models_of(sentences)[0]
    graph = onnx.load_from_string(model.graphs[MAIN])
    outputs = [output for output in graph.graph.output if not output.name.endswith("_logits")]
    del graph.graph.output[:]
    graph.graph.output.extend(outputs)
    earlier = replace(model, graphs={**model.graphs, MAIN: graph.SerializeToString()})
    assert trees(Parser(earlier), sentences) == trees(Parser(model), sentences)
    with pytest.raises(LongarcError, match="does not return the scores of all labels"):
        trees(Parser([earlier, earlier]), sentences)
