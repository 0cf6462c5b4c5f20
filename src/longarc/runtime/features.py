"""The numpy part of an encoder: the words of a batch as arrays, for training and parsing alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from longarc.runtime.graph import Graph

Arrays = dict[str, NDArray[Any]]
"""Named arrays. Arrays about words are [N, batch]: nodes first, the root at 0."""
Forms = Sequence[Sequence[str]]
"""The words of each sentence of a batch."""
TableRows = dict[str, dict[str, int]]
"""By graph and by input: how many rows the table has from which the input selects."""
MAIN = "model"
"""The name of the graph that scores transitions."""


class Featurizer(ABC):
    """Turns words into the arrays that an encoder reads."""

    kind: ClassVar[str]
    """The encoder's name in FEATURIZERS and ENCODERS"""
    graphs: Sequence[str] = ()
    """The names of the graphs that the encoder needs besides the main one."""
    padding_power: ClassVar[int] = 1
    group_cost: ClassVar[int] = 15
    """A batch goes through the network in groups of similar length. A group of sentences is assumed to cost as much as
    longest^power × count + `group_cost`: recurrent networks read padding like words, attention reads pairs of words."""
    keeps_memory: ClassVar[bool] = False
    """Whether the main graph keeps its memory from batch to batch; see runtime.graph."""

    @abstractmethod
    def featurise(self, sentences: Forms) -> Arrays:
        """Return the arrays that the encoder's network reads; `lengths` [batch], in nodes, is one of them."""

    def graph_inputs(self, graphs: Mapping[str, Graph]) -> Callable[[Forms], Arrays]:
        """Return a function from sentences to the inputs of the main graph, given the open graphs named in `graphs`."""
        return self.featurise

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Return what the model file stores."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: dict[str, Any]) -> Featurizer:
        """Return a featurizer from what `as_json` gave; raise ValueError naming the key that is not as expected."""

    @abstractmethod
    def table_rows(self) -> TableRows:
        """Return the sizes of the encoder's tables, which must be those in its graphs."""

    @abstractmethod
    def probe(self) -> list[str]:
        """Return words that use the highest numbers, to test whether a graph fits."""


def lengths_in_nodes(sentences: Forms) -> NDArray[np.int32]:
    """[batch] Return the number of words of each sentence, plus one for the root."""
    return np.array([len(forms) + 1 for forms in sentences], dtype=np.int32)
