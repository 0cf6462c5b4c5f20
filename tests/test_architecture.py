"""ARCHITECTURE.md's recipes, carried out: a transition system, an encoder, a column, a measure, an output format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from numpy.typing import NDArray
from torch import Tensor, nn

import longarc
from longarc import Sentence
from longarc.data.columns import COLUMNS, Column
from longarc.data.formats import FORMATS
from longarc.data.sentence import FORM, LEMMA
from longarc.data.vocabulary import NOT_KNOWN, Labels
from longarc.evaluation.measures import MEASURES, Measure, count_words
from longarc.model.encoder import LENGTHS, Encoded, Encoder, Pretrained
from longarc.model.encoders import ENCODERS
from longarc.model.graph_writer import INT32, INT64, GraphWriter
from longarc.runtime.features import Arrays, Featurizer, Forms, TableRows, lengths_in_nodes
from longarc.runtime.featurizers import FEATURIZERS
from longarc.runtime.pipeline import OUTPUT_FORMATS
from longarc.server.app import make_app
from longarc.server.served_models import ServedModels
from longarc.transitions import SYSTEMS
from longarc.transitions.arc_standard import ArcStandard
from tests.helpers.command import invoke_successfully
from tests.helpers.prepared_training import SMALL_SETTINGS
from tests.helpers.toy_treebank import write_toy_treebank

SETTINGS = [*SMALL_SETTINGS, "--set=relation_dimensions=6", "--epochs=2", "--threads=1", "--preset=paper"]


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    return write_toy_treebank(tmp_path / "toy.conllu", 30)


def train(treebank: Path, *settings: str) -> Path:
    """Train a small model and return its 8-bit file."""
    out = treebank.parent / "model"
    invoke_successfully("train", treebank, "--dev", treebank, "--out", out, "--quantize", *SETTINGS, *settings)
    return out / "model-int8.longarc"


# ---------------------------------------------------------------------------------------------------------------------
# A transition system.


class ShiftFirst(ArcStandard):
    """Arc-standard that shifts all words before it adds arcs."""

    name = "shift-first"

    def legal(self, state: Any) -> Any:
        legal = super().legal(state)
        legal[:, 1:] &= ~state.buffer_left[:, None]
        return legal


@pytest.fixture
def shift_first(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(SYSTEMS, ShiftFirst.name, ShiftFirst())
    yield ShiftFirst.name


def test_a_new_system_works_in_every_command(shift_first: str, treebank: Path) -> None:
    plot = treebank.parent / "plot.svg"
    assert shift_first in invoke_successfully("stats", treebank, "--plot", plot).output
    assert shift_first in plot.read_text()  # matplotlib names the text that it draws
    first = invoke_successfully("oracle", treebank, "--system", shift_first).output.split("\n\n")[0].split()
    assert first[: first.index("Left-Arc")].count("Shift") == first.count("Shift")
    model = train(treebank, "--system", shift_first)
    parsed = treebank.parent / "parsed.conllu"
    invoke_successfully("parse", treebank, "-m", model, "-o", parsed)
    assert len(longarc.read_all(parsed)) == 30
    parser = longarc.load(model, threads=1)
    with TestClient(make_app(ServedModels({"toy": parser}))) as client:
        answer = client.post("/api/steps", json={"tokens": [["the", "dog", "sees"]]}).json()
    names = [step["taken"]["name"] for step in answer["derivations"][0]["steps"]]
    assert answer["derivations"][0]["system"] == shift_first
    assert names[:3] == ["Shift"] * 3 and len(names) == 6


# ---------------------------------------------------------------------------------------------------------------------
# An encoder.


class LastLetters(Featurizer):
    """Words by their last letter."""

    kind = "last-letter"

    def featurise(self, sentences: Forms) -> Arrays:
        lengths = lengths_in_nodes(sentences)
        letters = np.zeros((int(lengths.max()), len(sentences)), dtype=np.int64)
        for column, forms in enumerate(sentences):
            letters[1 : len(forms) + 1, column] = [1 + ord(form[-1:] or "a") % 64 for form in forms]
        return {"letters": letters, LENGTHS: lengths}

    def as_json(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LastLetters:
        return cls()

    def table_rows(self) -> TableRows:
        return {}

    def probe(self) -> list[str]:
        return ["a", "b"]


class Nothing(Pretrained):
    def digest(self) -> bytes:
        return b""


class LetterEncoder(Encoder):
    """One vector per letter, without context."""

    def __init__(self, configuration: Any, features: Featurizer) -> None:
        super().__init__(configuration, features)
        self.width = self.lexical_width = 8
        self.table = nn.Embedding(65, 8)

    @classmethod
    def build(cls, configuration: Any, train: Any, dev: Any, files: Sequence[Path]) -> Any:
        return configuration, LastLetters(), Nothing()

    def initialise(self, pretrained: Pretrained, seed: int) -> None:
        torch.nn.init.normal_(self.table.weight)

    def forward(self, arrays: dict[str, Tensor]) -> Encoded[Tensor]:
        vectors = self.table(arrays["letters"])
        return Encoded(vectors, vectors)

    def export(self, g: GraphWriter) -> Encoded[str]:
        letters = g.input("letters", INT64, "nodes", "batch")
        g.input(LENGTHS, INT32, "batch")
        vectors = g.add("Gather", g.constant(self.table.weight), letters, axis=0)
        return Encoded(vectors, vectors)

    @staticmethod
    def compact(model: Any, most_words: int) -> Any:
        return model


def test_a_new_encoder_trains_packages_and_parses(treebank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FEATURIZERS, LastLetters.kind, LastLetters)
    monkeypatch.setitem(ENCODERS, LastLetters.kind, LetterEncoder)
    model = train(treebank, f"--set=encoder={LastLetters.kind}")
    parser = longarc.load(model, threads=1)
    assert isinstance(parser.description.features, LastLetters)
    # Words with the same last letter are the same word to this encoder.
    assert parser.parse(["the", "dog"]).node_heads.tolist() == parser.parse(["she", "fog"]).node_heads.tolist()


# ---------------------------------------------------------------------------------------------------------------------
# A column.


class CaseLemma(Column):
    """Lemmas that are the form as it is or in upper case; the label says which."""

    name, index, measure = "lemma", LEMMA, "lemmas"

    @classmethod
    def learn(cls, sentences: Sequence[Sentence]) -> Column:
        labels = Counter(cls._label(word[FORM], word[LEMMA]) for s in sentences for word in s.word_rows)
        return cls(Labels.from_counts(labels))

    @staticmethod
    def _label(form: str, lemma: str) -> str:
        return "upper" if lemma == form.upper() else "same"

    def encode(self, sentence: Sentence) -> NDArray[np.int64]:
        labels = [self._label(word[FORM], word[LEMMA]) for word in sentence.word_rows]
        return np.concatenate([[NOT_KNOWN], self.labels.numbers(labels)])

    def decode(self, forms: Sequence[str], labels: NDArray[np.int64], cells: Mapping[str, list[str]]) -> list[str]:
        names = [self.labels.names[label] for label in labels.tolist()]
        return [form.upper() if name == "upper" else form for form, name in zip(forms, names, strict=True)]


def test_a_new_column_is_trained_scored_written_and_given_to_spacy(
    treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COLUMNS, CaseLemma.name, CaseLemma)
    sentences = longarc.read_all(treebank)
    for sentence in sentences:
        for word in sentence.word_rows:
            word[LEMMA] = word[FORM].upper() if word[FORM] == "the" else word[FORM]
    longarc.write(treebank, sentences)
    model = train(treebank, "--set=columns=['upos', 'lemma']", "--epochs=40", "--set=learning_rate=0.01")
    parser = longarc.load(model, threads=1)
    assert parser.card["scores"]["dev_lemma"] > 90
    parsed = parser.parse(["the", "dog", "sees", "the", "cat", "."])
    assert [token.lemma for token in parsed] == ["THE", "dog", "sees", "THE", "cat", "."]
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("longarc", config={"model": str(model)})
    assert [token.lemma_ for token in nlp("the dog sees the cat .")][:2] == ["THE", "dog"]


# ---------------------------------------------------------------------------------------------------------------------
# A measure and an output format.


def test_a_new_measure_is_shown_by_evaluate(treebank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short_words(judgement: Any) -> Any:
        is_short = np.array([len(form) < 4 for form in judgement.gold.column(FORM)])
        return count_words(judgement, judgement.right_head, is_short, is_short)

    monkeypatch.setitem(MEASURES, "short_uas", Measure("UAS of short words", short_words))
    assert "UAS of short words" in invoke_successfully("evaluate", treebank, treebank).output


def test_a_new_output_format_is_a_function_an_entry_and_a_suffix(
    treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OUTPUT_FORMATS, "forms", lambda sentence, _: " ".join(sentence.forms) + "\n")
    monkeypatch.setitem(FORMATS, ".forms", "forms")
    by_suffix, by_name = treebank.with_suffix(".forms"), treebank.with_suffix(".other")
    invoke_successfully("parse", treebank, "-o", by_suffix)
    invoke_successfully("parse", treebank, "--to", "forms", "-o", by_name)
    lines = [" ".join(sentence.forms) for sentence in longarc.read_all(treebank)]
    assert by_suffix.read_text().splitlines() == by_name.read_text().splitlines() == lines
