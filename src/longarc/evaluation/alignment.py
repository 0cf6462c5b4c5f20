"""Align the words of a system's file with those of the gold file, even if the two are tokenised differently.

The conventions are those of the CoNLL 2018 shared task (Zeman et al. 2018, section 4.1;
https://universaldependencies.org/conll18/evaluation.html). A token is the span of characters, without spaces, that it
covers. Two words match if they cover the same span. The words of a multiword token have no spans of their own; they
match if they belong to a longest common subsequence of the forms.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np

from longarc.data.sentence import FORM, ID, is_comment, is_empty_node, is_multiword
from longarc.errors import InputError
from longarc.evaluation.corpus import Corpus
from longarc.transitions.system import Ints

UNALIGNED = -2
"""The partner of a word that has none. It differs from ROOT."""


@dataclass(frozen=True)
class Units:
    """The tokens or the sentences of both files. Two units match if their keys are equal."""

    gold: Ints
    system: Ints
    gold_sentence: Ints
    """The gold sentence of each gold unit."""
    system_sentence: Ints
    """The gold sentence in which each system unit begins."""


@dataclass(frozen=True)
class Alignment:
    """The pairs of matching words of two files."""

    by: Literal["words", "characters"]
    """Whether the files have the same words, or were aligned by the characters of their text."""
    system_of_gold: Ints
    """[gold words] the system's word for each gold word, or UNALIGNED."""
    gold_of_system: Ints
    """[system words]"""
    system_sentence: Ints
    """[system words] the gold sentence in which each system word begins."""
    tokens: Units
    sentences: Units


@dataclass(frozen=True)
class TokenSpans:
    """The tokens of a file as spans of its text without spaces."""

    corpus: Corpus
    text: str
    starts: Ints
    """[tokens]"""
    ends: Ints
    """[tokens] the end of each span, exclusive."""
    rows: list[tuple[int, int]]
    """[tokens] sentence and row, for error messages."""
    first_words: Ints
    """[tokens] the number of each token's first word."""
    multiword: list[bool]
    """[words] whether the word is part of a multiword token."""
    token: Ints
    """[words] the token that contains each word."""

    @property
    def word_starts(self) -> Ints:
        """[words]"""
        return self.starts[self.token]

    @property
    def word_ends(self) -> Ints:
        """[words]"""
        return self.ends[self.token]

    def sentence_spans(self) -> tuple[Ints, Ints]:
        """Return [sentences]: the start and the end of each sentence."""
        lasts = self.corpus.starts + self.corpus.lengths - 1
        return self.word_starts[self.corpus.starts], self.word_ends[lasts]

    def describe(self, character: int) -> tuple[int, str]:
        """Return line and form of the token at a character, for an error message."""
        if character == len(self.text):
            return self.corpus.line(*self.rows[-1]), "the end of the text"
        sentence, row = self.rows[int(np.searchsorted(self.ends, character, side="right"))]
        return self.corpus.line(sentence, row), repr(self.corpus.sentences[sentence].rows[row][FORM])


def token_spans(corpus: Corpus) -> TokenSpans:
    """Return the tokens of a file. A multiword token stands for its words."""
    forms: list[str] = []
    rows: list[tuple[int, int]] = []
    words: list[int] = []  # of each token
    multiword: list[bool] = []
    for number, sentence in enumerate(corpus.sentences):
        inside = 0  # the last word of the latest multiword token
        for row_number, row in enumerate(sentence.rows):
            if is_comment(row) or is_empty_node(row):
                continue
            first = last = row[ID]
            if is_multiword(row):
                first, _, last = row[ID].partition("-")
                inside = int(last)
            else:
                multiword.append(int(row[ID]) <= inside)
                if multiword[-1]:
                    continue
            forms.append(_without_spaces(row[FORM]))
            rows.append((number, row_number))
            words.append(int(last) - int(first) + 1)
    counts = np.array(words, dtype=np.int64)
    ends = np.array(list(accumulate(map(len, forms))), dtype=np.int64)
    return TokenSpans(
        corpus=corpus,
        text="".join(forms),
        starts=np.concatenate([[0], ends[:-1]]),
        ends=ends,
        rows=rows,
        first_words=np.cumsum(counts) - counts,
        multiword=multiword,
        token=np.repeat(np.arange(len(counts)), counts),
    )


