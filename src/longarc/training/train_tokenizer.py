"""Train the tokenizer: learn from a treebank how its text is split into sentences and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from longarc.data.characters import TextCharacters, categories_of, read_characters
from longarc.data.multiword import MultiwordRules
from longarc.data.raw_text import spaces_around, surface_rows
from longarc.data.sentence import FORM, ID, MISC, Sentence, is_multiword
from longarc.data.spelling import Characters
from longarc.model.tokenizer_network import TokenizerNetwork
from longarc.runtime.description import TokenizerDescription
from longarc.runtime.tokenizer import (
    INSIDE,
    MULTIWORD_END,
    MULTIWORD_SENTENCE_END,
    SENTENCE_END,
    TOKEN_END,
)
from longarc.training.trained_model import TrainedTokenizer
from longarc.training.weight_average import WeightAverage

WINDOW = 160
"""Characters in a training window."""
BATCH = 48
LEARNING_RATE = 0.004
AVERAGING = 0.995
MOST_PASSES = 60
FEWEST_STEPS = 300
"""Upper bound on passes over the text, and lower bound on training steps."""
IGNORED = -100
SHARE_WITH_SPACES = 0.0005
"""Tokens may contain spaces if more than this share of the treebank's tokens do."""


@dataclass(frozen=True)
class LabelledText:
    """The text of a treebank and a label for each character."""

    text: str
    labels: NDArray[np.int64]
    """[characters of the text]"""


def has_text(sentences: Sequence[Sentence]) -> bool:
    """Return whether a treebank records its text: some word must follow another without a space."""
    return any("SpaceAfter=No" in row[MISC] for sentence in sentences for row in sentence.rows if len(row) > MISC)


def labelled_text(sentences: Sequence[Sentence]) -> LabelledText:
    """Join all sentences into one text; the treebank's comments mark paragraphs."""
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
    """Return all multiword tokens with their words."""
    tokens = []
    for sentence in sentences:
        for row in sentence.rows:
            if is_multiword(row):
                first, last = map(int, row[ID].split("-"))
                tokens.append((row[FORM], [word[FORM] for word in sentence.word_rows[first - 1 : last]]))
    return tokens


def describe(sentences: Sequence[Sentence], text: str) -> TokenizerDescription:
    """Learn what a tokenizer needs besides its weights."""
    tokens = [row[FORM] for sentence in sentences for row in surface_rows(sentence)]
    has_spaces = sum(" " in token for token in tokens) > SHARE_WITH_SPACES * len(tokens)
    counted = Characters.of_words(text[start : start + 100] for start in range(0, len(text), 100))
    return TokenizerDescription(counted, has_spaces, MultiwordRules.learn(multiword_tokens(sentences)))


def train_tokenizer(
    sentences: Sequence[Sentence], seed: int, most_steps: int, step_done: Callable[[int, int], None]
) -> TrainedTokenizer:
    """Train on random windows of the treebank's text; call `step_done` with the steps done and the total.

    The global random state is not changed.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _train(sentences, seed, most_steps, step_done)


def _train(
    sentences: Sequence[Sentence], seed: int, most_steps: int, step_done: Callable[[int, int], None]
) -> TrainedTokenizer:
    corpus = labelled_text(sentences)
    steps = min(most_steps, max(FEWEST_STEPS, MOST_PASSES * len(corpus.text) // (WINDOW * BATCH)))
    description = describe(sentences, corpus.text)
    network = TokenizerNetwork(description.character_numbers)
    sampler = _Windows(corpus, description, seed)
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


class _Windows:
    """Random windows of a text that do not cross paragraphs."""

    def __init__(self, labelled: LabelledText, description: TokenizerDescription, seed: int) -> None:
        characters: TextCharacters = read_characters(labelled.text)
        self.numbers = description.numbers(characters.codes)
        self.categories = categories_of(characters.codes)
        # White space is labelled only inside a token.
        self.labels = labelled.labels[characters.places]
        self.starts = np.repeat(characters.paragraphs[:-1], np.diff(characters.paragraphs))
        self.ends = np.repeat(characters.paragraphs[1:], np.diff(characters.paragraphs))
        self.generator = np.random.default_rng(seed)

    def batch(self) -> tuple[torch.Tensor, ...]:
        """Return characters, categories and labels [longest, BATCH], and lengths [BATCH]."""
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
