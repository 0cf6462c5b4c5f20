"""Learning from a treebank how its text is split into sentences and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from longarc.data.characters import TextCharacters, categories_of, read_characters
from longarc.data.multiword import MultiwordRules
from longarc.data.raw_text import spaces_around, surface_rows
from longarc.data.sentence import FORM, ID, MISC, Sentence, is_multiword
from longarc.data.spelling import Characters
from longarc.errors import LongarcError
from longarc.model.tokenizer_network import TokenizerNetwork
from longarc.runtime.model_file import TokenizerDescription
from longarc.runtime.tokenizer import (
    INSIDE,
    MULTIWORD_END,
    MULTIWORD_SENTENCE_END,
    SENTENCE_END,
    TOKEN_END,
)
from longarc.training.averaging import WeightAverage
from longarc.training.checkpoint import load_tensors, save_tensors

TOKENIZER = "tokenizer.safetensors"
WINDOW = 160
"""Characters that are learnt from at once."""
BATCH = 48
LEARNING_RATE = 0.004
AVERAGING = 0.995
MOST_PASSES = 60
FEWEST_STEPS = 300
"""A small treebank is not gone over for ever, nor given up after a glance."""
IGNORED = -100
SHARE_WITH_SPACES = 0.0005
"""Where more tokens than this have a space in them, tokens may have one."""


@dataclass(frozen=True)
class LabelledText:
    """The text of a treebank, and what ends where."""

    text: str
    labels: NDArray[np.int64]
    """[characters of the text]"""


@dataclass(frozen=True)
class TrainedTokenizer:
    """A network and all that is needed to use it."""

    network: TokenizerNetwork
    description: TokenizerDescription


def has_text(sentences: Sequence[Sentence]) -> bool:
    """Whether a treebank tells how its text is written: some word must follow another without a space."""
    return any("SpaceAfter=No" in row[MISC] for sentence in sentences for row in sentence.rows if len(row) > MISC)


def labelled_text(sentences: Sequence[Sentence]) -> LabelledText:
    """All sentences as one text; a paragraph begins where the treebank says so."""
    parts: list[str] = []
    labels: list[int] = []

    def add(text: str, last: int = INSIDE) -> None:
        if text:
            parts.append(text)
            labels.extend([INSIDE] * (len(text) - 1) + [last])

    for sentence in sentences:
        begins = any(comment.startswith(("# newpar", "# newdoc")) for comment in sentence.comments)
        if begins and parts:
            add("\n\n")
        rows = surface_rows(sentence)
        for number, row in enumerate(rows, 1):
            multiword = is_multiword(row)
            if number == len(rows):
                add(row[FORM], MULTIWORD_SENTENCE_END if multiword else SENTENCE_END)
            else:
                add(row[FORM], MULTIWORD_END if multiword else TOKEN_END)
            add(" " if spaces_around(row)[1] else "")
    return LabelledText("".join(parts), np.array(labels, dtype=np.int64))


def multiword_tokens(sentences: Sequence[Sentence]) -> list[tuple[str, list[str]]]:
    """All multiword tokens with their words."""
    found = []
    for sentence in sentences:
        for row in sentence.rows:
            if is_multiword(row):
                first, last = map(int, row[ID].split("-"))
                found.append((row[FORM], [word[FORM] for word in sentence.words[first - 1 : last]]))
    return found


def describe(sentences: Sequence[Sentence], text: str) -> TokenizerDescription:
    """What the tokeniser of a treebank must know beside its weights."""
    tokens = [row[FORM] for sentence in sentences for row in surface_rows(sentence)]
    has_spaces = sum(" " in token for token in tokens) > SHARE_WITH_SPACES * len(tokens)
    counted = Characters.of_words(text[start : start + 100] for start in range(0, len(text), 100))
    return TokenizerDescription(counted, has_spaces, MultiwordRules.learn(multiword_tokens(sentences)))


def train_tokenizer(
    sentences: Sequence[Sentence], seed: int, most_steps: int, step_done: Callable[[int, int], None]
) -> TrainedTokenizer:
    """Learns from random windows of the treebank's text; `step_done` is told how many steps are done, and of how many.

    Other random numbers than those of this training are left as they are.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _train(sentences, seed, most_steps, step_done)


def _train(
    sentences: Sequence[Sentence], seed: int, most_steps: int, step_done: Callable[[int, int], None]
) -> TrainedTokenizer:
    learnt_from = labelled_text(sentences)
    steps = min(most_steps, max(FEWEST_STEPS, MOST_PASSES * len(learnt_from.text) // (WINDOW * BATCH)))
    description = describe(sentences, learnt_from.text)
    network = TokenizerNetwork(description.character_numbers)
    sampler = _Windows(learnt_from, description, seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps, pct_start=0.1)
    average = WeightAverage(network, AVERAGING)
    network.train()
    for step in range(steps):
        characters, categories, labels, lengths = sampler.batch()
        scores = network(characters, categories, lengths)
        loss = cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        average.update()
        step_done(step + 1, steps)
    network.load_state_dict(average.average)
    network.eval()
    return TrainedTokenizer(network, description)


def save_tokenizer(folder: Path, trained: TrainedTokenizer) -> None:
    """Writes the weights and what must be known beside them."""
    save_tensors(folder / TOKENIZER, trained.network.state_dict(), trained.description.as_json())


def load_tokenizer(folder: Path) -> TrainedTokenizer | None:
    """Reads what `save_tokenizer` wrote; None if it wrote nothing."""
    if not (folder / TOKENIZER).exists():
        return None
    tensors, metadata = load_tensors(folder / TOKENIZER)
    description = TokenizerDescription.from_json(metadata)
    if description is None:
        raise LongarcError(f"{folder / TOKENIZER}: not a tokeniser that can be read")
    network = TokenizerNetwork(description.character_numbers)
    network.load_state_dict(tensors)
    return TrainedTokenizer(network, description)


class _Windows:
    """Random windows of a text, none of them beyond a paragraph."""

    def __init__(self, labelled: LabelledText, description: TokenizerDescription, seed: int) -> None:
        read: TextCharacters = read_characters(labelled.text)
        self.numbers = description.numbers(read.codes)
        self.categories = categories_of(read.codes)
        # White space says what ended before it only where it is inside a token.
        self.labels = labelled.labels[read.places]
        self.starts = np.repeat(read.paragraphs[:-1], np.diff(read.paragraphs))
        self.ends = np.repeat(read.paragraphs[1:], np.diff(read.paragraphs))
        self.generator = np.random.default_rng(seed)

    def batch(self) -> tuple[torch.Tensor, ...]:
        """Characters, categories and labels [longest, BATCH], and lengths [BATCH]; longer ones come together."""
        middle = self.generator.integers(len(self.numbers), size=BATCH)
        first = np.maximum(self.starts[middle], middle - WINDOW // 2)
        last = np.minimum(self.ends[middle], first + WINDOW)
        lengths = last - first
        inside = np.arange(int(lengths.max()))[:, None] < lengths
        places = np.where(inside, first + np.arange(len(inside))[:, None], 0)
        return (
            torch.from_numpy(np.where(inside, self.numbers[places], 0)),
            torch.from_numpy(np.where(inside, self.categories[places], 0)),
            torch.from_numpy(np.where(inside, self.labels[places], IGNORED)),
            torch.from_numpy(lengths),
        )