def _without_spaces(form: str) -> str:
    """Return the form without the characters of Unicode category Zs."""
    if form.isascii():
        return form.replace(" ", "")
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


def align(gold: Corpus, system: Corpus) -> Alignment:
    """Align the words of two files; raise InputError at the first difference if they contain different texts.

    Files with the same words in the same sentences need not contain the same text: one of them may lack the multiword
    tokens.
    """
    gold_spans, system_spans = token_spans(gold), token_spans(system)
    same_words = np.array_equal(gold.lengths, system.lengths) and gold.column(FORM) == system.column(FORM)
    same_tokens = (
        same_words
        and np.array_equal(gold_spans.first_words, system_spans.first_words)
        and np.array_equal(gold_spans.ends, system_spans.ends)
    )
    if same_tokens or (same_words and gold_spans.text != system_spans.text):
        return _align_word_by_word(gold_spans, system_spans)
    _require_same_text(gold_spans, system_spans)
    return _align_by_characters(gold_spans, system_spans)


def _align_word_by_word(gold: TokenSpans, system: TokenSpans) -> Alignment:
    sentence = gold.corpus.sentence
    words, sentences = np.arange(len(gold.corpus)), np.arange(len(gold.corpus.sentences))

    def token_keys(spans: TokenSpans) -> Ints:
        return _keys(spans.first_words, np.append(spans.first_words[1:], len(words)))

    return Alignment(
        by="words",
        system_of_gold=words,
        gold_of_system=words,
        system_sentence=sentence,
        tokens=Units(token_keys(gold), token_keys(system), sentence[gold.first_words], sentence[system.first_words]),
        sentences=Units(sentences, sentences, sentences, sentences),
    )


def _align_by_characters(gold: TokenSpans, system: TokenSpans) -> Alignment:
    system_of_gold = np.full(len(gold.corpus), UNALIGNED)
    gold_of_system = np.full(len(system.corpus), UNALIGNED)
    pairs = list(_pairs(_Words(gold), _Words(system)))
    if pairs:
        gold_words, system_words = np.array(pairs).T
        system_of_gold[gold_words], gold_of_system[system_words] = system_words, gold_words
    gold_starts, gold_ends = gold.sentence_spans()
    system_starts, system_ends = system.sentence_spans()

    def sentence_at(characters: Ints) -> Ints:
        return np.searchsorted(gold_starts, characters, side="right") - 1

    return Alignment(
        by="characters",
        system_of_gold=system_of_gold,
        gold_of_system=gold_of_system,
        system_sentence=sentence_at(system.word_starts),
        tokens=Units(
            _keys(gold.starts, gold.ends),
            _keys(system.starts, system.ends),
            sentence_at(gold.starts),
            sentence_at(system.starts),
        ),
        sentences=Units(
            _keys(gold_starts, gold_ends),
            _keys(system_starts, system_ends),
            np.arange(len(gold_starts)),
            sentence_at(system_starts),
        ),
    )


def _keys(first: Ints, last: Ints) -> Ints:
    """Return one number for each pair of numbers below 2³¹."""
    return (first << 31) | last


