"""Which word of a system's file is which word of the gold file, also where the two are tokenised differently.

The conventions are those of the CoNLL 2018 shared task (Zeman et al. 2018, section 4.1;
https://universaldependencies.org/conll18/evaluation.html). A token is the stretch of the text's characters, spaces not
counted, that it covers. Words are the same if they cover the same stretch; within multiword tokens, whose words cover
no stretch of their own, they are the same if they belong to a longest common subsequence of the forms.
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
from longarc.evaluation.corpus import Corpus, Numbers

UNALIGNED = -2
"""Stands for the partner of a word that has none; ROOT is another negative number."""


@dataclass(frozen=True)
class Units:
    """Tokens or sentences of both files. Units are the same when their keys are."""

    gold: Numbers
    system: Numbers
    gold_sentence: Numbers
    """The gold sentence that each gold unit is in."""
    system_sentence: Numbers
    """The gold sentence in which each system unit begins."""


@dataclass(frozen=True)
class Alignment:
    """The words of two files, told apart and brought together."""

    by: Literal["words", "characters"]
    """Whether the words were the same, one by one, or were brought together by the characters of the text."""
    system_of_gold: Numbers
    """[gold words] the system's word for each gold word, or UNALIGNED."""
    gold_of_system: Numbers
    """[system words]"""
    system_sentence: Numbers
    """[system words] the gold sentence in which each word of the system begins."""
    tokens: Units
    sentences: Units


@dataclass(frozen=True)
class Spelling:
    """The tokens of a file and the text that they make without spaces."""

    text: str
    starts: Numbers
    """[tokens] the character with which each begins."""
    ends: Numbers
    """[tokens] the character after each one's last."""
    rows: list[tuple[int, int]]
    """[tokens] sentence and row, for messages."""
    first_words: Numbers
    """[tokens] the number of each one's first word."""
    multiword: list[bool]
    """[words] whether the word is a part of a multiword token."""
    token: Numbers
    """[words] the token that each word is or is a part of."""

    @property
    def word_starts(self) -> Numbers:
        """[words]"""
        return self.starts[self.token]

    @property
    def word_ends(self) -> Numbers:
        """[words]"""
        return self.ends[self.token]


def spell(corpus: Corpus) -> Spelling:
    """The tokens of a file, multiword tokens in place of their words, and their text."""
    forms: list[str] = []
    rows: list[tuple[int, int]] = []
    words: list[int] = []  # of each token
    multiword: list[bool] = []
    for number, sentence in enumerate(corpus.sentences):
        inside = 0  # the last word of the multiword token that was read last
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
            forms.append(without_spaces(row[FORM]))
            rows.append((number, row_number))
            words.append(int(last) - int(first) + 1)
    counts = np.array(words, dtype=np.int64)
    ends = np.array(list(accumulate(map(len, forms))), dtype=np.int64)
    return Spelling(
        text="".join(forms),
        starts=np.concatenate([[0], ends[:-1]]),
        ends=ends,
        rows=rows,
        first_words=np.cumsum(counts) - counts,
        multiword=multiword,
        token=np.repeat(np.arange(len(counts)), counts),
    )


def without_spaces(form: str) -> str:
    """The form without the characters that Unicode calls space separators."""
    if form.isascii():
        return form.replace(" ", "")
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


def align(gold: Corpus, system: Corpus) -> Alignment:
    """Brings the words of two files together; an InputError says where they part if they are of different texts.

    Files with the same words in the same sentences need no text: multiword tokens may be missing from one of them.
    """
    spelled, found = spell(gold), spell(system)
    same_words = np.array_equal(gold.lengths, system.lengths) and gold.column(FORM) == system.column(FORM)
    same_tokens = same_words and all(
        np.array_equal(ours, theirs)
        for ours, theirs in ((spelled.first_words, found.first_words), (spelled.ends, found.ends))
    )
    if same_tokens or (same_words and spelled.text != found.text):
        return _align_word_by_word(gold, system, spelled, found)
    _require_same_text(gold, system, spelled, found)
    return _align_by_characters(gold, system, spelled, found)


def _align_word_by_word(gold: Corpus, system: Corpus, spelled: Spelling, found: Spelling) -> Alignment:
    same = np.arange(len(gold))

    def token_keys(side: Spelling) -> Numbers:
        return _keys(side.first_words, np.append(side.first_words[1:], len(gold)))

    numbers = np.arange(len(gold.sentences))
    return Alignment(
        by="words",
        system_of_gold=same,
        gold_of_system=same,
        system_sentence=gold.sentence,
        tokens=Units(
            token_keys(spelled),
            token_keys(found),
            gold.sentence[spelled.first_words],
            gold.sentence[found.first_words],
        ),
        sentences=Units(numbers, numbers, numbers, numbers),
    )


