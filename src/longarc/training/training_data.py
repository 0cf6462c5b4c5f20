"""Training sentences as labels and oracle paths, computed once, and batches of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from longarc.configuration import Configuration
from longarc.data.batches import batches_by_length
from longarc.data.columns import COLUMNS, Column
from longarc.data.sentence import NO_HEAD, Sentence
from longarc.data.vocabulary import NOT_KNOWN, Labels
from longarc.errors import LongarcError
from longarc.model.encoder import LENGTHS
from longarc.runtime.description import Description
from longarc.training.teacher import LABELS_KEPT, SoftLabels, SoftTargets
from longarc.transitions import get_system
from longarc.transitions.oracle_paths import MAX_NODES, OraclePath, oracle_paths, positions_of
from longarc.trees.pseudo_projective import lift, projectivize
from longarc.trees.structure import Heads, root_children

MAX_PAIRS = 1 << 17
"""Pairs of nodes in a batch; 32 sentences of 63 words have as many."""
NEVER = -1e9
SHARE_OF_SEVERAL_ROOTS = 0.01
"""A treebank with more sentences than this that have several roots is parsed without the single-root rule."""

Tree = tuple[Heads, list[str]]
"""Heads and relations, indexed by node."""


@dataclass(frozen=True)
class Example:
    """One training sentence; arrays are indexed by node."""

    forms: list[str]
    labels: dict[str, NDArray[np.int64]]
    """Of each predicted column"""
    relations: NDArray[np.int64]
    oracle: OraclePath
    soft: SoftTargets | None = None
    """What the teachers think of it, in distillation"""

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.relations)

    @property
    def heads(self) -> Heads:
        """[N] The tree that the oracle builds; NO_HEAD where it adds no arc."""
        heads = np.full(len(self), NO_HEAD, dtype=np.int32)
        arcs = self.oracle.chosen[self.oracle.chosen[:, 0] >= 0]
        heads[arcs[:, 1]] = arcs[:, 0]
        return heads


@dataclass(frozen=True)
class Batch:
    """Sentences as tensors; positions are those of TransitionSystem.positions in rows laid end to end."""

    arrays: dict[str, torch.Tensor]
    """What the encoder reads"""
    labels: dict[str, torch.Tensor]
    """[batch, N] of each predicted column; NOT_KNOWN where there is nothing to learn"""
    legal: torch.Tensor
    """[candidates] the position of each legal transition of each configuration"""
    configuration: torch.Tensor
    """[candidates] the configuration that it belongs to"""
    chosen: torch.Tensor
    """[configurations] the position of the correct transition"""
    is_arc: torch.Tensor
    """[configurations] whether that adds an arc"""
    arc_sentences: torch.Tensor
    """[arcs] the oracle's arcs: sentence, head, dependent and relation"""
    arc_heads: torch.Tensor
    arc_dependents: torch.Tensor
    arc_relations: torch.Tensor
    soft: dict[str, torch.Tensor]
    """The targets of teachers: `transitions` [batch, width], scores by position; `NAME_numbers` and
    `NAME_probabilities`, [batch, N, LABELS_KEPT] for each predicted column and [arcs, LABELS_KEPT] for `relations`.
    Empty without teachers."""

    @property
    def sentences(self) -> int:
        return len(self.arrays[LENGTHS])

    @property
    def tokens(self) -> int:
        """The number of words, without the root."""
        return int(self.arrays[LENGTHS].sum()) - self.sentences

    def to(self, device: torch.device) -> Batch:
        """Return the batch with its tensors on a device."""

        def moved(value: torch.Tensor | dict[str, torch.Tensor]) -> Any:
            if isinstance(value, torch.Tensor):
                return value.to(device)
            return {name: tensor.to(device) for name, tensor in value.items()}

        return Batch(**{name: moved(value) for name, value in vars(self).items()})


def has_single_root(configuration: Configuration, sentences: Sequence[Sentence]) -> bool:
    """Return whether trees shall have one root child: as configured, or as nearly all training trees do."""
    if configuration.single_root != "auto":
        return configuration.single_root == "yes"
    several = sum(root_children(sentence.node_heads) > 1 for sentence in sentences)
    return several <= SHARE_OF_SEVERAL_ROOTS * len(sentences)


def training_trees(configuration: Configuration, sentences: Sequence[Sentence]) -> list[Tree]:
    """Return the trees that the transition system learns: projectivized if it needs that."""
    trees = [(sentence.node_heads, sentence.node_relations) for sentence in sentences]
    scheme = configuration.projectivization
    if not get_system(configuration.system).projective:
        return trees
    if scheme == "none":
        return [(lift(heads)[0], relations) for heads, relations in trees]
    return [projectivize(heads, relations, scheme) for heads, relations in trees]


def learn_columns(configuration: Configuration, sentences: Sequence[Sentence]) -> dict[str, Column]:
    """Collect the labels of the configured columns. A column other than UPOS that has only one value is left out."""
    columns = {name: COLUMNS[name].learn(sentences) for name in COLUMNS if name in configuration.columns}
    return {name: column for name, column in columns.items() if name == "upos" or len(column.labels) > 1}


def learn_relations(trees: Sequence[Tree]) -> Labels:
    """Collect the relations of the training trees."""
    return Labels.from_counts(Counter(relation for _, relations in trees for relation in relations[1:]))


def relation_mask(trees: Sequence[Tree], relations: Labels) -> NDArray[np.float32]:
    """[2, relations] Return what to add to the scores of relations of arcs from the root and of other arcs: 0, or NEVER
    for a relation that the training data has only with the other kind of arc (such as `root` in UD)."""
    mask = np.full((2, len(relations)), NEVER, dtype=np.float32)
    for heads, names in trees:
        mask[np.where(heads[1:] == 0, 0, 1), relations.numbers(names[1:])] = 0
    for row in mask:
        if (row == NEVER).all():  # a treebank of one-word sentences has no other arcs to learn from
            row[:] = 0
    return mask