class _Words:
    """The words of one file in text order. Lists are used because single look-ups are faster than in arrays.

    A sentinel for the end of the text follows the last word.
    """

    def __init__(self, spans: TokenSpans) -> None:
        end = len(spans.text)
        self.forms = [_without_spaces(form).lower() for form in spans.corpus.column(FORM)]
        self.multiword = [*spans.multiword, False]
        self.starts: list[int] = [*spans.word_starts.tolist(), end]
        self.ends: list[int] = [*spans.word_ends.tolist(), end + 1]

    def __len__(self) -> int:
        return len(self.forms)

    def within(self, word: int, end: int) -> bool:
        """Return whether a word of a multiword token begins before `end`, or another word ends by `end`."""
        return self.starts[word] < end if self.multiword[word] else self.ends[word] <= end


def _pairs(gold: _Words, system: _Words) -> Iterator[tuple[int, int]]:
    """Walk through both files in parallel and yield the pairs of matching words."""
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold.multiword[g] or system.multiword[s]:
            g, s, next_g, next_s = _multiword_region(gold, system, g, s)
            yield from _common_subsequence(gold.forms[g:next_g], system.forms[s:next_s], g, s)
            g, s = next_g, next_s
        elif (gold.starts[g], gold.ends[g]) == (system.starts[s], system.ends[s]):
            yield g, s
            g, s = g + 1, s + 1
        elif gold.starts[g] <= system.starts[s]:
            g += 1
        else:
            s += 1


def _multiword_region(gold: _Words, system: _Words, g: int, s: int) -> tuple[int, int, int, int]:
    """Return the first words of both files in the region of a multiword token, and the first words after it.

    Words are consumed in text order as long as either file has one within the region. Each multiword token extends the
    region to its end. A word that begins before the multiword token is excluded.
    """
    if gold.multiword[g]:
        end = gold.ends[g]
        s += not system.multiword[s] and system.starts[s] < gold.starts[g]
    else:
        end = system.ends[s]
        g += gold.starts[g] < system.starts[s]
    next_g, next_s = g, s
    while gold.within(next_g, end) or system.within(next_s, end):
        if gold.starts[next_g] <= system.starts[next_s]:
            word, side, next_g = next_g, gold, next_g + 1
        else:
            word, side, next_s = next_s, system, next_s + 1
        if side.multiword[word]:
            end = max(end, side.ends[word])
    return g, s, next_g, next_s


def _common_subsequence(gold: list[str], system: list[str], g: int, s: int) -> Iterator[tuple[int, int]]:
    """Yield the positions, counted from g and s, of a longest common subsequence of two lists of forms.

    Of several subsequences, choose as the official script does: from left to right, accept every match, and prefer to
    skip a gold word over a system word.
    """
    # longest[i][j] is the length of the longest common subsequence of gold[i:] and system[j:].
    longest = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for i in reversed(range(len(gold))):
        row, below = longest[i], longest[i + 1]
        for j in reversed(range(len(system))):
            row[j] = 1 + below[j + 1] if gold[i] == system[j] else max(below[j], row[j + 1])
    i = j = 0
    while longest[i][j]:
        if gold[i] == system[j]:
            yield g + i, s + j
            i, j = i + 1, j + 1
        elif longest[i + 1][j] == longest[i][j]:
            i += 1
        else:
            j += 1


def _require_same_text(gold: TokenSpans, system: TokenSpans) -> None:
    for spans in (gold, system):
        if (empty := np.flatnonzero(spans.starts == spans.ends)).size:
            line = spans.corpus.line(*spans.rows[empty[0]])
            hint = "The files have different words, which can only be aligned by the characters of their forms."
            raise InputError(spans.corpus.name, line, "FORM has no characters", hint)
    if gold.text == system.text:
        return
    shorter = min(len(gold.text), len(system.text))
    difference = next((at for at in range(shorter) if gold.text[at] != system.text[at]), shorter)
    gold_line, gold_form = gold.describe(difference)
    line, form = system.describe(difference)
    raise InputError(
        system.corpus.name,
        line,
        f"{form} where {gold.corpus.name}:{gold_line} has {gold_form}",
        "Both files must contain the same words, or at least the same text apart from spaces.",
    )
