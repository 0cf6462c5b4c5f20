"""The torch part of an encoder: word vectors from the featurizer's arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from torch import Tensor, nn

from longarc.configuration import Configuration
from longarc.data.sentence import Sentence
from longarc.model.graph_writer import GraphWriter
from longarc.runtime.features import Featurizer
from longarc.runtime.model_file import ModelFile

LENGTHS = "lengths"
"""The array [batch] of sentence lengths in nodes, which every encoder reads."""

Vector = TypeVar("Vector", Tensor, str)


@dataclass(frozen=True)
class Encoded(Generic[Vector]):
    """The vectors [N, batch, width] of a batch, as tensors or as names of graph values."""

    contextual: Vector
    """What the tagger reads"""
    lexical: Vector
    """Vectors of words without context, or `contextual` if there are none"""


class Encoder(nn.Module, ABC):
    """Turns the arrays of a Featurizer into one vector per word."""

    width: int
    """Width of the contextual vectors"""
    lexical_width: int

    def __init__(self, configuration: Configuration, features: Featurizer) -> None:
        """Build the network; `build` learns the features and fills in pretrained weights."""
        super().__init__()

    @classmethod
    @abstractmethod
    def build(
        cls, configuration: Configuration, train: Sequence[Sentence], dev: Sequence[Sentence], files: Sequence[Path]
    ) -> tuple[Configuration, Featurizer, Pretrained]:
        """Learn the features from the training data and from files of pretrained weights.

        Return the configuration, with the sizes that follow from the files, the featurizer, and what `initialise` puts
        into a new network.
        """

    @abstractmethod
    def initialise(self, pretrained: Pretrained, seed: int) -> None:
        """Fill in pretrained weights."""

    def pretrained_parameters(self) -> Iterable[nn.Parameter]:
        """Return the parameters that are trained with `encoder_learning_rate`."""
        return ()

    @abstractmethod
    def forward(self, arrays: dict[str, Tensor]) -> Encoded[Tensor]:
        """Encode a batch; `arrays` is what the featurizer returned, as tensors."""

    @abstractmethod
    def export(self, g: GraphWriter) -> Encoded[str]:
        """Add the encoder, with its inputs, to the main graph."""

    def export_graphs(self) -> dict[str, bytes]:
        """Return the graphs besides the main one; see Featurizer.graphs."""
        return {}

    @staticmethod
    @abstractmethod
    def compact(model: ModelFile, most_words: int) -> ModelFile:
        """Return the model with its encoder's tables in 8 bits, and with at most `most_words` words (0: all)."""


class Pretrained(ABC):
    """Pretrained weights on their way into an encoder."""

    @abstractmethod
    def digest(self) -> bytes:
        """Return bytes that differ if the weights differ."""
