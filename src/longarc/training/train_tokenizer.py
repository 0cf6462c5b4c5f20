"""Train the tokenizer: learn from a treebank how its text is split into sentences and words."""

from __future__ import annotations

import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from longarc.data.characters import categories_of, read_characters
from longarc.data.multiword import MultiwordRules
from longarc.data.raw_text import spaces_around, surface_rows
from longarc.data.sentence import FORM, ID, Sentence, is_multiword
from longarc.data.spelling import UNKNOWN_CHARACTER, Characters
from longarc.data.usual_spacing import records_spaces, with_usual_spacing
from longarc.model.tokenizer_network import TokenizerNetwork
from longarc.runtime.description import TokenizerDescription
from longarc.runtime.tokenizer import (
    INSIDE,
    MULTIWORD_END,
    MULTIWORD_SENTENCE_END,
    SENTENCE_END,
    TOKEN_END,
)
from longarc.training.augment_text import Passage, TextConventions, TextToken, augment
from longarc.training.checkpoint import (
    CHECKPOINT_SECONDS,
    load_tensors,
    require_fingerprint,
    restore_training_state,
    save_tensors,
    training_state,
)
from longarc.training.interruption import Interrupted, call_on_signals
from longarc.training.invented_tokens import FLAG_LETTERS
from longarc.training.trained_model import TrainedTokenizer
from longarc.training.weight_average import WeightAverage

WINDOW = 200
"""Characters in a training window."""
MARGIN = 24
"""Characters at an end of a window that are context only, unless the paragraph ends there too."""
BATCH = 40
UNKNOWN_SHARE = 0.01
"""Share of the characters that are replaced by the unknown character, so that the network learns to use categories."""
COPIES = 3
"""How often the treebank is augmented, each time in another way."""
LEARNING_RATE = 0.004
AVERAGING = 0.995
MOST_PASSES = 60
FEWEST_STEPS = 300
"""Upper bound on passes over the treebank's text, and lower bound on training steps."""
IGNORED = -100
_MARK_IN_NUMBER = re.compile(r"(?<=[0-9])[.,](?=[0-9])")
FEWEST_NUMBERS = 10
"""A text with fewer numbers counts as if it had this many, the others whole: a few that are split may be mistakes."""
SHARE_WITH_SPACES = 0.0005
"""Tokens may contain spaces if more than this share of the treebank's tokens do."""


@dataclass(frozen=True)
class LabelledText:
    """The text of a treebank and a label for each character."""

    text: str
    labels: NDArray[np.int64]
    """[characters of the text]"""


def labelled_text(sentences: Sequence[Sentence]) -> LabelledText:
    """Join all sentences into one text; the treebank's comments mark paragraphs."""
    return label_passages(passages_of(sentences))


def passages_of(sentences: Sequence[Sentence]) -> list[Passage]:
    """Return the tokens of a treebank by paragraph and sentence."""
    passages: list[Passage] = []
    for sentence in sentences:
        if not passages or any(comment.startswith(("# newpar", "# newdoc")) for comment in sentence.comments):
            passages.append([])
        tokens = [
            TextToken(row[FORM], " " if spaces_around(row)[1] else "", is_multiword(row))
            for row in surface_rows(sentence)
        ]
        if tokens:
            passages[-1].append(tokens)
    return [passage for passage in passages if passage]


def label_passages(passages: Sequence[Passage]) -> LabelledText:
    """Join passages into one text, with a blank line between them, and label its characters."""
    parts: list[str] = []
    labels: list[int] = []

    def add(text: str, last: int = INSIDE) -> None:
        if text:
            parts.append(text)
            labels.extend([INSIDE] * (len(text) - 1) + [last])

    for number, passage in enumerate(passages):
        add("\n\n" if number else "")
        for sentence in passage:
            for token in sentence[:-1]:
                add(token.form, MULTIWORD_END if token.is_multiword else TOKEN_END)
                add(token.after)
            last = sentence[-1]
            add(last.form, MULTIWORD_SENTENCE_END if last.is_multiword else SENTENCE_END)
            add(last.after)
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


def describe(
    sentences: Sequence[Sentence], text: LabelledText, augmented: str = "", abbreviations: Sequence[str] = ()
) -> TokenizerDescription:
    """Learn what a tokenizer needs besides its weights.

    `text` is the text of the sentences, and `augmented` the augmented text, if any. `abbreviations` are those that the
    treebank may lack.
    """
    tokens = [row[FORM] for sentence in sentences for row in surface_rows(sentence)]
    has_spaces = sum(" " in token for token in tokens) > SHARE_WITH_SPACES * len(tokens)
    # The network recognises emoji by their category: they are too many to learn each of them. Flags are two letters.
    added = (c for c in _frequent(augmented) if unicodedata.category(c) != "So" or c in FLAG_LETTERS)
    characters = Characters(_frequent(text.text) + "".join(added))
    rules = MultiwordRules.learn(multiword_tokens(sentences))
    counts = Counter(form.lower() for form in TextConventions.of(passages_of(sentences)).abbreviations)
    known = frozenset(form for form, count in counts.items() if count > 1) | frozenset(abbreviations)
    return TokenizerDescription(characters, has_spaces, rules, bool(augmented), known, splits_numbers(text))


