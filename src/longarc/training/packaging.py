"""From a finished training run to the model files that people parse with."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc import __version__
from longarc.configuration import Configuration
from longarc.data.sentence import Sentence
from longarc.model.encoders import ENCODERS
from longarc.model.quantize import Moments, quantize, with_lstm_inputs, with_narrow_lstms
from longarc.runtime.features import MAIN
from longarc.runtime.graph import open_graph
from longarc.runtime.model_file import RELATIONS, ModelFile, write_model_file
from longarc.runtime.parser import Parser
from longarc.runtime.session import Session
from longarc.runtime.transformer_features import TransformerFeatures
from longarc.training.scoring import parse_words, score_model, score_nonprojective, score_parsed, score_words
from longarc.training.trained_model import TrainedModel
from longarc.transitions import get_system

SAMPLE_SENTENCES = 600
"""Sentences from which the moments of LSTM inputs are estimated."""
LSTM_SHARES = (0.25, 0.4, 0.6)
"""Shares of an LSTM's inputs that are tried for a faster 8-bit model."""
MAX_LOSS = 0.2
"""How many points each score on the development data may lose when a model is made faster."""
CROSSING_COSTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
"""The costs that are tried on the development data."""
EQUAL_LAS = 0.02
"""Costs whose LAS on the development data differs by at most this much count as equally good."""


@dataclass(frozen=True)
class Origin:
    """The origin of a model, for its card."""

    treebank: str = ""
    licence: str = ""
    attribution: str = ""


def model_card(name: str, configuration: Configuration, scores: Mapping[str, float], origin: Origin) -> dict[str, Any]:
    """Return the card of a 32-bit model."""
    return {
        "name": name,
        **vars(origin),
        "scores": dict(scores),
        "precision": "float32",
        "configuration": configuration.as_dict(),
        "command": shlex.join(["longarc", *sys.argv[1:]]),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "versions": {"longarc": __version__, **{name: version(name) for name in ("torch", "onnx", "onnxruntime")}},
    }


def model_paths(out: Path) -> tuple[Path, Path]:
    """Return the files of the 32-bit and of the 8-bit model in a training folder."""
    name = out.resolve().name
    return out / f"{name}.longarc", out / f"{name}-int8.longarc"


def write_models(
    trained: TrainedModel,
    out: Path,
    dev: Sequence[Sentence],
    scores: dict[str, float],
    origin: Origin,
    *,
    quantize: bool,
    most_words: int = 0,
    narrow: bool = True,
    announce: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Path, ModelFile]]:
    """Package a trained model in its folder, score it on dev, and yield each file after it is written.

    most_words: words that the 8-bit model knows at most, 0 for all. narrow: reduce the inputs of the 8-bit model's
    LSTMs as far as the scores on dev allow. announce: receives a description of each step.
    """
    path, small_path = model_paths(out)
    announce("scoring the model")
    model = trained.to_model_file(model_card(path.stem, trained.configuration, scores, origin))
    model = choose_variants(model, dev)
    if trained.configuration.crossing_cost == "auto":
        model = choose_crossing_cost(model, dev, announce)
    dev_scores = score_model(model, dev)
    model.card["scores"] |= _for_card(dev_scores, "dev")
    yield _write(path, model)
    if not quantize:
        return
    small = _narrow_int8(model, dev_scores, dev, most_words, announce) if narrow else make_int8(model, most_words)
    announce("scoring the 8-bit model")
    small.card["scores"] = {**scores, **_for_card(score_model(small, dev), "dev")}
    if dev:
        small.card["float32_scores"] = _for_card(dev_scores, "dev")
    yield _write(small_path, small)


def choose_variants(model: ModelFile, dev: Sequence[Sentence]) -> ModelFile:
    """Return the model with the variant of each column that scores best on dev; the first without dev."""
    for name, column in model.description.columns.items():
        candidates = []
        for variant in column.variants():
            description = replace(model.description, columns={**model.description.columns, name: variant})
            candidates.append(replace(model, description=description))
        if len(candidates) > 1 and dev:
            accuracies = [score_words(Parser(candidate), dev)[name] for candidate in candidates]
            model = candidates[accuracies.index(max(accuracies))]
    return model


