"""Rewrite the text of a treebank as people write on the web: emoji, prices, links, markup, lists, line breaks.

The rules move, replace and insert whole tokens, so the rewritten text is still labelled. They use Unicode's properties
and the treebank's own conventions instead of knowledge about a language, and also work without spaces between words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from random import Random

from longarc.training.invented_tokens import invent_emoji, invent_link

RULE_RATE = 0.25
"""Share of the passages to which each rule is applied."""
SENTENCE_RATE = 0.6
"""Share of the sentences of such a passage that a rule changes."""
ABBREVIATION_RATE = 0.1
"""Share of the words of such a passage that can be abbreviations and become one."""
LAYOUT_RATE = 0.6
"""Share of the passages that get line breaks."""
PASSAGE_SENTENCES = 8
"""Longer passages are split, because treebanks without marked paragraphs are one passage."""

FINAL = frozenset(".!?…。！？؟۔।")
_CURRENCIES = "$€£¥₹₺₽₩₴₫₪฿₦¢"
_QUOTES = [tuple(pair) for pair in ('""', "“”", "‘’", "«»", "»«", "„“", "„”", "‚‘", "‹›", "「」", "『』", "''", "”“")]
_APOSTROPHES = "'’‘`´"
_MARKS = ["**", "*", "_", "__", "`", "~~", "***", "```", "=="]
_TAGS = ["b", "i", "u", "em", "strong", "code", "a", "span", "sup", "h1", "h2", "p", "li", "td", "div", "del"]
_SINGLE_TAGS = ["<br>", "<br/>", "<hr>", "<p>", "</p>", "</div>", "</li>"]
_BULLETS = ["-", "*", "+", "•", "–", "·", "▪", "✓", "→", ">", "◦", "●"]
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ABBREVIATION = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*\.")


@dataclass(frozen=True)
class TextToken:
    """A token of a text."""

    form: str
    after: str = " "
    """The white space after it"""
    is_multiword: bool = False


TextSentence = list[TextToken]
Passage = list[TextSentence]
"""The sentences of a paragraph."""


@dataclass(frozen=True)
class TextConventions:
    """How a treebank writes and splits its text."""

    vocabulary: frozenset[str]
    """All forms, in lower case"""
    words: Sequence[str]
    """Words in lower-case ASCII, which links are made of"""
    numbers: Sequence[str]
    """Numbers with digits only, or with `.` and `,` between them"""
    abbreviations: Sequence[str]
    """Abbreviations within sentences; empty if the treebank splits off the full stop of most"""
    has_spaces: bool
    """Whether spaces separate most words"""
    splits_currency: bool
    """Whether `$5` is two tokens"""
    splits_list_number: bool
    """Whether `1.` at the start of a sentence is two tokens"""

    @classmethod
    def of(cls, passages: Iterable[Passage]) -> TextConventions:
        """Learn the conventions of a treebank."""
        vocabulary: set[str] = set()
        words: Counter[str] = Counter()
        numbers: list[str] = []
        abbreviations: list[str] = []
        counts: Counter[str] = Counter()
        for passage in passages:
            for sentence in passage:
                for token, following in zip(sentence, [*sentence[1:], None], strict=True):
                    form = token.form
                    vocabulary.add(form.lower())
                    if form.isascii() and form.isalpha() and form.islower():
                        words[form] += 1
                    elif _NUMBER.fullmatch(form):
                        numbers.append(form)
                    if following is not None:
                        counts["inner words"] += _is_word(token) and _is_word(following)
                        counts["spaced words"] += _is_word(token) and _is_word(following) and bool(token.after)
                        if len(form) > 2 and _ABBREVIATION.fullmatch(form):
                            abbreviations.append(form)
                        elif not token.after and following.form == "." and following is not sentence[-1]:
                            counts["split abbreviations"] += _is_word(token)
                    if any(unicodedata.category(character) == "Sc" for character in form):
                        counts["currency with number"] += any(map(str.isdigit, form))
                        counts["currency"] += len(form) == 1
                first, second = sentence[0], sentence[1] if len(sentence) > 1 else sentence[0]
                counts["split list numbers"] += first.form.isdigit() and not first.after and second.form == "."
                counts["joined list numbers"] += first.form[:-1].isdigit() and first.form.endswith(".")
        return cls(
            vocabulary=frozenset(vocabulary),
            words=sorted(word for word, count in words.items() if count > 1 and len(word) > 2),
            numbers=numbers,
            abbreviations=abbreviations if len(abbreviations) > counts["split abbreviations"] else [],
            has_spaces=2 * counts["spaced words"] >= counts["inner words"],
            splits_currency=counts["currency"] >= counts["currency with number"],
            splits_list_number=counts["split list numbers"] >= counts["joined list numbers"],
        )


Rule = Callable[[Passage, TextConventions, Random], Passage]


def augment(passages: Sequence[Passage], conventions: TextConventions, seed: int) -> list[Passage]:
    """Return the passages, split into shorter ones, with rules applied to many of them."""
    rng = Random(seed)
    augmented = []
    for passage in passages:
        start = 0
        while start < len(passage):
            end = start + rng.randint(1, PASSAGE_SENTENCES)
            piece = passage[start:end]
            for rule in RULES:
                if rng.random() < RULE_RATE:
                    piece = rule(piece, conventions, rng)
            if rng.random() < LAYOUT_RATE:
                piece = rng.choice(LAYOUTS)(piece, conventions, rng)
            augmented.append(piece)
            start = end
    return augmented


def change_case(passage: Passage, _: TextConventions, rng: Random) -> Passage:
    """Write sentences in upper case or title case.

    Lower case would teach that sentences begin in lower case, and so that they end after abbreviations.
    """
    change = rng.choice([str.upper, str.upper, str.title])
    return [
        [replace(token, form=_in_case(token.form, change)) for token in sentence]
        if rng.random() < SENTENCE_RATE
        else sentence
        for sentence in passage
    ]


def _in_case(form: str, change: Callable[[str], str]) -> str:
    """Change the case of a form except where that would capitalise letters inside it (`n't`)."""
    return form if change is str.title and not form[:1].isalpha() else change(form)


def change_quotes(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Use other quotation marks and apostrophes, and put some words into quotation marks."""
    opening, closing = rng.choice(_QUOTES)
    apostrophe = rng.choice(_APOSTROPHES)
    is_open = False
    result = []
    for sentence in passage:
        changed = []
        for token in sentence:
            form = token.form
            if form in ('"', "“", "”", "``", "''", "«", "»"):
                is_open = not is_open
                form = opening if is_open else closing
            elif len(form) > 1 and sum(form.count(mark) for mark in "'’") == 1 and any(map(str.isalpha, form)):
                form = form.replace("'", apostrophe).replace("’", apostrophe)
            changed.append(replace(token, form=form))
        if rng.random() < SENTENCE_RATE / 2:
            changed = _surround(changed, opening, closing, conventions, rng)
        result.append(changed)
    return result


