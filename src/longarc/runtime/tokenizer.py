"""Split raw text into sentences and words: by the character model of a model file, or by rules."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from longarc.data.batches import batches_by_length
from longarc.data.characters import (
    LineBreaks,
    TextCharacters,
    categories_of,
    line_breaks_of_paragraph,
    read_characters,
)
from longarc.data.document import Document
from longarc.data.raw_text import LONG_SPACE, MAX_WORDS, Span, sentences_of, spaces_comments
from longarc.data.sentence import Sentence
from longarc.errors import LongarcError
from longarc.runtime.description import TokenizerDescription
from longarc.runtime.graph import Graph
from longarc.runtime.model_file import TOKENIZER, ModelFile

INSIDE, TOKEN_END, SENTENCE_END, MULTIWORD_END, MULTIWORD_SENTENCE_END = range(5)
"""The label of each character: which kind of token or sentence ends with it, if any."""
LABELS = 5

WINDOW = 512
"""Characters read at once; longer paragraphs are read in several windows."""
OVERLAP = 64
"""Characters at both ends of a window that are context only; their labels are discarded."""
BATCH_CHARACTERS = 4_096
"""Characters labelled at once; larger batches are slower."""
PARAGRAPH_BREAK = "\n\n"
FULL_STOP = ord(".")
NUMBER_MARKS = (ord("."), ord(","))
"""Characters within numbers"""
OPENING = "([{\"'“‘«„"
"""Characters that may precede a word without a space."""
LONGEST_ABBREVIATION = 20
PIECE = 1 << 18
"""Characters of a long text that are tokenized at once."""


class Tokenizer(ABC):
    """Splits text into sentences and words."""

    @abstractmethod
    def spans(self, text: str, line_breaks: LineBreaks = "auto") -> list[list[Span]]:
        """Return the tokens of each sentence; only white space may separate them."""

    def split(self, text: str, *, ranges: bool = False, line_breaks: LineBreaks = "auto") -> Document:
        """Return a text as unparsed sentences, from which it can be restored (see data.raw_text)."""
        document = Document()

        def collect() -> Generator[Sentence, None, None]:
            document.tail = yield from self.split_stream([text], ranges=ranges, line_breaks=line_breaks)

        document.sentences.extend(collect())
        return document

    def split_many(self, texts: Sequence[str], line_breaks: LineBreaks = "auto") -> list[Document]:
        """Return each text as a document; short texts are read together, which is faster than one by one."""
        documents: list[Document] = []
        for short, group in groupby(texts, key=lambda text: len(text) < LONG_SPACE and "\0" not in text):
            if short:
                documents += self._split_together(list(group), line_breaks)
            else:
                documents += [self.split(text, line_breaks=line_breaks) for text in group]
        return documents

    def _split_together(self, texts: Sequence[str], line_breaks: LineBreaks) -> list[Document]:
        """Split short texts as paragraphs of one text: no sentence continues in the next paragraph."""
        spans = deque(_cut(self.spans(PARAGRAPH_BREAK.join(texts), line_breaks)))
        documents = []
        start = 0
        for text in texts:
            end = start + len(text)
            sentences: list[list[Span]] = []
            while spans and spans[0][0].start < end:
                sentences.append([Span(span.start - start, span.end - start, span.words) for span in spans.popleft()])
            split = sentences_of(text, sentences, paragraph_breaks=line_breaks_of_paragraph(line_breaks))
            documents.append(Document(split, tail="" if sentences else spaces_comments(text)))
            start = end + len(PARAGRAPH_BREAK)
        return documents

    def split_stream(
        self,
        pieces: Iterable[str],
        *,
        ranges: bool = False,
        line_breaks: LineBreaks = "auto",
        first_number: int = 1,
        lead: str = "",
    ) -> Generator[Sentence, None, str]:
        """Do the same for a text that arrives in pieces of any size, and return the tail at the end.

        `first_number` is the `sent_id` of the first sentence, and `lead` the comments before it.
        """
        supply = _Supply(pieces)
        paragraph_breaks = line_breaks_of_paragraph(line_breaks)
        rest = gap = ""
        spaces: list[str] = []
        place, number = 0, first_number
        is_last = False
        while not is_last:
            size = max(PIECE - len(rest), PIECE // 4)
            fresh = supply.take(size)
            is_last = len(fresh) < size
            text = rest + fresh
            if "\0" in text:
                raise LongarcError("the text contains a NUL character", "Is it binary data?")
            spans = _cut(self.spans(text, line_breaks))
            end = len(text)
            if not spans:
                # Comments carry long white space: a column with all of it would be too long to be read back.
                spaces.append(spaces_comments(text))
                gap += "\n\n" if number > first_number and text.count("\n") >= paragraph_breaks else ""
                rest, place = "", place + end
                continue
            if not is_last:
                # The last sentence may continue in the next piece, unless it is the only one.
                spans, last = (spans[:-1], spans[-1]) if len(spans) > 1 else (spans, [])
                end = last[0].start if last else end
            last_end = spans[-1][-1].end
            gap_after = text[last_end:end]
            is_long = len(gap_after) > LONG_SPACE
            sentences = sentences_of(
                text[: last_end if is_long else end],
                spans,
                first_number=number,
                gap=gap,
                offset=place,
                ranges=ranges,
                paragraph_breaks=paragraph_breaks,
            )
            sentences[0].lead = "".join([lead, *spaces, sentences[0].lead])
            yield from sentences
            lead, spaces = "", [spaces_comments(gap_after)] if is_long else []
            number += len(spans)
            gap = gap_after
            rest, place = text[end:], place + end
        return "".join(spaces)


class RuleTokenizer(Tokenizer):
    """Separates words from punctuation, and sentences by their final punctuation."""

    _FINAL = frozenset(".!?…。！？؟۔।")
    _CLOSING = frozenset("\"'”’»›)]}」』）】")

    def __init__(self) -> None:
        marks = "".join(chr(code) for code in range(0x20000) if unicodedata.category(chr(code))[0] == "M")
        letter = rf"[\w{marks}]"
        joined = f"[\u200d{marks}\U0001f3fb-\U0001f3ff]"  # joins several characters into one, as in many emoji
        self._token = re.compile(
            rf"{letter}+(?:[-'’.,:/@]{letter}+)*|\.{{2,}}|[^\w\s\ufeff](?:{joined}+[^\w\s\ufeff]?)*"
        )

    def spans(self, text: str, line_breaks: LineBreaks = "auto") -> list[list[Span]]:
        sentences: list[list[Span]] = []
        has_ended = True
        previous = 0
        paragraph_breaks = line_breaks_of_paragraph(line_breaks)
        for match in self._token.finditer(text):
            between = text[previous : match.start()]
            token = match[0]
            may_begin = bool(between) and not token[0].islower()
            if not sentences or (has_ended and may_begin) or between.count("\n") >= paragraph_breaks:
                sentences.append([])
                has_ended = False
            sentences[-1].append(Span(match.start(), match.end()))
            previous = match.end()
            has_ended = token[-1] in self._FINAL or (has_ended and token in self._CLOSING)
        return sentences


class LearnedTokenizer(Tokenizer):
    """The character model of a model file."""

    def __init__(self, description: TokenizerDescription, graph: Graph, name: str) -> None:
        self.description = description
        self._graph = graph
        self._name = name
        self._probe()

    def spans(self, text: str, line_breaks: LineBreaks = "auto") -> list[list[Span]]:
        if line_breaks == "auto" and not self.description.line_breaks:
            line_breaks = "spaces"
        characters = read_characters(text, line_breaks)
        if not len(characters.codes):
            return []
        labels = self._labels(characters)
        if not self.description.splits_numbers:
            labels[_inside_numbers(characters)] = INSIDE
        self._join_abbreviations(text, characters, labels)
        return self._spans_of(text, characters, labels)

    def _labels(self, characters: TextCharacters) -> NDArray[np.int64]:
        """[characters] Return the label of each character."""
        numbers, categories = self.description.numbers(characters.codes), categories_of(characters.codes)
        windows = _windows(characters.paragraphs)
        labels = np.zeros(len(characters.codes), dtype=np.int64)
        for indices in batches_by_length(windows[:, 1] - windows[:, 0], BATCH_CHARACTERS):
            start, end, first, last = windows[indices].T
            lengths = end - start
            inside = np.arange(int(lengths.max()))[:, None] < lengths  # [longest, windows]
            positions = np.where(inside, start + np.arange(len(inside))[:, None], 0)
            predicted = self._run(
                np.where(inside, numbers[positions], 0), np.where(inside, categories[positions], 0), lengths
            )
            counts = inside & (positions >= first) & (positions < last)
            labels[positions[counts]] = predicted[counts]
        return labels

    def _join_abbreviations(self, text: str, characters: TextCharacters, labels: NDArray[np.int64]) -> None:
        """Change the labels of known abbreviations that go on as abbreviations do: to one token within a sentence."""
        if not self.description.abbreviations:
            return
        is_stop, is_space = characters.codes == FULL_STOP, characters.spaces > 0
        for stop in np.flatnonzero(is_stop[:-2] & is_space[1:-1]).tolist():
            following = chr(characters.codes[stop + 2])
            if not (following.islower() or following.isdigit() or following in "(["):
                continue
            end = int(characters.places[stop]) + 1
            word = text[max(0, end - LONGEST_ABBREVIATION) : end].split()[-1].lstrip(OPENING)
            if word.lower() in self.description.abbreviations:
                labels[stop - len(word) + 1 : stop] = INSIDE
                labels[stop] = TOKEN_END

    def _spans_of(self, text: str, characters: TextCharacters, labels: NDArray[np.int64]) -> list[list[Span]]:
        is_space = characters.spaces > 0
        paragraph_ends = characters.paragraphs[1:] - 1
        # White space ends no token, and few tokens contain any.
        before_space = np.append(is_space[1:], False)
        may_be_inside = np.append(self.description.has_spaces & (characters.spaces[1:] == 1), False)
        for index in np.flatnonzero(before_space & may_be_inside):
            may_be_inside[index] = text[characters.places[index] + 1] == " "
        labels = np.where(before_space & ~may_be_inside & (labels == INSIDE), TOKEN_END, labels)
        labels[is_space] = INSIDE
        ends_multiword = (labels == MULTIWORD_END) | (labels == MULTIWORD_SENTENCE_END)
        ends_sentence = (labels == SENTENCE_END) | (labels == MULTIWORD_SENTENCE_END)
        ends_sentence[paragraph_ends] = True
        ends = np.flatnonzero((labels != INSIDE) | ends_sentence)
        starts = np.concatenate([[0], ends[:-1] + 1])
        starts += is_space[starts]
        sentences: list[list[Span]] = [[]]
        places = characters.places
        for start, end, multiword, last in zip(
            places[starts].tolist(),
            (places[ends] + 1).tolist(),
            ends_multiword[ends].tolist(),
            ends_sentence[ends].tolist(),
            strict=True,
        ):
            words = self.description.multiword.split(text[start:end]) if multiword else []
            sentences[-1].append(Span(start, end, words if len(words) > 1 else ()))
            if last:
                sentences.append([])
        return sentences[:-1]

    def _run(
        self, numbers: NDArray[np.int64], categories: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return labels [longest, windows]; numbers, categories: [longest, windows]; lengths: [windows]."""
        inputs = {"characters": numbers, "categories": categories, "lengths": lengths.astype(np.int32)}
        labels: NDArray[np.int64] = self._graph.run(["labels"], inputs)[0]
        if labels.shape != numbers.shape or not 0 <= labels.min(initial=0) <= labels.max(initial=0) < LABELS:
            raise LongarcError(f"{self._name}: the tokenizer does not fit its description")
        return labels

    def _probe(self) -> None:
        """Label a few characters to find out now whether the graph fits the description."""
        numbers = np.full((2, 1), self.description.character_numbers - 1)
        self._run(numbers, np.ones((2, 1), dtype=np.int64), np.array([2]))