def choose_crossing_cost(
    model: ModelFile, dev: Sequence[Sentence], announce: Callable[[str], None] = lambda _: None
) -> ModelFile:
    """Return the model with the crossing cost that has the best LAS on dev, if its system has such a cost.

    Of costs with nearly the same LAS, the one is chosen with which the trees have about as many non-projective arcs as
    the gold trees.
    """
    if not dev or not get_system(model.description.system).has_crossing_cost:
        return model
    candidates, scores, excess = [], [], []
    for cost in CROSSING_COSTS:
        announce(f"choosing the cost of crossing arcs: {cost:g}")
        candidate = replace(model, description=replace(model.description, crossing_cost=cost))
        parser = Parser(candidate)
        parsed = parse_words(parser, dev)
        nonprojective = score_nonprojective(dev, parsed)
        candidates.append(replace(candidate, card={**model.card, "crossing_cost": cost}))
        scores.append(score_parsed(parser, dev, parsed)["las"])
        excess.append(abs(nonprojective.system - nonprojective.gold))
    good = [index for index, las in enumerate(scores) if las >= max(scores) - EQUAL_LAS]
    return candidates[min(good, key=lambda index: excess[index])]


def add_test_scores(path: Path, model: ModelFile, test: Sequence[Sentence]) -> None:
    """Add the scores on the test data to a model file's card."""
    model.card["scores"] |= _for_card(score_model(model, test), "test")
    write_model_file(path, model)


def _write(path: Path, model: ModelFile) -> tuple[Path, ModelFile]:
    write_model_file(path, model)
    return path, model


def _for_card(scores: Mapping[str, float], split: str) -> dict[str, float]:
    """Return rounded scores under names that start with the split."""
    return {f"{split}_{name}": round(score, 2) for name, score in scores.items()}


def _narrow_int8(
    model: ModelFile,
    scores: Mapping[str, float],
    dev: Sequence[Sentence],
    most_words: int,
    announce: Callable[[str], None],
) -> ModelFile:
    """Return the 8-bit model whose LSTMs read as few inputs as the scores on dev allow, the widest LSTM first.

    `scores`: those of the 32-bit model.
    """
    moments = lstm_moments(model, dev)
    sizes = [len(matrix) for matrix in moments.values()]
    shares, best = [1.0] * len(sizes), make_int8(model, most_words)
    for number, index in enumerate(sorted(range(len(sizes)), key=lambda index: -sizes[index]), 1):
        for share in LSTM_SHARES:
            announce(f"making the 8-bit model faster: {share:.0%} of the inputs of LSTM {number} of {len(sizes)}")
            attempt = [*shares[:index], share, *shares[index + 1 :]]
            small = make_int8(model, most_words, attempt, moments)
            # Rounded, because 58.96 − 58.76 is slightly more than 0.2 in floating point.
            losses = [round(scores[name] - score, 6) for name, score in score_words(Parser(small), dev).items()]
            if max(losses) <= MAX_LOSS:
                shares, best = attempt, small
                break
    return best


def lstm_moments(model: ModelFile, sample: Sequence[Sentence]) -> Moments:
    """Return the second moments of the inputs of the main graph's LSTMs, from bottom to top."""
    graph, names = with_lstm_inputs(model.graphs[MAIN])
    if not names:
        return {}
    session = open_graph(graph, "model")
    inputs_of = Session(model, lambda: model, "model").inputs
    extra = {"with_totals": np.array(False)} if "with_totals" in {value.name for value in session.get_inputs()} else {}
    moments: dict[str, NDArray[np.float64]] = {}
    for sentence in sample[:SAMPLE_SENTENCES]:
        for name, values in zip(names, session.run(names, inputs_of([sentence.forms]) | extra), strict=True):
            vectors = values[:, 0].astype(np.float64)
            moments[name] = moments.get(name, 0) + vectors.T @ vectors
    return moments


def make_int8(
    model: ModelFile, most_words: int = 0, lstm_shares: Sequence[float] = (), moments: Moments | None = None
) -> ModelFile:
    """Return the model with 8-bit weights and at most `most_words` words (0: all).

    lstm_shares: how many of its inputs each LSTM keeps, which needs `moments`; fewer are faster and less exact.
    """
    small = ENCODERS[model.description.features.kind].compact(model, most_words)
    graph = small.graphs[MAIN]
    card = {**model.card, "precision": "int8"}
    if any(share < 1 for share in lstm_shares):
        graph = with_narrow_lstms(graph, lstm_shares, moments or {})
        card["lstm_inputs"] = list(lstm_shares)
    # The graphs that read characters are small and keep their precision.
    main = quantize(graph, scale_per_output=model.description.features.kind == TransformerFeatures.kind)
    graphs = {**small.graphs, MAIN: main, RELATIONS: quantize(small.graphs[RELATIONS])}
    small = replace(small, graphs=graphs, card=card)
    small.card["bytes"] = small.graph_bytes
    return small