def splits_numbers(text: LabelledText) -> bool:
    """Return whether most numbers with `.` or `,` between digits are several tokens, in a text with enough of them."""
    marks = [match.start() for match in _MARK_IN_NUMBER.finditer(text.text)]
    is_split = (text.labels[marks] != INSIDE) | (text.labels[[mark - 1 for mark in marks]] != INSIDE)
    return bool(2 * is_split.sum() > max(FEWEST_NUMBERS, len(marks)))


def _frequent(text: str) -> str:
    """Return the characters that occur in enough places of a text."""
    return Characters.of_words(text[start : start + 100] for start in range(0, len(text), 100)).characters


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
    *,
    augmentation: float = 0.0,
    abbreviations: Sequence[str] = (),
) -> TrainedTokenizer:
    """Train on random windows of the treebank's text; call `step_done` with the steps done and the total.

    `augmentation` is the share of the windows that are taken from augmented text. `abbreviations` are those that the
    treebank may lack.

    With `checkpoint`, continue from the saved state if there is one, and save it now and then. A signal to stop then
    saves the state and raises Interrupted. The global random state is not changed.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        training = _TokenizerTraining(sentences, seed, most_steps, augmentation, abbreviations)
        if checkpoint is None:
            training.run(step_done, lambda: None)
        else:
            training.run_with_checkpoints(step_done, checkpoint)
        return training.result()


class _TokenizerTraining:
    """A training of the tokenizer; its state after any step can be saved and resumed bit for bit."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        seed: int,
        most_steps: int,
        augmentation: float,
        abbreviations: Sequence[str],
    ) -> None:
        if not records_spaces(sentences):  # learn from text with spaces everywhere, and from text with the usual ones
            sentences = [*sentences, *map(with_usual_spacing, sentences)]
        passages = passages_of(sentences)
        texts = [label_passages(passages)]
        steps_per_pass = len(texts[0].text) / (WINDOW * BATCH * (1 - augmentation))
        self.steps = min(most_steps, max(FEWEST_STEPS, int(MOST_PASSES * steps_per_pass)))
        self.steps_done = 0
        if augmentation:
            texts.append(label_passages(_augmented_copies(passages, seed)))
        augmented = texts[1].text if augmentation else ""
        self.description = describe(sentences, texts[0], augmented, abbreviations)
        self.network = TokenizerNetwork(self.description.character_numbers)
        self.sampler = _Batches(texts, self.description, augmentation, seed)
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


def _augmented_copies(passages: Sequence[Passage], seed: int) -> list[Passage]:
    """Return several copies of the treebank's passages, each augmented in another way."""
    conventions = TextConventions.of(passages)
    return [passage for copy in range(COPIES) for passage in augment(passages, conventions, seed * COPIES + copy)]


class _Windows:
    """Windows of a text that do not cross paragraphs."""

    def __init__(self, labelled: LabelledText, description: TokenizerDescription) -> None:
        characters = read_characters(labelled.text, line_breaks="auto" if description.line_breaks else "spaces")
        self.numbers = description.numbers(characters.codes)
        self.categories = categories_of(characters.codes)
        # White space is labelled only inside a token.
        self.labels = labelled.labels[characters.places]
        self.starts = np.repeat(characters.paragraphs[:-1], np.diff(characters.paragraphs))
        self.ends = np.repeat(characters.paragraphs[1:], np.diff(characters.paragraphs))

    def around(self, middle: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """Return characters, categories and labels [windows, WINDOW] around these characters, and lengths [windows]."""
        first = np.maximum(self.starts[middle], middle - WINDOW // 2)
        last = np.minimum(self.ends[middle], first + WINDOW)
        places = first[:, None] + np.arange(WINDOW)
        inside = places < last[:, None]
        # A window that ends within a paragraph lacks the context for the labels near its ends.
        begins = np.where(first == self.starts[middle], first, first + MARGIN)[:, None]
        ends = np.where(last == self.ends[middle], last, last - MARGIN)[:, None]
        has_label = inside & (places >= begins) & (places < ends)
        places = np.where(inside, places, 0)
        return (
            np.where(inside, self.numbers[places], 0),
            np.where(inside, self.categories[places], 0),
            np.where(has_label, self.labels[places], IGNORED),
            last - first,
        )


class _Batches:
    """Batches of random windows of texts."""

    def __init__(
        self, texts: Sequence[LabelledText], description: TokenizerDescription, augmentation: float, seed: int
    ) -> None:
        self._windows = [_Windows(labelled, description) for labelled in texts]
        self._augmentation = augmentation
        self._unknown = 1 + UNKNOWN_CHARACTER
        self.generator = np.random.default_rng(seed)

    def batch(self) -> tuple[torch.Tensor, ...]:
        """Return characters, categories and labels [longest, BATCH], and lengths [BATCH]."""
        augmented = self.generator.binomial(BATCH, self._augmentation)
        counts = [BATCH - augmented, augmented][: len(self._windows)]
        parts = [
            windows.around(self.generator.integers(len(windows.numbers), size=count))
            for windows, count in zip(self._windows, counts, strict=True)
        ]
        numbers, categories, labels, lengths = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        is_hidden = (numbers > 0) & (self.generator.random(numbers.shape) < UNKNOWN_SHARE)
        numbers[is_hidden] = self._unknown
        longest = int(lengths.max())
        arrays = [array.T[:longest].copy() for array in (numbers, categories, labels)]
        return (*map(torch.from_numpy, arrays), torch.from_numpy(lengths))
