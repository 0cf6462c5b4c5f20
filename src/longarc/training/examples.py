"""Sentences as the arrays that training needs, made once, and batches of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from longarc.data.batches import batches_by_length
from longarc.data.sentence import FORM, UPOS, XPOS, Sentence
from longarc.data.vocabulary import Labels, Words
from longarc.errors import LongarcError
from longarc.training.configuration import Configuration
from longarc.transitions import get_system
from longarc.transitions.candidates import MAX_NODES, OracleConfigurations, oracle_configurations, slots_of
from longarc.transitions.system import ScoreLayout
from longarc.trees.pseudo_projective import Scheme, projectivize
from longarc.trees.structure import Heads, root_children

MAX_PAIRS = 1 << 17
"""Pairs of nodes in a batch; 32 sentences of 63 words have as many."""
NEVER = -1e9
SHARE_OF_SEVERAL_ROOTS = 0.01
"""A treebank in which more sentences than this have several roots is parsed without the single-root rule."""


@dataclass(frozen=True)
class Vocabularies:
    """All that turns a sentence into numbers and numbers into columns."""

    words: Words
    tags: Labels
    fine_tags: Labels
    relations: Labels


@dataclass(frozen=True)
class Example:
    """One training sentence; arrays are indexed by node."""

    words: NDArray[np.int64]
    tags: NDArray[np.int64]
    fine_tags: NDArray[np.int64]
    relations: NDArray[np.int64]
    oracle: OracleConfigurations


@dataclass(frozen=True)
class Batch:
    """Sentences in tensors; the places of transition scores refer to ScoreLayout rows laid end to end."""

    lengths: torch.Tensor
    """[batch] nodes, the root included"""
    words: torch.Tensor
    """[batch, N]; padded with 0"""
    tags: torch.Tensor
    """[batch, N]; NOT_KNOWN where there is nothing to learn"""
    fine_tags: torch.Tensor
    legal: torch.Tensor
    """[candidates] the place of each legal transition of each configuration"""
    configuration: torch.Tensor
    """[candidates] to which configuration it belongs"""
    chosen: torch.Tensor
    """[configurations] the place of the right transition"""
    is_arc: torch.Tensor
    """[configurations] whether it makes an arc"""
    arc_relations: torch.Tensor
    """[arcs] the place of (sentence, head, relation, dependent) in the arc logits of the batch, flattened"""

    @property
    def tokens(self) -> int:
        """Words, the root not counted."""
        return int(self.lengths.sum()) - len(self.lengths)


def has_single_root(configuration: Configuration, sentences: Sequence[Sentence]) -> bool:
    """Whether trees shall have one root child: as configured, or as nearly all training trees do."""
    if configuration.single_root != "auto":
        return configuration.single_root == "yes"
    several = sum(root_children(sentence.heads) > 1 for sentence in sentences)
    return several <= SHARE_OF_SEVERAL_ROOTS * len(sentences)


def training_trees(configuration: Configuration, sentences: Sequence[Sentence]) -> list[tuple[Heads, list[str]]]:
    """Heads and relations as the transition system will see them: projectivised where it needs that."""
    trees = [(sentence.heads, sentence.relations) for sentence in sentences]
    if get_system(configuration.system).projective:
        scheme: Scheme = configuration.projectivization  # type: ignore[assignment]  # checked by Configuration
        trees = [projectivize(heads, relations, scheme) for heads, relations in trees]
    return trees


def count_forms(sentences: Sequence[Sentence]) -> Counter[str]:
    return Counter(word[FORM] for sentence in sentences for word in sentence.words)


def label_vocabularies(
    sentences: Sequence[Sentence], trees: Sequence[tuple[Heads, list[str]]]
) -> tuple[Labels, Labels, Labels]:
    """Coarse tags, fine tags and relations of the training data."""
    tags = Counter(word[UPOS] for sentence in sentences for word in sentence.words)
    fine_tags = Counter(word[XPOS] for sentence in sentences for word in sentence.words)
    relations = Counter(relation for _, names in trees for relation in names[1:])
    return Labels.from_counts(tags), Labels.from_counts(fine_tags), Labels.from_counts(relations)


def relation_mask(trees: Sequence[tuple[Heads, list[str]]], relations: Labels) -> NDArray[np.float32]:
    """[2, relations] what is added to the scores of relations, for arcs from the root and for others: 0, or NEVER for a
    relation that the training data has with the other kind of arc only (as UD wants `root` on the root and nowhere
    else)."""
    mask = np.full((2, len(relations)), NEVER, dtype=np.float32)
    for heads, names in trees:
        mask[np.where(heads[1:] == 0, 0, 1), relations.numbers(names[1:])] = 0
    for row in mask:
        if (row == NEVER).all():  # a treebank of one-word sentences has no other arcs to learn from
            row[:] = 0
    return mask


def make_examples(
    configuration: Configuration,
    vocabularies: Vocabularies,
    sentences: Sequence[Sentence],
    trees: Sequence[tuple[Heads, list[str]]],
    single_root: bool,
) -> list[Example]:
    """All sentences as examples; the oracle runs here, once."""
    system = get_system(configuration.system)
    oracles: dict[int, OracleConfigurations] = {}
    # A tree with several roots among trees with one is learnt as it is: its configurations follow the looser rule.
    keeps_rule = np.array([not single_root or root_children(heads) == 1 for heads, _ in trees])
    for wanted in (True, False):
        indices = np.flatnonzero(keeps_rule == wanted)
        for part in batches_by_length([len(trees[i][0]) for i in indices.tolist()], budget=1 << 14):
            group = indices[part].tolist()
            heads = [trees[i][0] for i in group]
            found = oracle_configurations(system, heads, single_root=single_root and wanted)
            oracles.update(zip(group, found, strict=True))
    return [
        Example(
            vocabularies.words.numbers(sentence.forms),
            vocabularies.tags.numbers(sentence.column(UPOS)),
            vocabularies.fine_tags.numbers(sentence.column(XPOS)),
            vocabularies.relations.numbers(relations),
            oracles[index],
        )
        for index, (sentence, (_, relations)) in enumerate(zip(sentences, trees, strict=True))
    ]


def check_lengths(sentences: Sequence[Sentence]) -> None:
    """Refuses a sentence that the compact oracle arrays have no room for."""
    for sentence in sentences:
        if len(sentence) >= MAX_NODES:
            raise LongarcError(
                f"a sentence of {len(sentence):,} words (line {sentence.line}) is too long to train on",
                f"The limit is {MAX_NODES - 1:,}: split it or take it out.",
            )


def make_batch(examples: Sequence[Example], system_name: str, relation_count: int) -> Batch:
    """Puts examples together."""
    lengths = np.array([len(example.words) for example in examples])
    nodes = int(lengths.max())
    width = ScoreLayout(nodes).width(get_system(system_name))
    configurations = np.array([len(example.oracle.counts) for example in examples])
    candidates = np.array([len(example.oracle.legal) for example in examples])
    sentence_of = np.repeat(np.arange(len(examples)), configurations)
    chosen = np.concatenate([example.oracle.chosen for example in examples]).astype(np.int64)
    legal = np.concatenate([example.oracle.legal for example in examples])
    counts = np.concatenate([example.oracle.counts for example in examples])
    is_arc = chosen[:, 0] >= 0
    relations = _padded([example.relations for example in examples], nodes, 0)
    sentence, (head, dependent) = sentence_of[is_arc], chosen[is_arc].T
    relation = relations[sentence, dependent]
    return Batch(
        lengths=torch.from_numpy(lengths),
        words=torch.from_numpy(_padded([example.words for example in examples], nodes, 0)),
        tags=torch.from_numpy(_padded([example.tags for example in examples], nodes, -1)),
        fine_tags=torch.from_numpy(_padded([example.fine_tags for example in examples], nodes, -1)),
        legal=torch.from_numpy(
            slots_of(legal, nodes) + width * np.repeat(np.arange(len(examples)), candidates),
        ),
        configuration=torch.from_numpy(np.repeat(np.arange(len(counts)), counts)),
        chosen=torch.from_numpy(slots_of(chosen, nodes) + width * sentence_of),
        is_arc=torch.from_numpy(is_arc),
        arc_relations=torch.from_numpy(
            ((sentence * nodes + head) * relation_count + relation) * nodes + dependent,
        ),
    )


def _padded(arrays: Sequence[NDArray[np.int64]], nodes: int, filler: int) -> NDArray[np.int64]:
    padded = np.full((len(arrays), nodes), filler, dtype=np.int64)
    for row, array in enumerate(arrays):
        padded[row, : len(array)] = array
    return padded


def epoch_batches(nodes: NDArray[np.int64], size: int, seed: int, epoch: int) -> list[NDArray[np.int64]]:
    """Batches of `size` sentences of near-equal length, in random order; the same for the same seed and epoch.

    Long sentences come in smaller batches, so that memory, which grows with the square of the length, is bounded.
    """
    generator = np.random.default_rng((seed, epoch))
    order = generator.permutation(len(nodes))
    order = order[np.argsort(nodes[order], kind="stable")]
    batches = []
    start = 0
    for end in range(1, len(order) + 1):
        too_large = end < len(order) and nodes[order[end]] ** 2 * (end - start + 1) > MAX_PAIRS
        if end == len(order) or end - start == size or too_large:
            batches.append(order[start:end])
            start = end
    return [batches[i] for i in generator.permutation(len(batches))]