def add_markup(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Surround words by marks such as `**` or by tags, and put tags between sentences."""
    result = []
    for sentence in passage:
        for _ in range(rng.choice([0, 1, 1, 2])):
            if rng.random() < 0.6:
                mark = rng.choice(_MARKS)
                sentence = _surround(sentence, mark, mark, conventions, rng)
            else:
                tag = rng.choice(_TAGS)
                sentence = _surround(sentence, f"<{tag}>", f"</{tag}>", conventions, rng)
        if rng.random() < 0.15:
            last = sentence[-1]
            single = TextToken(rng.choice(_SINGLE_TAGS), last.after if rng.random() < 0.5 else "")
            sentence = [*sentence[:-1], replace(last, after=rng.choice(["", last.after])), single]
        result.append(sentence)
    return result


def _surround(
    sentence: TextSentence, opening: str, closing: str, conventions: TextConventions, rng: Random
) -> TextSentence:
    """Put marks around a few tokens that begin after a space, if the language has spaces."""
    starts = [
        index
        for index, token in enumerate(sentence)
        if _is_word(token) and (index == 0 or sentence[index - 1].after or not conventions.has_spaces)
    ]
    if not starts:
        return sentence
    start = rng.choice(starts)
    ends = [index + 1 for index in range(start, min(start + 5, len(sentence))) if _is_word(sentence[index])]
    if rng.random() < 0.2:
        start, end = 0, len(sentence)
    else:
        end = rng.choice(ends)
    while end < len(sentence) and not sentence[end - 1].after and _is_word(sentence[end]) and conventions.has_spaces:
        end += 1
    last = sentence[end - 1]
    return [
        *sentence[:start],
        TextToken(opening, ""),
        *sentence[start : end - 1],
        replace(last, after=""),
        TextToken(closing, last.after),
        *sentence[end:],
    ]


def add_prices(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Exchange currencies, and make numbers prices."""
    currency = rng.choice(_CURRENCIES)
    is_first = rng.random() < 0.7
    result = []
    for sentence in passage:
        changed: TextSentence = []
        for token in sentence:
            if len(token.form) == 1 and unicodedata.category(token.form) == "Sc":
                changed.append(replace(token, form=currency))
                continue
            follows_currency = bool(changed) and changed[-1].form == currency
            is_number = bool(_NUMBER.fullmatch(token.form)) or (_is_long_word(token) and rng.random() < 0.03)
            if not is_number or follows_currency or not conventions.splits_currency:
                changed.append(token)
                continue
            amount = rng.choice(conventions.numbers) if conventions.numbers else token.form
            if is_first:
                changed += [TextToken(currency, ""), TextToken(amount, token.after)]
            else:
                changed += [TextToken(amount, rng.choice(["", " "])), TextToken(currency, token.after)]
        result.append(changed)
    return result


def add_links(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Replace words by links, addresses, file names, hashtags and user names."""
    result = []
    for sentence in passage:
        words = [index for index, token in enumerate(sentence) if _is_long_word(token)]
        if words and rng.random() < SENTENCE_RATE:
            index = words[-1] if rng.random() < 0.5 else rng.choice(words)
            after = sentence[index].after
            link = TextToken(invent_link(conventions.words or ["example"], rng), "")
            if rng.random() < 0.15:
                inserted = [TextToken("(", ""), link, TextToken(")", after)]
            elif rng.random() < 0.1:
                inserted = [TextToken("<", ""), link, TextToken(">", after)]
            else:
                is_before_word = index + 1 < len(sentence) and _is_word(sentence[index + 1])
                inserted = [replace(link, after=" " if is_before_word else after)]
            sentence = [*sentence[:index], *inserted, *sentence[index + 1 :]]
        result.append(sentence)
    return result


def add_abbreviations(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Shorten words within sentences to abbreviations, and insert abbreviations of the treebank."""
    if not conventions.abbreviations:
        return passage
    result = []
    for sentence in passage:
        changed = sentence[:1]
        for token, following in pairwise(sentence[1:]):
            may_change = _is_long_word(token) and token.after and (_is_word(following) or following.form == "(")
            if not may_change or rng.random() > ABBREVIATION_RATE:
                changed.append(token)
            elif rng.random() < 0.7:
                short = token.form[: rng.randint(2, 6)]
                # A full stop after a word would look like the end of a sentence.
                is_word = short.lower() in conventions.vocabulary
                changed.append(token if is_word else TextToken(f"{short}.", token.after))
            elif rng.random() < 0.7:
                changed += [token, TextToken(rng.choice(conventions.abbreviations), token.after)]
            else:
                changed += [
                    TextToken("(", ""),
                    TextToken(rng.choice(conventions.abbreviations)),
                    replace(token, after=""),
                ]
                changed.append(TextToken(")", token.after))
        result.append([*changed, *sentence[1:][-1:]])
    return result


def add_emoji(passage: Passage, _: TextConventions, rng: Random) -> Passage:
    """Add emoji within sentences, and before, after or instead of their final punctuation."""
    result = []
    for sentence in passage:
        if rng.random() < SENTENCE_RATE:
            position = rng.random()
            has_final = len(sentence) > 1 and sentence[-1].form[-1:] in FINAL
            if position < 0.3:
                places = [index + 1 for index, token in enumerate(sentence[:-1]) if token.after]
                index = rng.choice(places) if places else len(sentence)
            elif position < 0.6 and has_final:
                index = len(sentence) - 1
            else:
                index = len(sentence)
                if position > 0.85 and has_final:
                    sentence = [*sentence[:-2], replace(sentence[-2], after=sentence[-1].after)]
                    index -= 1
            before, after = sentence[:index], sentence[index:]
            last = before[-1]
            emoji = [TextToken(invent_emoji(rng), "") for _ in range(rng.choice([1, 1, 1, 2, 3]))]
            if rng.random() < 0.15:
                emoji = [emoji[0]] * rng.randint(2, 4)
            emoji[-1] = replace(emoji[-1], after=last.after)
            sentence = [*before[:-1], replace(last, after=rng.choice([" ", " ", ""])), *emoji, *after]
        result.append(sentence)
    return result


def remove_spaces(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Remove spaces after sentences, and around punctuation within them."""
    if not conventions.has_spaces:
        return passage
    result = []
    for sentence, following in zip(passage, [*passage[1:], None], strict=True):
        changed = list(sentence)
        for index, (token, after) in enumerate(pairwise(sentence)):
            may_lose_space = (token.form in (",", ";", ")", "!", "?") and _is_word(after)) or (
                # Some words contain short parts in brackets.
                after.form == "(" and _is_word(token) and any(map(_is_long_word, sentence[index + 2 : index + 3]))
            )
            if may_lose_space and rng.random() < 0.5:
                changed[index] = replace(token, after="")
        last = changed[-1]
        if following is not None and last.form[-1:] in FINAL and following[0].form[:1].isupper() and rng.random() < 0.5:
            changed[-1] = replace(last, after="")
        result.append(changed)
    return result


RULES: list[Rule] = [
    add_abbreviations,
    add_prices,
    add_links,
    change_quotes,
    change_case,
    remove_spaces,
    add_markup,
    add_emoji,
]


def make_list(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Write each sentence, or only its beginning, as an item of a list."""
    bullet = rng.choice(_BULLETS)
    is_numbered = rng.random() < 0.3
    number_end = rng.choice([".", ")"])
    is_short, is_open = rng.random() < 0.6, rng.random() < 0.6
    has_heading = len(passage) > 1 and rng.random() < 0.4
    result: Passage = []
    for number, sentence in enumerate(passage):
        item = _shorten(sentence, rng) if is_short else _without_final(sentence) if is_open else sentence
        if number == 0 and has_heading:
            heading = _without_final(item)
            result.append(_end_line([*heading[:-1], replace(heading[-1], after=""), TextToken(":")], rng))
            continue
        if not is_numbered:
            marker = [TextToken(bullet)]
        elif number_end == "." and not conventions.splits_list_number:
            marker = [TextToken(f"{number + 1}.")]
        else:
            marker = [TextToken(str(number + 1), ""), TextToken(number_end)]
        result.append(_end_line([*marker, *item], rng))
    return result


def make_heading(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Write the first sentence, or its beginning, as a heading on a line of its own."""
    first = _shorten(passage[0], rng) if rng.random() < 0.7 else _without_final(passage[0])
    mark = rng.choice(["", "#", "##", "###", "####", ">"])
    heading = [TextToken(mark), *first] if mark else first
    rest = wrap_lines(passage[1:], conventions, rng) if rng.random() < 0.5 else passage[1:]
    return [_end_line(heading, rng), *rest]


def break_after_sentences(passage: Passage, _: TextConventions, rng: Random) -> Passage:
    """Write each sentence on a line of its own, some without final punctuation."""
    is_open = rng.random() < 0.4
    return [_end_line(_without_final(s) if is_open and rng.random() < 0.7 else s, rng) for s in passage]


def wrap_lines(passage: Passage, conventions: TextConventions, rng: Random) -> Passage:
    """Break lines that would become longer than a random width."""
    width = rng.randint(30, 100)
    column = 0
    tokens = [token for sentence in passage for token in sentence]
    wrapped = []
    for token, following in pairwise(tokens):
        column += len(token.form) + len(token.after)
        may_break = token.after or (not conventions.has_spaces and _is_word(following))
        if may_break and column + len(following.form) > width:
            token = replace(token, after="\n")
            column = 0
        wrapped.append(token)
    wrapped += tokens[-1:]
    ends = accumulate(map(len, passage), initial=0)
    return [wrapped[start:end] for start, end in pairwise(ends)]


LAYOUTS: list[Rule] = [make_list, make_list, make_heading, break_after_sentences, wrap_lines, wrap_lines]


def _shorten(sentence: TextSentence, rng: Random) -> TextSentence:
    """Return the beginning of a sentence up to a word that a space follows."""
    ends = [
        index + 1
        for index, token in enumerate(sentence[:9])
        if token.after and (_is_word(token) if index else _is_long_word(token))
    ]
    return sentence[: rng.choice(ends)] if ends else _without_final(sentence)


def _without_final(sentence: TextSentence) -> TextSentence:
    return sentence[:-1] if len(sentence) > 1 and sentence[-1].form[-1:] in FINAL else sentence


def _end_line(sentence: TextSentence, rng: Random) -> TextSentence:
    return [*sentence[:-1], replace(sentence[-1], after=rng.choice(["\n", "\n", "\n", " \n", "\r\n"]))]


def _is_word(token: TextToken) -> bool:
    """Return whether a token begins with a letter, a digit or a combining mark."""
    return unicodedata.category(token.form[0])[0] in "LNM"


def _is_long_word(token: TextToken) -> bool:
    """Return whether a token consists of several letters; two are many in scripts without upper and lower case."""
    categories = [unicodedata.category(character) for character in token.form]
    least = 2 if categories[0] == "Lo" else 4
    return len(categories) >= least and all(category[0] in "LM" for category in categories)
