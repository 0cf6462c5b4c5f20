"""From treebank and configuration to a network with its vocabularies and examples, ready to be trained."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from longarc.data.sentence import Sentence
from longarc.data.spelling import Spellings
from longarc.data.vectors import WordVectors, read_vectors
from longarc.data.vocabulary import Words
from longarc.errors import LongarcError
from longarc.model.network import Network
from longarc.model.size import NetworkSize
from longarc.training.configuration import Configuration
from longarc.training.examples import (
    Example,
    Vocabularies,
    check_lengths,
    count_forms,
    has_single_root,
    make_examples,
    make_vocabularies,
    relation_mask,
    training_trees,
)
from longarc.training.predict import Predictor
from longarc.training.train_tokenizer import TrainedTokenizer
from longarc.transitions import get_system

EPOCHS, SMALL_TREEBANK_EPOCHS = 10, 30


@dataclass(frozen=True)
class Prepared:
    """All that the training loop needs."""

    configuration: Configuration
    vocabularies: Vocabularies
    single_root: bool
    relation_mask: NDArray[np.float32]
    network: Network
    examples: list[Example]
    spellings: Spellings | None
    epochs: int
    fingerprint: str
    """Of data and configuration: a checkpoint belongs to one of these."""
    tokenizer: TrainedTokenizer | None = None
    """Where it has been learnt how text is split"""

    def predictor(self) -> Predictor:
        """The network in its present state as a parser."""
        return Predictor(self.network, self.vocabularies, self.configuration, self.single_root, self.relation_mask)

    def description(self) -> dict[str, Any]:
        """What must be known to use the weights: configuration and vocabularies."""
        return {
            "configuration": self.configuration.as_dict(),
            "single_root": self.single_root,
            "words": self.vocabularies.words.forms,
            "trained_words": self.vocabularies.words.trained,
            "characters": None if (known := self.vocabularies.characters) is None else known.characters,
            "tags": {name: labels.names for name, labels in self.vocabularies.tags.items()},
            "relations": self.vocabularies.relations.names,
            "relation_mask": self.relation_mask.tolist(),
        }


def prepare(
    configuration: Configuration, train: Sequence[Sentence], dev: Sequence[Sentence], vectors: Path | None
) -> Prepared:
    """Builds vocabularies, network and examples; the network's first weights depend on the seed alone."""
    if not train:
        raise LongarcError("the training file has no sentences")
    check_lengths(train)
    trees = training_trees(configuration, train)
    counts = count_forms(train)
    found = None
    if vectors is not None:
        wanted = counts.keys() | count_forms(dev).keys()
        found = read_vectors(vectors, wanted | {form.lower() for form in wanted}, configuration.vectors_limit)
        found = found.standardised()
        configuration = configuration.updated({"word_dimensions": found.vectors.shape[1]}, str(vectors))
    words = Words.build(counts, configuration.min_count, found.words if found else [])
    vocabularies = make_vocabularies(configuration, words, train, trees)
    single_root = has_single_root(configuration, train)
    size = sum(map(len, train))
    epochs = configuration.epochs or (SMALL_TREEBANK_EPOCHS if size < configuration.small_treebank else EPOCHS)
    torch.manual_seed(configuration.seed)
    network = Network(network_size(configuration, vocabularies))
    initialise_words(network, words, found, configuration.seed)
    examples, spellings = make_examples(configuration, vocabularies, train, trees, single_root)
    return Prepared(
        configuration,
        vocabularies,
        single_root,
        relation_mask(trees, vocabularies.relations),
        network,
        examples,
        spellings,
        epochs,
        _fingerprint(configuration, train, dev, found),
    )


def network_size(configuration: Configuration, vocabularies: Vocabularies) -> NetworkSize:
    """The shapes that a configuration and its vocabularies ask for."""
    system = get_system(configuration.system)
    return NetworkSize(
        words=len(vocabularies.words),
        trained_words=vocabularies.words.trained,
        tags={name: len(labels) for name, labels in vocabularies.tags.items()},
        relations=len(vocabularies.relations),
        has_no_arc=system.has_no_arc,
        has_reduce=system.has_reduce,
        characters=0 if vocabularies.characters is None else len(vocabularies.characters),
        word_dimensions=configuration.word_dimensions,
        character_dimensions=configuration.character_dimensions,
        spelling_size=configuration.spelling_size,
        tagger_layers=configuration.tagger_layers or configuration.lstm_layers,
        lstm_layers=configuration.lstm_layers,
        lstm_size=configuration.lstm_size,
        parser_reads_words=configuration.parser_input == "words",
        tag_dimensions=configuration.tag_dimensions,
        merge_dimensions=configuration.merge_dimensions,
        pair_dimensions=configuration.pair_dimensions,
        relation_dimensions=configuration.relation_dimensions,
        dropout=configuration.dropout,
        lstm_dropout=configuration.lstm_dropout,
        word_dropout=configuration.word_dropout,
    )


def initialise_words(network: Network, words: Words, vectors: WordVectors | None, seed: int) -> None:
    """Vectors go to the fixed table, a word without one takes that of its lower-cased form, the rest is random."""
    numbers: dict[str, int] = {} if vectors is None else {word: i for i, word in enumerate(vectors.words)}
    rows = np.array([numbers.get(form, numbers.get(form.lower(), -1)) for form in words.forms])
    rows[:2] = -1
    embedding = network.embedding
    if vectors is not None:
        found: NDArray[np.bool_] = rows >= 0
        embedding.fixed[torch.from_numpy(found)] = torch.from_numpy(vectors.vectors[rows[found]])
    generator = torch.Generator().manual_seed(seed)
    without = torch.from_numpy(rows[: words.trained] < 0)
    with torch.no_grad():
        embedding.trained.copy_(torch.randn(embedding.trained.shape, generator=generator) * without.unsqueeze(-1))


def _fingerprint(
    configuration: Configuration, train: Sequence[Sentence], dev: Sequence[Sentence], vectors: WordVectors | None
) -> str:
    digest = hashlib.sha256(json.dumps(configuration.as_dict(), sort_keys=True).encode())
    for sentences in (train, dev):
        digest.update(str(len(sentences)).encode())
        for sentence in sentences:
            digest.update(sentence.to_conll().encode())
    if vectors is not None:
        digest.update(vectors.vectors.tobytes())
    return digest.hexdigest()