def make_examples(description: Description, sentences: Sequence[Sentence], trees: Sequence[Tree]) -> list[Example]:
    """Encode all sentences; the oracle runs here, once."""
    system, single_root = get_system(description.system), description.single_root
    paths: dict[int, OraclePath] = {}
    # Where trees have one root, a tree with several is still learned as it is: its configurations follow a looser rule.
    keeps_rule = np.array([not single_root or root_children(heads) == 1 for heads, _ in trees])
    for value in (True, False):
        indices = np.flatnonzero(keeps_rule == value)
        for part in batches_by_length([len(trees[i][0]) for i in indices.tolist()], budget=1 << 14):
            group = indices[part].tolist()
            heads = [trees[i][0] for i in group]
            paths.update(zip(group, oracle_paths(system, heads, single_root=single_root and value), strict=True))
    return [
        Example(
            sentence.forms,
            {name: column.encode(sentence) for name, column in description.columns.items()},
            description.relations.numbers(relations),
            paths[index],
        )
        for index, (sentence, (_, relations)) in enumerate(zip(sentences, trees, strict=True))
    ]


def check_lengths(sentences: Sequence[Sentence]) -> None:
    """Reject sentences that do not fit into the compact oracle arrays."""
    for sentence in sentences:
        if len(sentence) >= MAX_NODES:
            raise LongarcError(
                f"a sentence of {len(sentence):,} words (line {sentence.line}) is too long to train on",
                f"The limit is {MAX_NODES - 1:,} words: split or remove the sentence.",
            )


def make_batch(examples: Sequence[Example], description: Description) -> Batch:
    """Combine examples into tensors."""
    nodes = max(map(len, examples))
    width = get_system(description.system).row_width(nodes)
    configurations = np.array([len(example.oracle.counts) for example in examples])
    candidates = np.array([len(example.oracle.legal) for example in examples])
    sentence_of = np.repeat(np.arange(len(examples)), configurations)
    chosen = np.concatenate([example.oracle.chosen for example in examples]).astype(np.int64)
    legal = np.concatenate([example.oracle.legal for example in examples])
    counts = np.concatenate([example.oracle.counts for example in examples])
    is_arc = chosen[:, 0] >= 0
    relations = _padded([example.relations for example in examples], nodes)
    sentence, (head, dependent) = sentence_of[is_arc], chosen[is_arc].T
    arrays = description.features.featurise([example.forms for example in examples])
    return Batch(
        arrays={name: torch.from_numpy(array) for name, array in arrays.items()},
        labels={
            name: torch.from_numpy(_padded([example.labels[name] for example in examples], nodes))
            for name in description.columns
        },
        legal=torch.from_numpy(positions_of(legal, nodes) + width * np.repeat(np.arange(len(examples)), candidates)),
        configuration=torch.from_numpy(np.repeat(np.arange(len(counts)), counts)),
        chosen=torch.from_numpy(positions_of(chosen, nodes) + width * sentence_of),
        is_arc=torch.from_numpy(is_arc),
        arc_sentences=torch.from_numpy(sentence),
        arc_heads=torch.from_numpy(head),
        arc_dependents=torch.from_numpy(dependent),
        arc_relations=torch.from_numpy(relations[sentence, dependent]),
        soft=_soft_targets([example.soft for example in examples], nodes, sentence, dependent),
    )


def _soft_targets(
    targets: Sequence[SoftTargets | None], nodes: int, sentence: NDArray[np.int64], dependent: NDArray[np.int64]
) -> dict[str, torch.Tensor]:
    """Return what Batch.soft contains; `sentence` and `dependent` [arcs] are those of the oracle's arcs."""
    soft = [target for target in targets if target is not None]
    if not soft:
        return {}
    tables = []
    for name, first in soft[0].tables.items():
        table = np.zeros((len(soft), *(nodes,) * first.ndim), np.float32)
        for row, target in enumerate(soft):
            index: Any = (row, *(slice(size) for size in target.tables[name].shape))
            table[index] = target.tables[name]
        tables.append(table.reshape(len(soft), -1))
    arrays: dict[str, NDArray[Any]] = {"transitions": np.concatenate(tables, axis=1)}

    def add(name: str, labels: Sequence[SoftLabels]) -> None:
        numbers = np.zeros((len(soft), nodes, LABELS_KEPT), np.int64)
        probabilities = np.zeros(numbers.shape, np.float32)
        for row, label in enumerate(labels):
            numbers[row, : len(label.numbers)] = label.numbers
            probabilities[row, : len(label.numbers)] = label.probabilities
        arrays[f"{name}_numbers"], arrays[f"{name}_probabilities"] = numbers, probabilities

    for name in soft[0].columns:
        add(name, [target.columns[name] for target in soft])
    add("relations", [target.relations for target in soft])
    for name in ("relations_numbers", "relations_probabilities"):
        arrays[name] = arrays[name][sentence, dependent]
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _padded(arrays: Sequence[NDArray[np.int64]], nodes: int) -> NDArray[np.int64]:
    """[arrays, nodes]"""
    table = np.full((len(arrays), nodes), NOT_KNOWN, dtype=np.int64)
    for row, array in enumerate(arrays):
        table[row, : len(array)] = array
    return table


def epoch_batches(nodes: NDArray[np.int64], configuration: Configuration, epoch: int) -> list[NDArray[np.int64]]:
    """Return batches of similar length in random order, the same for the same seed and epoch.

    A batch has `batch_sentences` sentences, or `batch_words` words if that is set. Batches of long sentences are
    smaller, since memory grows with the square of the length.
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
