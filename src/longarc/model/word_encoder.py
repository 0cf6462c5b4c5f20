"""The encoder `words`: word vectors, a character BiLSTM, subword vectors, and a BiLSTM over the sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from longarc.configuration import Configuration
from longarc.data.pieces import PieceVectors, is_piece_table, read_piece_vectors
from longarc.data.sentence import FORM, Sentence
from longarc.data.spelling import Characters
from longarc.data.vectors import WordVectors, read_vectors
from longarc.data.vocabulary import UNKNOWN, Words
from longarc.model.bilstm import BiLSTM, reversal_of
from longarc.model.encoder import LENGTHS, Encoded, Encoder, Pretrained
from longarc.model.graph_writer import FLOAT, INT32, INT64, GraphWriter
from longarc.model.spelling_reader import SpellingReader
from longarc.model.tables import with_8_bit_table
from longarc.runtime.features import MAIN, Featurizer
from longarc.runtime.model_file import ModelFile
from longarc.runtime.spelled_words import SPELLING, SpelledWords
from longarc.runtime.word_features import WordFeatures


@dataclass(frozen=True)
class WordTable(Pretrained):
    """The words of a model and the pretrained vectors of some of them."""

    words: Words
    vectors: WordVectors | None
    pieces: PieceVectors | None

    def digest(self) -> bytes:
        return b"".join(table.vectors.tobytes() for table in (self.vectors, self.pieces) if table is not None)


class WordEncoder(Encoder):
    """Words and characters in; contextual and lexical vectors out."""

    def __init__(self, configuration: Configuration, features: Featurizer) -> None:
        super().__init__(configuration, features)
        assert isinstance(features, WordFeatures)
        self.word_dropout = configuration.word_dropout
        self.embedding = WordEmbedding(features.words, configuration.word_dimensions)
        self.spelling = SpellingReader(configuration, features.spelling) if features.graphs else None
        self.lexical_width = configuration.word_dimensions + (self.spelling.width if self.spelling else 0)
        layers = configuration.tagger_layers or configuration.lstm_layers
        self.lstm = BiLSTM(self.lexical_width, configuration.lstm_size, layers, configuration.lstm_dropout)
        self.width = 2 * configuration.lstm_size

    @classmethod
    def build(
        cls, configuration: Configuration, train: Sequence[Sentence], dev: Sequence[Sentence], files: Sequence[Path]
    ) -> tuple[Configuration, WordFeatures, WordTable]:
        """`files`: at most one file of word vectors, and at most one folder of subword vectors."""
        counts = _count_forms(train)
        vectors, pieces = None, None
        for file in files:
            if is_piece_table(file):
                alphabet = {variant for form in counts for variant in (*form, *form.lower(), *form.upper())}
                pieces = read_piece_vectors(file, alphabet, configuration.pieces_limit)
                dimensions = {"piece_vector_dimensions": pieces.vectors.shape[1]}
                configuration = configuration.updated(dimensions, str(file))
                continue
            needed = counts.keys() | _count_forms(dev).keys()
            needed |= {form.lower() for form in needed}
            vectors = read_vectors(file, needed, configuration.vectors_limit).standardised()
            configuration = configuration.updated({"word_dimensions": vectors.vectors.shape[1]}, str(file))
        words = Words.build(counts, configuration.min_count, vectors.words if vectors else [])
        characters = Characters.of_words(counts) if configuration.spelling_size else None
        features = WordFeatures(words, SpelledWords(characters, None if pieces is None else pieces.pieces))
        return configuration, features, WordTable(words, vectors, pieces)

    def initialise(self, pretrained: Pretrained, seed: int) -> None:
        """Copy pretrained vectors; a word without one takes that of its lower-cased form, or a random one."""
        assert isinstance(pretrained, WordTable)
        words, vectors = pretrained.words, pretrained.vectors
        numbers: dict[str, int] = {} if vectors is None else {word: i for i, word in enumerate(vectors.words)}
        rows = np.array([numbers.get(form, numbers.get(form.lower(), -1)) for form in words.forms])
        rows[:2] = -1
        if vectors is not None:
            has_vector = rows >= 0
            self.embedding.fixed[torch.from_numpy(has_vector)] = torch.from_numpy(vectors.vectors[rows[has_vector]])
        if pretrained.pieces is not None:
            assert self.spelling is not None and self.spelling.pieces is not None
            self.spelling.pieces.table.copy_(torch.from_numpy(pretrained.pieces.vectors))
        generator = torch.Generator().manual_seed(seed)
        without = torch.from_numpy(rows[: words.trained] < 0)
        trained = self.embedding.trained
        with torch.no_grad():
            trained.copy_(torch.randn(trained.shape, generator=generator) * without.unsqueeze(-1))

    def forward(self, arrays: dict[str, Tensor]) -> Encoded[Tensor]:
        words = arrays["words"]
        if self.training and self.word_dropout:
            hidden = torch.rand(words.shape, device=words.device) < self.word_dropout
            hidden[0] = False
            words = words.masked_fill(hidden, UNKNOWN)
        lexical = self.embedding(words)
        if self.spelling is not None:
            spelled = self.spelling(arrays)
            lexical = torch.cat([lexical, nn.functional.embedding(arrays["spellings"], spelled)], dim=-1)
        return Encoded(self.lstm(lexical, reversal_of(arrays[LENGTHS], len(words))), lexical)

    def export(self, g: GraphWriter) -> Encoded[str]:
        table = self.embedding.fixed.clone()
        table[: len(self.embedding.trained)] += self.embedding.trained.detach()
        words = g.input("words", INT64, "nodes", "batch")
        lengths = g.input(LENGTHS, INT32, "batch")
        lexical = g.add("Gather", g.constant(table), words, axis=0)
        if self.spelling is not None:
            spelled = g.input("spelled", FLOAT, "words", self.spelling.width)
            spellings = g.input("spellings", INT64, "nodes", "batch")
            lexical = g.add("Concat", lexical, g.add("Gather", spelled, spellings, axis=0), axis=-1)
        return Encoded(self.lstm.export(g, lexical, lengths), lexical)

    def export_graphs(self) -> dict[str, bytes]:
        """Return the graph that reads distinct words: the parser caches its result per word."""
        return {} if self.spelling is None else {SPELLING: self.spelling.export()}

    @staticmethod
    def compact(model: ModelFile, most_words: int) -> ModelFile:
        """Store word vectors in 8 bits with a scale per word. The words of the training data come first, then the most
        frequent ones of the vector file."""
        features = model.description.features
        assert isinstance(features, WordFeatures)
        words = features.words
        count = min(most_words or len(words), len(words))
        kept = Words(words.forms[:count], min(words.trained, count))
        description = replace(model.description, features=WordFeatures(kept, features.spelling))
        graphs = {**model.graphs, MAIN: with_8_bit_table(model.graphs[MAIN], "words", count)}
        if (pieces := features.spelling.pieces) is not None:
            graphs[SPELLING] = with_8_bit_table(model.graphs[SPELLING], "pieces", len(pieces))
        return replace(model, graphs=graphs, description=description)


class WordEmbedding(nn.Module):
    """Fixed vectors plus a trained offset for the words of the training data."""

    fixed: Tensor

    def __init__(self, words: Words, dimensions: int) -> None:
        super().__init__()
        self.register_buffer("fixed", torch.zeros(len(words), dimensions))
        self.trained = nn.Parameter(torch.zeros(words.trained, dimensions))

    def forward(self, words: Tensor) -> Tensor:
        count = len(self.trained)
        offset = nn.functional.embedding(words.clamp(max=count - 1), self.trained)
        if count < len(self.fixed):
            offset = offset * (words < count).unsqueeze(-1)
        return nn.functional.embedding(words, self.fixed) + offset


def _count_forms(sentences: Sequence[Sentence]) -> Counter[str]:
    return Counter(word[FORM] for sentence in sentences for word in sentence.word_rows)
