"""The encoder `words`: word vectors, a character BiLSTM, and a BiLSTM over the sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from longarc.configuration import Configuration
from longarc.data.sentence import FORM, Sentence
from longarc.data.spelling import Characters
from longarc.data.vectors import WordVectors, read_vectors
from longarc.data.vocabulary import UNKNOWN, Words
from longarc.model.bilstm import BiLSTM, reversal_of
from longarc.model.encoder import LENGTHS, Encoded, Encoder, Pretrained
from longarc.model.graph_writer import FLOAT, INT32, INT64, GraphWriter
from longarc.runtime.features import Featurizer
from longarc.runtime.model_file import MAIN, ModelFile
from longarc.runtime.word_features import SPELLING, WordFeatures


@dataclass(frozen=True)
class WordTable(Pretrained):
    """The words of a model and the pretrained vectors of some of them."""

    words: Words
    vectors: WordVectors | None

    def digest(self) -> bytes:
        return b"" if self.vectors is None else self.vectors.vectors.tobytes()


class WordEncoder(Encoder):
    """Words and characters in; contextual and lexical vectors out."""

    def __init__(self, configuration: Configuration, features: Featurizer) -> None:
        super().__init__(configuration, features)
        assert isinstance(features, WordFeatures)
        size = configuration.spelling_size
        self.word_dropout = configuration.word_dropout
        self.embedding = WordEmbedding(features.words, configuration.word_dimensions)
        self.spelling = None
        self.lexical_width = configuration.word_dimensions
        if features.characters is not None:
            self.spelling = CharacterBiLSTM(len(features.characters), configuration.character_dimensions, size)
            self.lexical_width += 2 * size
        layers = configuration.tagger_layers or configuration.lstm_layers
        self.lstm = BiLSTM(self.lexical_width, configuration.lstm_size, layers, configuration.lstm_dropout)
        self.width = 2 * configuration.lstm_size

    @classmethod
    def build(
        cls, configuration: Configuration, train: Sequence[Sentence], dev: Sequence[Sentence], pretrained: Path | None
    ) -> tuple[Configuration, WordFeatures, WordTable]:
        counts = _count_forms(train)
        vectors = None
        if pretrained is not None:
            needed = counts.keys() | _count_forms(dev).keys()
            needed |= {form.lower() for form in needed}
            vectors = read_vectors(pretrained, needed, configuration.vectors_limit).standardised()
            configuration = configuration.updated({"word_dimensions": vectors.vectors.shape[1]}, str(pretrained))
        words = Words.build(counts, configuration.min_count, vectors.words if vectors else [])
        characters = Characters.of_words(counts) if configuration.spelling_size else None
        return configuration, WordFeatures(words, characters), WordTable(words, vectors)

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
        generator = torch.Generator().manual_seed(seed)
        without = torch.from_numpy(rows[: words.trained] < 0)
        trained = self.embedding.trained
        with torch.no_grad():
            trained.copy_(torch.randn(trained.shape, generator=generator) * without.unsqueeze(-1))

    def forward(self, arrays: dict[str, Tensor]) -> Encoded[Tensor]:
        words = arrays["words"]
        if self.training and self.word_dropout:
            hidden = torch.rand(words.shape) < self.word_dropout
            hidden[0] = False
            words = words.masked_fill(hidden, UNKNOWN)
        lexical = self.embedding(words)
        if self.spelling is not None:
            spelled = self.spelling(arrays["characters"], arrays["character_counts"])
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
        """Return the graph that reads the characters of distinct words: the parser caches its result per word."""
        return {} if self.spelling is None else {SPELLING: self.spelling.export()}

    @staticmethod
    def compact(model: ModelFile, most_words: int) -> ModelFile:
        """Store word vectors in 8 bits with a scale per word. The words of the training data come first, then the most
        frequent ones of the vector file."""
        features = model.description.features
        assert isinstance(features, WordFeatures)
        words = features.words
        count = min(most_words or len(words), len(words))
        compact = WordFeatures(Words(words.forms[:count], min(words.trained, count)), features.characters)
        graph = _with_8_bit_vectors(model.graphs[MAIN], count)
        description = replace(model.description, features=compact)
        return replace(model, graphs={**model.graphs, MAIN: graph}, description=description)


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


class CharacterBiLSTM(nn.Module):
    """Represents a word by the final states of a BiLSTM over its characters."""

    def __init__(self, characters: int, dimensions: int, size: int) -> None:
        super().__init__()
        self.width = 2 * size
        self.table = nn.Embedding(characters, dimensions)
        self.lstm = BiLSTM(dimensions, size, 1)

    def forward(self, characters: Tensor, lengths: Tensor) -> Tensor:
        """Return [words, width]. characters: [longest, words]; lengths: [words]."""
        return self.lstm.final_states(self.table(characters), lengths)

    def export(self) -> bytes:
        """Return the graph from `characters` and `character_counts` to `spelled`."""
        g = GraphWriter()
        characters = g.input("characters", INT64, "longest", "words")
        counts = g.input("character_counts", INT32, "words")
        embedded = g.add("Gather", g.constant(self.table.weight), characters, axis=0)
        states = self.lstm.export_final_states(g, embedded, counts)
        g.add("Identity", states, output=g.output("spelled", FLOAT, "words", "width"))
        return g.serialize()


def _count_forms(sentences: Sequence[Sentence]) -> Counter[str]:
    return Counter(word[FORM] for sentence in sentences for word in sentence.words)


def _with_8_bit_vectors(graph: bytes, count: int) -> bytes:
    """Return the graph with the first `count` word vectors only, in 8 bits."""
    model = onnx.load_from_string(graph)
    position, gather = next((i, node) for i, node in enumerate(model.graph.node) if "words" in node.input)
    table = next(tensor for tensor in model.graph.initializer if tensor.name == gather.input[0])
    vectors = numpy_helper.to_array(table)[:count]
    scales = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-6) / 127
    table.CopyFrom(numpy_helper.from_array(np.round(vectors / scales).astype(np.int8), table.name))
    model.graph.initializer.append(numpy_helper.from_array(scales.astype(np.float32), "word_scales"))
    del model.graph.node[position]
    nodes = [
        helper.make_node("Gather", [table.name, "words"], ["small_words"], axis=0),
        helper.make_node("Cast", ["small_words"], ["plain_words"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["word_scales", "words"], ["scales_of_words"], axis=0),
        helper.make_node("Mul", ["plain_words", "scales_of_words"], list(gather.output)),
    ]
    for offset, node in enumerate(nodes):
        model.graph.node.insert(position + offset, node)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
