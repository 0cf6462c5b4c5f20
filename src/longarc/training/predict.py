"""Parsing with the network that is being trained, to see how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from longarc.data.batches import batches_by_length
from longarc.data.sentence import UPOS, XPOS, Sentence
from longarc.decoding.greedy import parse_greedily
from longarc.evaluation.attachment import attachment_scores
from longarc.model.network import Network
from longarc.training.configuration import Configuration
from longarc.training.examples import Vocabularies
from longarc.transitions import get_system
from longarc.trees.pseudo_projective import Scheme, deprojectivize
from longarc.trees.structure import Heads

PAIRS_PER_BATCH = 1 << 17
"""Bounds the memory that the arc scores of a batch take."""


@dataclass(frozen=True)
class Parse:
    """What the model says of a sentence, indexed by node."""

    heads: Heads
    relations: list[str]
    tags: list[str]
    fine_tags: list[str]


class Predictor:
    """A network with all that is needed to parse sentences with it."""

    def __init__(
        self,
        network: Network,
        vocabularies: Vocabularies,
        configuration: Configuration,
        single_root: bool,
        relation_mask: NDArray[np.float32],
    ) -> None:
        self.network = network
        self.vocabularies = vocabularies
        self.system = get_system(configuration.system)
        self.scheme: Scheme = configuration.projectivization  # type: ignore[assignment]  # checked by Configuration
        self.single_root = single_root
        self.relation_mask = torch.from_numpy(relation_mask)

    @torch.no_grad()
    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Parses sentences greedily, in batches of similar length."""
        self.network.eval()
        squares = [(len(sentence) + 1) ** 2 for sentence in sentences]
        parses: dict[int, Parse] = {}
        for indices in batches_by_length(squares, PAIRS_PER_BATCH):
            found = self._parse_batch([sentences[index] for index in indices])
            parses.update(zip(indices.tolist(), found, strict=True))
        return [parses[index] for index in range(len(sentences))]

    def _parse_batch(self, sentences: Sequence[Sentence]) -> list[Parse]:
        lengths = np.array([len(sentence) + 1 for sentence in sentences])
        words = np.zeros((len(sentences), lengths.max()), dtype=np.int64)
        for row, sentence in enumerate(sentences):
            words[row, : lengths[row]] = self.vocabularies.words.numbers(sentence.forms)
        scores = self.network(torch.from_numpy(words), torch.from_numpy(lengths))
        by_head = self.relation_mask[(torch.arange(int(lengths.max())) > 0).long()]  # [N, relations]
        best, relations = (scores.arcs + by_head.unsqueeze(-1)).max(dim=2)
        flat = scores.flat(best).numpy()
        heads = parse_greedily(self.system, lengths - 1, flat, single_root=self.single_root).heads
        tags = scores.tags.argmax(dim=-1)
        fine_tags = tags if scores.fine_tags is None else scores.fine_tags.argmax(dim=-1)
        parses = []
        for row, length in enumerate(lengths):
            own_heads = heads[row, :length].astype(np.int32)
            numbers = relations[row, own_heads[1:], np.arange(1, length)]
            names = ["", *(self.vocabularies.relations[number] for number in numbers.tolist())]
            if self.system.projective:
                own_heads, names = deprojectivize(own_heads, names, self.scheme)
            parses.append(
                Parse(
                    own_heads,
                    names,
                    [self.vocabularies.tags[number] for number in tags[row, :length].tolist()],
                    []
                    if scores.fine_tags is None
                    else [self.vocabularies.fine_tags[number] for number in fine_tags[row, :length].tolist()],
                )
            )
        return parses

    def evaluate(self, sentences: Sequence[Sentence]) -> dict[str, float]:
        """UAS, LAS and tag accuracy in percent, every word counted."""
        parses = self.parse(sentences)
        found = attachment_scores(
            ((sentence.heads, sentence.relations) for sentence in sentences),
            ((parse.heads, parse.relations) for parse in parses),
        )
        result = {"uas": found.uas, "las": found.las}
        columns = {"tags": UPOS} | ({"fine_tags": XPOS} if self.network.fine_tagger is not None else {})
        for name, column in columns.items():
            pairs = [
                (gold, own)
                for sentence, parse in zip(sentences, parses, strict=True)
                for gold, own in zip(sentence.column(column)[1:], getattr(parse, name)[1:], strict=True)
            ]
            result[name] = 100 * sum(gold == own for gold, own in pairs) / max(len(pairs), 1)
        return result
