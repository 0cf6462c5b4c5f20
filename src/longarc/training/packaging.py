"""From the weights of a finished training to the file that people parse with."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc import __version__
from longarc.data.sentence import Sentence
from longarc.data.spelling import Characters
from longarc.data.vocabulary import Labels, Words
from longarc.errors import LongarcError
from longarc.model.export import (
    export_onnx,
    export_relations,
    export_spelling,
    export_tokenizer,
)
from longarc.model.network import Network
from longarc.model.quantize import Moments, quantized, with_inputs_shown, with_narrow_inputs, with_small_words
from longarc.model.scorers import FactoredScorer
from longarc.runtime.model_file import Description, ModelFile
from longarc.runtime.session import Session, open_graph
from longarc.training.checkpoint import load_tensors
from longarc.training.configuration import Configuration
from longarc.training.examples import Vocabularies
from longarc.training.prepare import Prepared, network_size
from longarc.training.train_tokenizer import load_tokenizer
from longarc.training.trainer import DESCRIPTION, WEIGHTS
from longarc.trees.pseudo_projective import Scheme

SAMPLE_SENTENCES = 600
"""Sentences that tell what LSTMs read: more than enough for some hundreds of dimensions."""


@dataclass(frozen=True)
class Origin:
    """Where a model comes from, as its card shall say."""

    treebank: str = ""
    licence: str = ""
    attribution: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"treebank": self.treebank, "licence": self.licence, "attribution": self.attribution}


def model_card(name: str, configuration: Configuration, scores: Mapping[str, float], origin: Origin) -> dict[str, Any]:
    """All that a user should know about a model, except what quantising did to it."""
    return {
        "name": name,
        **origin.as_dict(),
        "scores": dict(scores),
        "precision": "float32",
        "configuration": configuration.as_dict(),
        "command": shlex.join(["longarc", *sys.argv[1:]]),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "versions": {"longarc": __version__, **{name: version(name) for name in ("torch", "onnx", "onnxruntime")}},
    }


def make_package(prepared: Prepared, card: dict[str, Any]) -> ModelFile:
    """The network in its present state, ready to be written."""
    vocabularies, configuration = prepared.vocabularies, prepared.configuration
    scheme: Scheme = configuration.projectivization  # type: ignore[assignment]  # checked by Configuration
    description = Description(
        system=configuration.system,
        scheme=scheme,
        single_root=prepared.single_root,
        words=vocabularies.words,
        characters=vocabularies.characters,
        tags=vocabularies.tags,
        relations=vocabularies.relations,
        tokenizer=None if prepared.tokenizer is None else prepared.tokenizer.description,
    )
    graph = export_onnx(prepared.network, prepared.relation_mask)
    spelling = b"" if prepared.network.spelling is None else export_spelling(prepared.network.spelling)
    scorer = prepared.network.scorer
    relations = export_relations(scorer, prepared.relation_mask) if isinstance(scorer, FactoredScorer) else b""
    tokenizer = b"" if prepared.tokenizer is None else export_tokenizer(prepared.tokenizer.network)
    package = ModelFile(graph, spelling, relations, tokenizer, description, dict(card))
    package.card["bytes"] = package.graph_bytes
    return package


def lstm_moments(package: ModelFile, sample: Sequence[Sentence]) -> Moments:
    """What the LSTMs are given for some sentences, from the lowest to the highest; needed to make them read less."""
    session = Session(package, lambda: package, "model")
    graph, names = with_inputs_shown(package.graph)
    watched = open_graph(graph, "model")
    other = {"with_total": np.array(False)} if "with_total" in {value.name for value in watched.get_inputs()} else {}
    moments: dict[str, NDArray[np.float64]] = {}
    for sentence in sample[:SAMPLE_SENTENCES]:
        for name, read in zip(names, watched.run(names, session.inputs([sentence.forms]) | other), strict=True):
            vectors = read[:, 0].astype(np.float64)
            moments[name] = moments.get(name, 0) + vectors.T @ vectors
    return moments


def make_int8(
    package: ModelFile, most_words: int = 0, lstm_inputs: Sequence[float] = (), moments: Moments | None = None
) -> ModelFile:
    """The same model with 8-bit weights, and with no more than `most_words` words (0: all): those of the training data
    come first, then the vectors' most frequent ones. `lstm_inputs`: how much each LSTM keeps of its inputs, of
    which there must be `moments`; with less, the model is faster and less exact."""
    words = package.description.words
    kept = min(most_words or len(words), len(words))
    description = replace(package.description, words=Words(words.forms[:kept], min(words.trained, kept)))
    graph = with_small_words(package.graph, kept)
    card = {**package.card, "precision": "int8"}
    if any(share < 1 for share in lstm_inputs):
        graph = with_narrow_inputs(graph, lstm_inputs, moments or {})
        card["lstm_inputs"] = list(lstm_inputs)
    relations = quantized(package.relation_graph) if package.relation_graph else b""
    # The graphs that read characters are small, and reading a little better is worth more than making them smaller.
    small = ModelFile(quantized(graph), package.spelling_graph, relations, package.tokenizer_graph, description, card)
    small.card["bytes"] = small.graph_bytes
    return small


def load_trained(folder: Path) -> Prepared:
    """What a finished training left in its folder, as far as it is needed to package it."""
    try:
        data = json.loads((folder / DESCRIPTION).read_text("utf-8"))
    except OSError as error:
        raise LongarcError(f"{folder}: no finished training: {DESCRIPTION}: {error.strerror}") from None
    configuration = Configuration().updated(data["configuration"], str(folder / DESCRIPTION))
    vocabularies = Vocabularies(
        Words(data["words"], data["trained_words"]),
        None if data["characters"] is None else Characters(data["characters"]),
        {name: Labels(names) for name, names in data["tags"].items()},
        Labels(data["relations"]),
    )
    network = Network(network_size(configuration, vocabularies))
    tensors, _ = load_tensors(folder / WEIGHTS)
    network.load_state_dict(tensors)
    mask = np.array(data["relation_mask"], dtype=np.float32)
    return Prepared(
        configuration, vocabularies, data["single_root"], mask, network, [], None, 0, "", load_tokenizer(folder)
    )