def _inside_numbers(characters: TextCharacters) -> NDArray[np.int64]:
    """Return the indices of each `.` or `,` between two digits, and of the digit before it."""
    is_digit = (characters.codes >= ord("0")) & (characters.codes <= ord("9"))
    marks = np.flatnonzero(np.isin(characters.codes[1:-1], NUMBER_MARKS) & is_digit[:-2] & is_digit[2:]) + 1
    return np.concatenate([marks - 1, marks])


def _windows(paragraphs: NDArray[np.int64]) -> NDArray[np.int64]:
    """[windows, 4] Return start and end of each window, and start and end of the characters that it labels."""
    step = WINDOW - 2 * OVERLAP
    rows = []
    for start, end in zip(paragraphs[:-1].tolist(), paragraphs[1:].tolist(), strict=True):
        if end - start <= WINDOW:
            rows.append((start, end, start, end))
            continue
        for first in range(start, end, step):
            rows.append((max(start, first - OVERLAP), min(end, first + step + OVERLAP), first, min(end, first + step)))
    return np.array(rows, dtype=np.int64)


def _cut(sentences: Sequence[list[Span]]) -> list[list[Span]]:
    """Split sentences of more than MAX_WORDS tokens, and at long white space."""
    parts: list[list[Span]] = []
    for sentence in sentences:
        start = 0
        for index in range(1, len(sentence)):
            if index - start == MAX_WORDS or sentence[index].start - sentence[index - 1].end > LONG_SPACE:
                parts.append(sentence[start:index])
                start = index
        parts.append(sentence[start:])
    return parts


class _Supply:
    """Regroups a text that arrives in pieces."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = iter(pieces)
        self._piece = ""
        self._place = 0

    def take(self, count: int) -> str:
        """Return `count` characters; fewer only at the end of the text."""
        parts = []
        while count > 0:
            part = self._piece[self._place : self._place + count]
            parts.append(part)
            count -= len(part)
            self._place += len(part)
            if count > 0:
                following = next(self._pieces, None)
                if following is None:
                    break
                self._piece, self._place = following, 0
        return "".join(parts)


def make_tokenizer(model: ModelFile, reload: Callable[[], ModelFile], name: str) -> Tokenizer:
    """Return the model's own tokenizer, or the rule-based one if it has none."""
    if model.description.tokenizer is None:
        return RuleTokenizer()
    graph = Graph(model.graphs[TOKENIZER], lambda: reload().graphs[TOKENIZER], name)
    return LearnedTokenizer(model.description.tokenizer, graph, name)
