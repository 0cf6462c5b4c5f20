"""Sentences as the arrays that training needs, made once, and batches of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from longarc.data.batches import batches_by_length
from longarc.data.sentence import FORM, Sentence
from longarc.data.spelling import Characters, Spellings
from longarc.data.vocabulary import NOT_KNOWN, TAG_COLUMNS, UNKNOWN, Labels, Words
from longarc.errors import LongarcError
from longarc.model.network import Inputs
from longarc.training.configuration import Configuration
from longarc.transitions import get_system
from longarc.transitions.oracle_paths import MAX_NODES, OracleConfigurations, oracle_configurations, slots_of
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
    characters: Characters | None
    """None where words are not spelled"""
    tags: dict[str, Labels]
    """Of each predicted column, see TAG_COLUMNS"""
    relations: Labels


@dataclass(frozen=True)
class Example:
    """One training sentence; arrays are indexed by node."""

    words: NDArray[np.int64]
    spellings: NDArray[np.int64]
    """Which row of the training data's Spellings each word is"""
    tags: dict[str, NDArray[np.int64]]
    relations: NDArray[np.int64]
    oracle: OracleConfigurations


@dataclass(frozen=True)
class Batch:
    """Sentences in tensors; the places of transition scores refer to ScoreLayout rows laid end to end."""

    inputs: Inputs
    tags: dict[str, torch.Tensor]
    """[batch, N] of each predicted column; NOT_KNOWN where there is nothing to learn"""
    legal: torch.Tensor
    """[candidates] the place of each legal transition of each configuration"""
    configuration: torch.Tensor
    """[candidates] to which configuration it belongs"""
    chosen: torch.Tensor
    """[configurations] the place of the right transition"""
    is_arc: torch.Tensor
    """[configurations] whether it makes an arc"""
    arc_sentences: torch.Tensor
    """[arcs] where the arcs of the oracle are: sentence, head, dependent, and their relations"""
    arc_heads: torch.Tensor
    arc_dependents: torch.Tensor
    arc_relations: torch.Tensor

    @property
    def sentences(self) -> int:
        return len(self.inputs.lengths)

    @property
    def tokens(self) -> int:
        """Words, the root not counted."""
        return int(self.inputs.lengths.sum()) - self.sentences


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


def make_vocabularies(
    configuration: Configuration,
    words: Words,
    sentences: Sequence[Sentence],
    trees: Sequence[tuple[Heads, list[str]]],
) -> Vocabularies:
    """What the training data has. A column beside the coarse tags that has but one value is not worth predicting."""
    tags = {}
    for name in predicted_columns(configuration):
        column = TAG_COLUMNS[name]
        found = Labels.from_counts(Counter(word[column] for sentence in sentences for word in sentence.words))
        if name == "tags" or len(found) > 1:
            tags[name] = found
    characters = Characters.of_words(count_forms(sentences)) if configuration.spelling_size else None
    relations = Counter(relation for _, names in trees for relation in names[1:])
    return Vocabularies(words, characters, tags, Labels.from_counts(relations))


def predicted_columns(configuration: Configuration) -> list[str]:
    """The names of TAG_COLUMNS that a configuration asks for."""
    wanted = {"tags": True, "fine_tags": configuration.fine_tags, "features": configuration.features}
    return [name for name in TAG_COLUMNS if wanted[name]]


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
) -> tuple[list[Example], Spellings | None]:
    """All sentences as examples, and how their words are spelled; the oracle runs here, once."""
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
    forms = list(count_forms(sentences))
    places = {form: place for place, form in enumerate(forms, 1)}
    examples = [
        Example(
            vocabularies.words.numbers(sentence.forms),
            np.array([0, *(places[form] for form in sentence.forms)], dtype=np.int64),
            {name: labels.numbers(sentence.column(TAG_COLUMNS[name])) for name, labels in vocabularies.tags.items()},
            vocabularies.relations.numbers(relations),
            oracles[index],
        )
        for index, (sentence, (_, relations)) in enumerate(zip(sentences, trees, strict=True))
    ]
    return examples, None if vocabularies.characters is None else vocabularies.characters.spell(forms)


