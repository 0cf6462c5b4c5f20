"""Pretrained encoders under the parser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from longarc import read_all
from longarc.errors import LongarcError
from longarc.model.pretrained_encoder import read_pretrained_encoder
from longarc.model.transformer import Transformer
from longarc.runtime.model_file import read_model_file, write_model_file
from longarc.runtime.parser import Parser
from longarc.runtime.transformer_features import TransformerFeatures
from longarc.training.packaging import make_int8
from tests.helpers.command import longarc
from tests.helpers.small_models import packaged
from tests.helpers.tiny_encoders import FAMILIES, SMALL, untrained_on_an_encoder, write_encoder
from tests.helpers.torch_parser import assert_parses_as_with_torch
from tests.helpers.toy_treebank import write_toy_treebank

VECTORS = {
    "bert": [0.0528, 0.2236, -1.3919, -0.4047],
    "roberta": [0.5088, 0.3676, -0.0371, 1.1366],
    "xlm-roberta": [0.2751, -0.4888, -1.3144, 0.2974],
    "distilbert": [-0.6797, -0.6518, 0.3285, 0.4165],
    "electra": [0.5891, -0.7426, -1.3709, -0.1284],
}
"""The first four dimensions of the piece 7 between 2 and 3, in the last layer, by transformers 5.23 on these files."""


@pytest.mark.parametrize("family", FAMILIES)
def test_vectors_equal_those_of_the_library_that_the_encoder_comes_from(tmp_path: Path, family: str) -> None:
    pretrained = read_pretrained_encoder(write_encoder(tmp_path, family))
    network = Transformer(pretrained.architecture, len(pretrained.tokenizer), 0.0)
    network.load_state_dict(pretrained.weights)
    arrays = {
        "pieces": [2, 5, 9, 20, 30, 3, 2, 7, 3],
        "positions": [0, 1, 2, 3, 4, 5, 0, 1, 2],
        "places": [[12 * (piece // 6) + piece % 6 + 6 * head for head in range(2)] for piece in range(9)],
        "mask": [[[[0] * 6]], [[[0] * 3 + [-1] * 3]]],
        "cells": np.zeros((2, 2, 6)),
    }
    with torch.no_grad():
        layers = network({name: torch.tensor(np.array(values)) for name, values in arrays.items()})
    np.testing.assert_allclose(layers[-1][7, :4].numpy(), VECTORS[family], atol=1e-4)


@pytest.mark.parametrize("changes", [{}, {"pooling": "mean", "spelling_size": 4}, {"lstm_layers": 1, "lstm_size": 5}])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_packaged_model_parses_as_the_network_does(tmp_path: Path, family: str, changes: dict[str, Any]) -> None:
    model, _ = untrained_on_an_encoder(tmp_path, family, **changes)
    path = tmp_path / "model.longarc"
    write_model_file(path, packaged(model))
    parser = Parser(path, threads=1)
    sentences = read_all(tmp_path / "toy.conllu")
    assert_parses_as_with_torch(model, parser, sentences)


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_scores_do_not_depend_on_the_other_sentences(tmp_path: Path, pooling: str) -> None:
    parser = Parser(packaged(untrained_on_an_encoder(tmp_path, "bert", pooling=pooling)[0]), threads=1)
    forms = [sentence.forms for sentence in read_all(tmp_path / "toy.conllu")[:8]] + [["zoo"] * 50, ["!"]]
    together = parser.session.run(forms, totals=False).scores
    for row, words in enumerate(forms):
        alone = parser.session.run([words], totals=False).scores
        nodes = len(words) + 1
        np.testing.assert_allclose(together.arcs[row, :nodes, :nodes], alone.arcs[0], rtol=1e-3, atol=1e-4)


def test_the_8_bit_model_is_small_and_close(tmp_path: Path) -> None:
    model = packaged(untrained_on_an_encoder(tmp_path, "bert", spelling_size=4)[0])
    small = make_int8(model)
    assert small.graph_bytes < model.graph_bytes
    path = tmp_path / "small.longarc"
    write_model_file(path, small)
    forms = [["the", "old", "dog", "sees", "a", "cat"]]
    found = Parser(read_model_file(path)).session.run(forms, totals=False).scores.arcs
    expected = Parser(model).session.run(forms, totals=False).scores.arcs
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.98


def test_the_encoder_has_only_the_layers_and_pieces_that_are_asked_for(tmp_path: Path) -> None:
    model, _ = untrained_on_an_encoder(tmp_path, "bert", encoder_layers=1, pieces_limit=40)
    features = model.description.features
    assert isinstance(features, TransformerFeatures)
    assert features.architecture.layers == 1
    assert len(features.tokenizer) < 70
    with pytest.raises(LongarcError, match="has only 2 layers"):
        untrained_on_an_encoder(tmp_path, "bert", encoder_layers=3)


def test_fixed_vectors_of_pieces_stay_as_they_are(tmp_path: Path) -> None:
    network = untrained_on_an_encoder(tmp_path, "bert")[0].network
    trained = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
    assert "encoder.transformer.pieces.weight" not in trained
    assert "encoder.transformer.blocks.0.query.weight" in trained


TRAIN = [*(f"--set={key}={json.dumps(value)}" for key, value in SMALL.items()), "--epochs=2", "--threads=1"]


def test_a_training_that_was_stopped_ends_with_the_same_model(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 30)
    encoder = write_encoder(tmp_path / "encoder", "bert")
    options: list[str | Path] = ["train", treebank, "--dev", treebank, "--encoder", encoder, "--preset=transformer"]
    options += [*TRAIN, "--set=tokenizer_steps=0", "--set=batch_words=40", "--set=spelling_size=4"]
    assert longarc(*options, "--out", tmp_path / "whole").status == 0
    folder = tmp_path / "stopped"
    with pytest.MonkeyPatch.context() as patch:
        from longarc.training import trainer

        original = trainer.Trainer._end_epoch

        def stop(self: trainer.Trainer) -> None:
            self._interrupted = True
            original(self)

        patch.setattr(trainer.Trainer, "_end_epoch", stop)
        assert longarc(*options, "--out", folder).status == 130
    assert longarc(*options, "--out", folder, "--resume").status == 0
    whole, stopped = (read_model_file(tmp_path / name / f"{name}.longarc") for name in ("whole", "stopped"))
    assert whole.graphs == stopped.graphs
    assert longarc("parse", treebank, "-m", folder / "stopped.longarc", "-o", tmp_path / "out.conllu").status == 0


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", None, "cannot be read"),
        ("config.json", b"{", "not JSON"),
        ("config.json", b"[]", "not a JSON object"),
        ("config.json", b'{"model_type": "t5"}', "model_type is 't5'"),
        ("config.json", b'{"model_type": "bert"}', "sizes"),
        ("tokenizer.json", None, "cannot be read"),
        ("tokenizer.json", b"{}", "not supported"),
        ("tokenizer.json", b'{"model": {"type": "WordLevel"}}', "not supported"),
        ("model.safetensors", None, "is missing"),
        ("model.safetensors", b"\x00" * 20, "cannot be read"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused_clearly(
    tmp_path: Path, file: str, content: bytes | None, message: str
) -> None:
    folder = write_encoder(tmp_path, "bert")
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(LongarcError, match=message):
        read_pretrained_encoder(folder)


def test_truncated_or_foreign_weights_are_refused(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "bert", "bert")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(LongarcError, match="cannot be read"):
        read_pretrained_encoder(folder)
    shutil.copy(write_encoder(tmp_path / "distilbert", "distilbert") / "model.safetensors", path)
    with pytest.raises(LongarcError, match="has no weights"):
        read_pretrained_encoder(folder)
    write_encoder(folder, "bert")
    config = folder / "config.json"
    config.write_text(config.read_text("utf-8").replace('"intermediate_size": 12', '"intermediate_size": 13'))
    with pytest.raises(LongarcError, match="does not have the size"):
        read_pretrained_encoder(folder)


def test_weights_with_code_are_refused_with_a_hint(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path, "bert")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(LongarcError) as caught:
        read_pretrained_encoder(folder)
    assert "safetensors" in caught.value.hint


def test_an_encoder_needs_its_preset_and_the_preset_an_encoder(tmp_path: Path) -> None:
    treebank = write_toy_treebank(tmp_path / "toy.conllu", 5)
    result = longarc("train", treebank, "--preset", "transformer", "--out", tmp_path / "out")
    assert result.status == 2 and "--encoder" in result.stderr
    folder = write_encoder(tmp_path / "encoder", "bert")
    result = longarc("train", treebank, "--encoder", folder, "--out", tmp_path / "out")
    assert result.status == 2 and "--preset transformer" in result.stderr
