"""Packaged models score and parse as the trained network does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from longarc import read_all
from longarc.evaluation.breakdown import Row
from longarc.runtime.features import MAIN
from longarc.runtime.model_file import read_model_file, write_model_file
from longarc.runtime.parser import Parser
from longarc.training import packaging
from longarc.training.packaging import Origin, lstm_moments, make_int8, write_models
from longarc.training.prepare import prepare
from longarc.training.trained_model import TrainedModel
from longarc.training.training_data import make_batch
from longarc.transitions import SYSTEMS
from longarc.trees.structure import is_tree
from tests.data.test_pieces import write_table
from tests.helpers.command import invoke
from tests.helpers.prepared_training import SMALL
from tests.helpers.small_models import FACTORED, SPELLED, packaged, small, small_with_data
from tests.helpers.torch_parser import assert_parses_as_with_torch, parse_with_torch
from tests.helpers.toy_treebank import write_toy_treebank


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"columns": ["upos", "xpos"], "parser_input": "words", "lstm_layers": 1},
        SPELLED,
        FACTORED,
        SPELLED | FACTORED,
    ],
)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_packaged_model_scores_and_parses_as_the_network_does(
    tmp_path: Path, system: str, changes: dict[str, Any]
) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 25))
    model, data = small_with_data(system, sentences, **changes)
    parser = Parser(packaged(model), threads=1)
    assert_parses_as_with_torch(model, parser, sentences)
    result = parser.session.run([sentence.forms for sentence in sentences[:6]], totals=True)
    assert result.totals is not None
    with torch.no_grad():
        batch = make_batch(data.examples[:6], model.description)
        scores = model.network(batch.arrays).transitions
        arcs = scores.arcs
        if "relation_dimensions" not in changes:
            mask = torch.from_numpy(model.relation_mask)
            arcs = arcs + mask[(torch.arange(arcs.shape[1]) > 0).long()].unsqueeze(-1)
    best, totals = arcs.max(dim=2).values.numpy(), arcs.logsumexp(dim=2).numpy()
    for row, length in enumerate(batch.arrays["lengths"].tolist()):
        pairs = [
            (result.scores.arcs[row, :length, :length], best[row, :length, :length]),
            (result.totals.arcs[row, :length, :length], totals[row, :length, :length]),
            (result.scores.shift[row, :length], scores.shift[row, :length].numpy()),
        ]
        for ours, theirs in pairs:
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("system", "changes"),
    [
        ("covington", {"no_arc": "authors"}),
        ("non-monotonic-covington", {"no_arc": "authors"}),
        ("nl-covington", {"arc_score": "total"}),
        ("covington", {"arc_score": "total"}),
        ("nl-covington", {"crossing_cost": 0.5}),
        ("arc-swift", {"projectivization": "none"}),
        ("pointer", {"decoder_size": 5}),
        ("pointer", {"decoder_size": 5, "relation_dimensions": 7, "lstm_dropout": 0.3}),
        ("covington", {"decoder_size": 5, "no_arc": "authors"}),
    ],
)
def test_options_of_the_search_and_the_scorer_are_packaged(
    tmp_path: Path, system: str, changes: dict[str, Any]
) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 60))
    model, plain = small(system, sentences, **changes), small(system, sentences)
    file = packaged(model)
    write_model_file(tmp_path / "model.longarc", file)
    write_model_file(tmp_path / "int8.longarc", make_int8(file))
    assert is_tree(Parser(tmp_path / "int8.longarc", threads=1).parse(sentences[0]).node_heads)
    parser = Parser(tmp_path / "model.longarc", threads=1)
    different = 0
    for sentence, parsed in zip(sentences, parser.stream([s.copy() for s in sentences]), strict=True):
        assert (parsed.node_heads.tolist(), parsed.node_relations) == parse_with_torch(model, sentence)[:2]
        different += parsed.node_heads.tolist() != parse_with_torch(plain, sentence)[0]
    assert different or "projectivization" in changes, "the option makes no difference"


@pytest.mark.parametrize(
    "spelled",
    [{}, SPELLED, {"piece_pooling": "weighted"}, {"piece_pooling": "ends"}],
    ids=["pieces", "characters and pieces", "weighted pieces", "mean, first and last piece"],
)
def test_subword_vectors_give_every_word_a_vector(tmp_path: Path, spelled: dict[str, Any]) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 25))
    folder = write_table(tmp_path / "table", ["▁", *"abcdefghijklmnopqrstuvwxyz", "▁th", "og"])
    configuration = SMALL.updated({"system": "nl-covington", "relation_dimensions": 7, **spelled}, "test")
    model, _ = prepare(configuration, sentences, [], [folder])
    pieces = getattr(model.network.encoder.spelling, "pieces")  # noqa: B009
    if configuration.piece_pooling == "weighted":
        torch.nn.init.normal_(pieces.weights)
    file = packaged(model)
    parser = Parser(file, threads=1)
    for sentence in sentences[:8]:
        heads, relations, _ = parse_with_torch(model, sentence)
        parsed = parser.parse(sentence)
        assert (parsed.node_heads.tolist(), parsed.node_relations) == (heads, relations)
    unknown = [["zog"], ["zug"]]
    scores = [parser.session.run([forms], totals=False).scores.arcs for forms in unknown]
    assert not np.array_equal(scores[0], scores[1]), "words that are not in the vocabulary differ"
    small = make_int8(file)
    np.testing.assert_allclose(
        Parser(small, threads=1).session.run(unknown, totals=False).scores.shift,
        parser.session.run(unknown, totals=False).scores.shift,
        atol=0.5,
    )


def test_training_ends_with_models_that_know_what_they_are(toy_models: Path) -> None:
    for name, precision in (("toy", "float32"), ("toy-int8", "int8")):
        card = read_model_file(toy_models / "toy" / f"{name}.longarc").card
        assert (card["precision"], card["licence"], card["treebank"]) == (precision, "CC0", "toy")
        assert card["scores"]["dev_las"] > 95
        assert card["command"].startswith("longarc")
    assert (toy_models / "toy" / "toy-int8.longarc").stat().st_size < (
        toy_models / "toy" / "toy.longarc"
    ).stat().st_size
    result = invoke(["info", str(toy_models / "toy" / "toy.longarc")])
    assert "CC0" in result.output
    assert json.loads(invoke(["info", "--json", str(toy_models / "toy" / "toy.longarc")]).output)


def test_the_crossing_cost_with_the_best_las_on_dev_is_packaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 25))
    model = small("nl-covington", sentences, crossing_cost="auto")
    assert model.description.crossing_cost == 0
    arcs = {0.0: (70.0, 40), 0.5: (80.0, 60), 1.0: (79.98, 12), 2.0: (79.5, 10)}  # LAS, non-projective arcs
    monkeypatch.setattr(packaging, "CROSSING_COSTS", tuple(arcs))
    monkeypatch.setattr(packaging, "parse_words", lambda parser, _: parser.description.crossing_cost)
    monkeypatch.setattr(packaging, "score_parsed", lambda *arguments: {"las": arcs[arguments[2]][0]})
    monkeypatch.setattr(packaging, "score_nonprojective", lambda _, cost: Row("", 10, 0, 0, arcs[cost][1], 0, 0))
    ((path, _),) = write_models(model, tmp_path, sentences, {}, Origin(), quantize=False)
    file = read_model_file(path)
    assert file.description.crossing_cost == file.card["crossing_cost"] == 1.0


def test_the_card_scores_non_projective_arcs(tmp_path: Path) -> None:
    columns = "NOUN\t_\t_\t{}\tdep\t_\t_"
    rows = [f"{word}\tw{word}\t_\t{columns.format(head)}" for word, head in enumerate([3, 4, 0, 3], 1)]
    path = tmp_path / "crossing.conllu"
    path.write_text("\n".join(rows) + "\n\n")
    sentences = list(read_all(path)) * 8
    model = small("nl-covington", sentences, epochs=1, crossing_cost=2)
    ((path, file),) = write_models(model, tmp_path, sentences, {}, Origin(), quantize=False)
    assert read_model_file(path).description.crossing_cost == 2
    assert {"dev_nonprojective_precision", "dev_nonprojective_recall"} <= file.card["scores"].keys()


def test_an_int8_model_can_know_fewer_words(toy_models: Path) -> None:
    package = read_model_file(toy_models / "toy" / "toy.longarc")
    small = make_int8(package, most_words=10)
    words, all_words = (one.description.features.as_json()["words"] for one in (small, package))
    assert words == all_words[:10]
    assert len(small.graphs[MAIN]) < len(make_int8(package).graphs[MAIN])
    forms = ["the", "dog", "sees", "unheard-of", "tree"]
    assert is_tree(Parser(small, threads=1).parse(forms).node_heads)


def test_a_finished_training_can_be_packaged_again(toy_models: Path) -> None:
    first = read_model_file(toy_models / "toy" / "toy.longarc")
    again = packaged(TrainedModel.load(toy_models / "toy"))
    assert again.graphs == first.graphs
    small = read_model_file(toy_models / "toy" / "toy-int8.longarc")
    moments = lstm_moments(again, read_all(toy_models / "dev.conllu"))
    assert make_int8(again, 0, small.card.get("lstm_inputs", ()), moments).graphs == small.graphs


def test_what_costs_too_much_accuracy_is_not_made_narrow(
    toy_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = read_all(toy_models / "dev.conllu")
    for most_lost, inputs in ((100.0, [0.25] * 4), (-100.0, None)):
        monkeypatch.setattr("longarc.training.packaging.MAX_LOSS", most_lost)
        written = dict(write_models(small("covington", dev), tmp_path, dev, {}, Origin(), quantize=True))
        assert [package.card.get("lstm_inputs") for package in written.values()] == [None, inputs]


def test_each_lstm_is_made_as_narrow_as_is_allowed(
    toy_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = read_all(toy_models / "dev.conllu")
    yes, also, no, never = (58.76, 90.0), (60.0, 89.8), (58.75, 90.0), (60.0, 89.79)
    found = iter([yes, no, also, never, no, yes, no, no, never])

    def named(scores: tuple[float, float]) -> dict[str, float]:
        return dict(zip(("las", "upos"), scores, strict=True))

    monkeypatch.setattr("longarc.training.packaging.score_model", lambda *_: named((58.96, 90.0)))
    monkeypatch.setattr("longarc.training.packaging.score_words", lambda *_: named(next(found)))
    told: list[str] = []
    prepared = small("covington", dev)
    written = dict(write_models(prepared, tmp_path, dev, {}, Origin(), quantize=True, announce=told.append))
    # The parser's first LSTM reads most, since it reads tags too, and the tagger's first least, only words.
    assert [package.card.get("lstm_inputs") for package in written.values()] == [None, [1, 0.4, 0.25, 0.6]]
    assert next(found, None) is None and "making the 8-bit model faster: 60% of the inputs of LSTM 4 of 4" in told
