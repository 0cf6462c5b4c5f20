"""Train the tokenizer: learn from a treebank how its text is split into sentences and words."""

from __future__ import annotations

import time
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
from longarc.model.tokenizer_network import TokenizerNetwork
from longarc.runtime.description import TokenizerDescription
from longarc.runtime.tokenizer import (
    INSIDE,
    MULTIWORD_END,
    MULTIWORD_SENTENCE_END,
    SENTENCE_END,
    TOKEN_END,
)
from longarc.training.checkpoint import (
    CHECKPOINT_SECONDS,
    load_tensors,
    require_fingerprint,
    restore_training_state,
    save_tensors,
    training_state,
)
from longarc.training.interruption import Interrupted, call_on_signals
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


@dataclass(frozen=True)
class TokenizerCheckpoint:
    """Where a training of the tokenizer saves its state."""

    path: Path
    fingerprint: str
    """Of data and configuration: the state can only be resumed with the same ones."""


def train_tokenizer(
    sentences: Sequence[Sentence],
    seed: int,
    most_steps: int,
    step_done: Callable[[int, int], None],
    checkpoint: TokenizerCheckpoint | None = None,
) -> TrainedTokenizer:
    """Train on random windows of the treebank's text; call `step_done` with the steps done and the total.

    With `checkpoint`, continue from the saved state if there is one, and save it now and then. A signal to stop then
    saves the state and raises Interrupted. The global random state is not changed.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        training = _TokenizerTraining(sentences, seed, most_steps)
        if checkpoint is None:
            training.run(step_done, lambda: None)
        else:
            training.run_with_checkpoints(step_done, checkpoint)
        return training.result()


class _TokenizerTraining:
    """A training of the tokenizer; its state after any step can be saved and resumed bit for bit."""

    def __init__(self, sentences: Sequence[Sentence], seed: int, most_steps: int) -> None:
        corpus = labelled_text(sentences)
        self.steps = min(most_steps, max(FEWEST_STEPS, MOST_PASSES * len(corpus.text) // (WINDOW * BATCH)))
        self.steps_done = 0
        self.description = describe(sentences, corpus.text)
        self.network = TokenizerNetwork(self.description.character_numbers)
        self.sampler = _Windows(corpus, self.description, seed)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.01
        )
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, LEARNING_RATE, total_steps=self.steps, pct_start=0.1
        )
        self.average = WeightAverage(self.network, AVERAGING)

    def run(self, step_done: Callable[[int, int], None], after_step: Callable[[], None]) -> None:
        """Train to the end; call `after_step`, which may save the state and raise, after each step."""
        self.network.train()
        while self.steps_done < self.steps:
            self._step()
            step_done(self.steps_done, self.steps)
            after_step()

    def run_with_checkpoints(self, step_done: Callable[[int, int], None], checkpoint: TokenizerCheckpoint) -> None:
        """Train to the end, from the last checkpoint if there is one."""
        is_interrupted = False
        saved = time.monotonic()

        def interrupt() -> None:
            nonlocal is_interrupted
            is_interrupted = True

        def after_step() -> None:
            nonlocal saved
            if is_interrupted or time.monotonic() - saved > CHECKPOINT_SECONDS:
                self.save(checkpoint)
                saved = time.monotonic()
            if is_interrupted:
                raise Interrupted

        if checkpoint.path.exists():
            self.restore(checkpoint)
        with call_on_signals(interrupt):
            self.run(step_done, after_step)

    def _step(self) -> None:
        characters, categories, labels, lengths = self.sampler.batch()
        scores = self.network(characters, categories, lengths)
        loss = cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.average.update()
        self.steps_done += 1

    def save(self, checkpoint: TokenizerCheckpoint) -> None:
        """Save everything that the next step depends on."""
        metadata = {
            "fingerprint": checkpoint.fingerprint,
            "steps_done": self.steps_done,
            "windows": self.sampler.generator.bit_generator.state,
        }
        save_tensors(checkpoint.path, training_state(self.network, self.optimizer, self.average), metadata)

    def restore(self, checkpoint: TokenizerCheckpoint) -> None:
        """Restore what `save` saved."""
        tensors, metadata = load_tensors(checkpoint.path)
        require_fingerprint(metadata.get("fingerprint"), checkpoint.fingerprint, checkpoint.path.parent)
        restore_training_state(tensors, self.network, self.optimizer, self.average)
        self.steps_done = metadata["steps_done"]
        self.sampler.generator.bit_generator.state = metadata["windows"]
        # The learning rate depends only on the number of steps; this sets it as the last step before saving did.
        self.schedule.load_state_dict({"last_epoch": self.steps_done - 1, "_step_count": self.steps_done})
        self.schedule.step()

    def result(self) -> TrainedTokenizer:
        """Return the tokenizer with the averaged weights."""
        self.network.load_state_dict(self.average.average)
        self.network.eval()
        return TrainedTokenizer(self.network, self.description)


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
