"""Parsing with the network that is being trained, to see how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from longarc.data.batches import batches_by_length
from longarc.data.sentence import Sentence
from longarc.data.spelling import different_words
from longarc.data.vocabulary import TAG_COLUMNS, UNKNOWN
from longarc.decoding.greedy import parse_greedily
from longarc.evaluation.attachment import attachment_scores
from longarc.model.network import Inputs, Network
from longarc.model.scorers import FactoredScorer, TransitionScores
from longarc.training.configuration import Configuration
from longarc.training.examples import Vocabularies, make_inputs, padded
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
    tags: dict[str, list[str]]
    """Of each predicted column"""


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
        inputs = self._inputs(sentences)
        scores = self.network(inputs)
        best, relations = self._best_relations(scores.transitions)
        flat = scores.transitions.flat(best).numpy()
        lengths = inputs.lengths.numpy()
        heads = parse_greedily(self.system, lengths - 1, flat, single_root=self.single_root).heads
        if relations is None:
            numbers = self._relations_of(scores.transitions, torch.from_numpy(heads))
        else:
            numbers = relations.gather(1, torch.from_numpy(heads).clamp(min=0).unsqueeze(1)).squeeze(1)
        tags = {name: logits.argmax(dim=-1) for name, logits in scores.tags.items()}
        parses = []
        for row, length in enumerate(lengths):
            own_heads = heads[row, :length].astype(np.int32)
            names = ["", *(self.vocabularies.relations[number] for number in numbers[row, 1:length].tolist())]
            if self.system.projective:
                own_heads, names = deprojectivize(own_heads, names, self.scheme)
            own_tags = {
                name: [self.vocabularies.tags[name][number] for number in best[row, :length].tolist()]
                for name, best in tags.items()
            }
            parses.append(Parse(own_heads, names, own_tags))
        return parses

    def _inputs(self, sentences: Sequence[Sentence]) -> Inputs:
        lengths = np.array([len(sentence) + 1 for sentence in sentences])
        nodes = int(lengths.max())
        forms = [sentence.forms for sentence in sentences]
        words = padded([self.vocabularies.words.numbers(own) for own in forms], nodes, UNKNOWN)
        different, places = different_words(forms, nodes)
        characters = self.vocabularies.characters
        return make_inputs(words, lengths, places, None if characters is None else characters.spell(different))

    def _best_relations(self, scores: TransitionScores) -> tuple[torch.Tensor, torch.Tensor | None]:
        """[batch, N, N] the score of each arc, and its best relation unless that is found out later."""
        if scores.relation_heads is not None:
            return scores.arcs[:, :, 0], None
        by_head = self.relation_mask[(torch.arange(scores.shift.shape[1]) > 0).long()]  # [N, relations]
        best = (scores.arcs + by_head.unsqueeze(-1)).max(dim=2)
        return best.values, best.indices

    def _relations_of(self, scores: TransitionScores, heads: torch.Tensor) -> torch.Tensor:
        """[batch, N] the best relation of each word to its head."""
        assert isinstance(self.network.scorer, FactoredScorer)
        assert scores.relation_heads is not None and scores.relation_dependents is not None
        index = heads.clamp(min=0).unsqueeze(-1).expand_as(scores.relation_heads)
        chosen = scores.relation_heads.gather(1, index)
        logits = self.network.scorer.relation_logits(chosen, scores.relation_dependents)
        return (logits + self.relation_mask[(heads > 0).long()]).argmax(dim=-1)

    def evaluate(self, sentences: Sequence[Sentence]) -> dict[str, float]:
        """UAS, LAS and tag accuracy in percent, every word counted."""
        parses = self.parse(sentences)
        found = attachment_scores(
            ((sentence.heads, sentence.relations) for sentence in sentences),
            ((parse.heads, parse.relations) for parse in parses),
        )
        result = {"uas": found.uas, "las": found.las}
        for name in self.vocabularies.tags:
            pairs = [
                (gold, own)
                for sentence, parse in zip(sentences, parses, strict=True)
                for gold, own in zip(sentence.column(TAG_COLUMNS[name])[1:], parse.tags[name][1:], strict=True)
            ]
            result[name] = 100 * sum(gold == own for gold, own in pairs) / max(len(pairs), 1)
        return result