def check_lengths(sentences: Sequence[Sentence]) -> None:
    """Refuses a sentence that the compact oracle arrays have no room for."""
    for sentence in sentences:
        if len(sentence) >= MAX_NODES:
            raise LongarcError(
                f"a sentence of {len(sentence):,} words (line {sentence.line}) is too long to train on",
                f"The limit is {MAX_NODES - 1:,}: split it or take it out.",
            )


def make_batch(examples: Sequence[Example], spellings: Spellings | None, system_name: str) -> Batch:
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
    relations = padded([example.relations for example in examples], nodes, 0)
    sentence, (head, dependent) = sentence_of[is_arc], chosen[is_arc].T
    words = padded([example.words for example in examples], nodes, UNKNOWN)
    places = padded([example.spellings for example in examples], nodes, 0)
    return Batch(
        inputs=make_inputs(words, lengths, places, spellings),
        tags={
            name: torch.from_numpy(padded([example.tags[name] for example in examples], nodes, NOT_KNOWN))
            for name in examples[0].tags
        },
        legal=torch.from_numpy(
            slots_of(legal, nodes) + width * np.repeat(np.arange(len(examples)), candidates),
        ),
        configuration=torch.from_numpy(np.repeat(np.arange(len(counts)), counts)),
        chosen=torch.from_numpy(slots_of(chosen, nodes) + width * sentence_of),
        is_arc=torch.from_numpy(is_arc),
        arc_sentences=torch.from_numpy(sentence),
        arc_heads=torch.from_numpy(head),
        arc_dependents=torch.from_numpy(dependent),
        arc_relations=torch.from_numpy(relations[sentence, dependent]),
    )


def make_inputs(
    words: NDArray[np.int64], lengths: NDArray[np.int64], places: NDArray[np.int64], spellings: Spellings | None
) -> Inputs:
    """words, places: [batch, N], the latter rows of `spellings`, of which no more than these go along."""
    if spellings is None:
        return Inputs(torch.from_numpy(words), torch.from_numpy(lengths))
    rows, numbers = np.unique(places, return_inverse=True)
    own = spellings.take(rows)
    return Inputs(
        torch.from_numpy(words),
        torch.from_numpy(lengths),
        torch.from_numpy(numbers.reshape(places.shape)),
        torch.from_numpy(own.characters),
        torch.from_numpy(own.lengths),
    )


def padded(arrays: Sequence[NDArray[np.int64]], nodes: int, filler: int) -> NDArray[np.int64]:
    """[arrays, nodes]"""
    table = np.full((len(arrays), nodes), filler, dtype=np.int64)
    for row, array in enumerate(arrays):
        table[row, : len(array)] = array
    return table


def epoch_batches(nodes: NDArray[np.int64], configuration: Configuration, epoch: int) -> list[NDArray[np.int64]]:
    """Batches of near-equal length, in random order; the same for the same seed and epoch. They have
    `batch_sentences` sentences, or `batch_words` words where that is given.

    Long sentences come in smaller batches, so that memory, which grows with the square of the length, is bounded.
    """
    generator = np.random.default_rng((configuration.seed, epoch))
    most_sentences = len(nodes) if configuration.batch_words else configuration.batch_sentences
    most_words = configuration.batch_words or len(nodes) * int(nodes.max())
    order = generator.permutation(len(nodes))
    order = order[np.argsort(nodes[order], kind="stable")]
    batches = []
    start = 0
    for end in range(1, len(order) + 1):
        longest, count = int(nodes[order[min(end, len(order) - 1)]]), end - start + 1
        too_large = longest**2 * count > MAX_PAIRS or (longest - 1) * count > most_words
        if end == len(order) or end - start == most_sentences or too_large:
            batches.append(order[start:end])
            start = end
    return [batches[i] for i in generator.permutation(len(batches))]