def _align_by_characters(gold: Corpus, system: Corpus, spelled: Spelling, found: Spelling) -> Alignment:
    system_of_gold = np.full(len(gold), UNALIGNED)
    gold_of_system = np.full(len(system), UNALIGNED)
    pairs = list(_pairs(_Words(gold, spelled), _Words(system, found)))
    if pairs:
        ours, theirs = np.array(pairs).T
        system_of_gold[ours], gold_of_system[theirs] = theirs, ours
    gold_starts, gold_ends = _sentence_spans(gold, spelled)
    starts, ends = _sentence_spans(system, found)

    def sentence_at(characters: Numbers) -> Numbers:
        return np.searchsorted(gold_starts, characters, side="right") - 1

    return Alignment(
        by="characters",
        system_of_gold=system_of_gold,
        gold_of_system=gold_of_system,
        system_sentence=sentence_at(found.word_starts),
        tokens=Units(
            _keys(spelled.starts, spelled.ends),
            _keys(found.starts, found.ends),
            sentence_at(spelled.starts),
            sentence_at(found.starts),
        ),
        sentences=Units(
            _keys(gold_starts, gold_ends), _keys(starts, ends), np.arange(len(gold.sentences)), sentence_at(starts)
        ),
    )


def _sentence_spans(corpus: Corpus, spelling: Spelling) -> tuple[Numbers, Numbers]:
    lasts = corpus.starts + corpus.lengths - 1
    return spelling.word_starts[corpus.starts], spelling.word_ends[lasts]


def _keys(first: Numbers, last: Numbers) -> Numbers:
    """One number for each pair of numbers below 2³¹."""
    return (first << 31) | last


class _Words:
    """The words of one file in the order of the text, as lists, which single look-ups are fastest in.

    A word that stands for the end of the text follows the last one.
    """

    def __init__(self, corpus: Corpus, spelling: Spelling) -> None:
        end = len(spelling.text)
        self.forms = [without_spaces(form).lower() for form in corpus.column(FORM)]
        self.multiword = [*spelling.multiword, False]
        self.starts: list[int] = [*spelling.word_starts.tolist(), end]
        self.ends: list[int] = [*spelling.word_ends.tolist(), end + 1]

    def __len__(self) -> int:
        return len(self.forms)

    def within(self, word: int, end: int) -> bool:
        """Whether a word is in a region up to `end`: a multiword token if it begins there, another if it ends there."""
        return self.starts[word] < end if self.multiword[word] else self.ends[word] <= end


def _pairs(gold: _Words, system: _Words) -> Iterator[tuple[int, int]]:
    """Walks through both files at once and gives the numbers of words that belong together."""
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
    """The first words of both files that are in the region of a multiword token, and the first ones after it.

    Words are taken in the order of the text while either file has one within the region, which every multiword token
    that is taken stretches to its own end. A word that began before the multiword token is not taken.
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
            taken, side, next_g = next_g, gold, next_g + 1
        else:
            taken, side, next_s = next_s, system, next_s + 1
        if side.multiword[taken]:
            end = max(end, side.ends[taken])
    return g, s, next_g, next_s


def _common_subsequence(gold: list[str], system: list[str], g: int, s: int) -> Iterator[tuple[int, int]]:
    """The positions, counted from g and s, of a longest common subsequence of two lists of forms.

    Of several, it is the one that is found from left to right by taking every match that comes up and otherwise
    leaving out a gold word sooner than one of the system's.
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


def _require_same_text(gold: Corpus, system: Corpus, spelled: Spelling, found: Spelling) -> None:
    for corpus, spelling in ((gold, spelled), (system, found)):
        if (empty := np.flatnonzero(spelling.starts == spelling.ends)).size:
            line = corpus.line(*spelling.rows[empty[0]])
            raise InputError(corpus.name, line, "FORM has no characters", "Words cannot be aligned by the text so.")
    if spelled.text == found.text:
        return
    shorter = min(len(spelled.text), len(found.text))
    parting = next((at for at in range(shorter) if spelled.text[at] != found.text[at]), shorter)
    gold_line, gold_form = _place(gold, spelled, parting)
    line, form = _place(system, found, parting)
    raise InputError(
        system.name,
        line,
        f"{form} where {gold.name}:{gold_line} has {gold_form}",
        "The files must have the same words, or at least the same text but for spaces.",
    )


def _place(corpus: Corpus, spelling: Spelling, character: int) -> tuple[int, str]:
    """Line and form of the token that a character is in; what there is to say if the text ends before it."""
    if character == len(spelling.text):
        sentence, row = spelling.rows[-1]
        return corpus.line(sentence, row), "the end of the text"
    sentence, row = spelling.rows[int(np.searchsorted(spelling.ends, character, side="right"))]
    return corpus.line(sentence, row), repr(corpus.sentences[sentence].rows[row][FORM])
