"""Augmented text is labelled as the treebank would label it, in any script."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from random import Random

import pytest

from longarc.training.augment_text import (
    LAYOUTS,
    RULES,
    Passage,
    Rule,
    TextConventions,
    TextToken,
    add_abbreviations,
    add_emoji,
    add_links,
    add_markup,
    add_prices,
    augment,
    break_after_sentences,
    change_case,
    change_quotes,
    make_heading,
    make_list,
    remove_spaces,
    wrap_lines,
)

CLINGING = frozenset(".,!?)")


def sentence(text: str) -> list[TextToken]:
    """Tokens of a text in which spaces separate all tokens; no space precedes punctuation."""
    forms = text.split()
    following = [*forms[1:], ""]
    return [TextToken(form, "" if next in CLINGING else " ") for form, next in zip(forms, following, strict=True)]


ENGLISH: list[Passage] = [
    [
        sentence("She bought 25 tickets for the concert in London , but nobody came ."),
        sentence("They cost $ 3.50 each , incl. breakfast for everybody !"),
        sentence('He said " wonderful weather " and they didn\'t believe Mr. Brown .'),
    ],
    [sentence("Nothing happened afterwards ."), sentence("1 . Somebody should repair the window .")],
]
CHINESE: list[Passage] = [
    [[TextToken(form, "") for form in ("我们", "明天", "去", "北京", "。")] for _ in range(4)]
] * 5


def text_of(passage: Passage) -> str:
    return "".join(token.form + token.after for tokens in passage for token in tokens)


def results(rule: Rule, passages: list[Passage], rounds: int = 40) -> list[Passage]:
    conventions = TextConventions.of(passages)
    return [rule(passage, conventions, Random(seed)) for seed in range(rounds) for passage in passages]


def forms(passages: list[Passage]) -> list[str]:
    return [token.form for passage in passages for tokens in passage for token in tokens]


@pytest.mark.parametrize("passages", [ENGLISH, CHINESE], ids=["English", "Chinese"])
@pytest.mark.parametrize("rule", [*RULES, *dict.fromkeys(LAYOUTS)], ids=lambda rule: rule.__name__)
def test_rules_keep_sentences_and_tokens_apart(rule: Rule, passages: list[Passage]) -> None:
    before = [passage for _ in range(40) for passage in passages]
    for old, new in zip(before, results(rule, passages), strict=True):
        assert len(new) == len(old) and all(new)
        for tokens in new:
            assert all(token.form and not any(map(str.isspace, token.form)) for token in tokens)
            assert all(not token.after or token.after.isspace() for token in tokens)


@pytest.mark.parametrize("passages", [ENGLISH, CHINESE], ids=["English", "Chinese"])
def test_the_seed_determines_the_text(passages: list[Passage]) -> None:
    conventions = TextConventions.of(passages)
    first, again, other = (augment(passages * 10, conventions, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert sum(map(len, first)) == sum(map(len, passages * 10))


@pytest.mark.parametrize("rule", [wrap_lines, remove_spaces], ids=lambda rule: rule.__name__)
def test_some_rules_change_only_white_space(rule: Rule) -> None:
    changed = results(rule, ENGLISH)
    assert any(passage not in ENGLISH for passage in changed)
    assert all(text_of(passage).split() != [] for passage in changed)
    assert {tuple(forms([passage])) for passage in changed} == {tuple(forms([passage])) for passage in ENGLISH}


def test_lines_are_wrapped_between_words_in_scripts_without_spaces_too() -> None:
    lines = [line for passage in results(wrap_lines, [CHINESE[0] * 10]) for line in text_of(passage).split("\n")]
    assert len(lines) > 40 and max(map(len, lines)) <= 100
    assert not any(line.startswith("。") for line in lines)


def is_emoji(form: str) -> bool:
    return unicodedata.category(form[0]) == "So"


def test_emoji_are_tokens_of_the_sentence_before_them() -> None:
    added = results(add_emoji, ENGLISH)
    assert any(is_emoji(tokens[-1].form) and tokens[-2].form == "." for passage in added for tokens in passage)
    assert any(is_emoji(tokens[-2].form) and tokens[-1].form == "!" for passage in added for tokens in passage)
    assert not any(is_emoji(tokens[0].form) for passage in added for tokens in passage)
    assert any(len(form) > 2 for form in forms(added) if is_emoji(form))


def test_currencies_are_split_off_as_the_treebank_does() -> None:
    added = [tokens for passage in results(add_prices, ENGLISH, 300) for tokens in passage]
    assert any([token.form for token in tokens[2:4]] == ["€", "25"] for tokens in added)
    assert any([token.form for token in tokens[2:4]] == ["3.50", "€"] for tokens in added)
    joined: list[Passage] = [[sentence("It cost $3 and not 5 .")]]
    assert results(add_prices, joined) == joined * 40


def test_marks_surround_words_without_spaces() -> None:
    texts = [text_of(passage) for passage in results(add_markup, ENGLISH, 200)]
    assert any("**tickets**" in text or "**concert**" in text for text in texts)
    added = forms(results(add_markup, ENGLISH))
    assert {"<b>", "</b>", "`", "<br>"} <= set(added)
    assert any("**北京**" in text_of(passage) for passage in results(add_markup, CHINESE[:1], 400))


def test_a_full_stop_after_a_link_is_a_token() -> None:
    ends = [tokens[-2:] for passage in results(add_links, ENGLISH, 100) for tokens in passage]
    links = [link for link, stop in ends if "://" in link.form and stop.form == "."]
    assert links and all(link.after == "" for link in links)
    assert not any(link.form.endswith(".") for link in links)


def test_abbreviations_end_no_sentence() -> None:
    added = results(add_abbreviations, ENGLISH)
    inner = {token.form for passage in added for tokens in passage for token in tokens[:-1]}
    assert {"incl.", "Mr."} < {form for form in inner if len(form) > 1 and form.endswith(".")}
    split: list[Passage] = [[sentence("Mr . Brown wrote to Mrs . Green yesterday morning .")]]
    assert TextConventions.of(split).abbreviations == []
    assert results(add_abbreviations, split) == split * 40


def test_quotation_marks_and_apostrophes_vary() -> None:
    changed = set(forms(results(change_quotes, ENGLISH, 100)))
    assert {"«", "»", "„", "“", "「", "didn’t"} <= changed


def test_case_varies() -> None:
    changed = forms(results(change_case, ENGLISH))
    assert {"TICKETS", "Tickets", "DIDN'T"} <= set(changed)


def test_spaces_are_missing_after_sentences_and_commas() -> None:
    texts = [text_of(passage) for passage in results(remove_spaces, ENGLISH)]
    assert any("came.They" in text for text in texts) and any("London,but" in text for text in texts)
    assert results(remove_spaces, CHINESE[:1]) == CHINESE[:1] * 40


@pytest.mark.parametrize("layout", [make_list, break_after_sentences], ids=lambda rule: rule.__name__)
def test_each_item_ends_its_line(layout: Callable[..., Passage]) -> None:
    for passage in results(layout, ENGLISH):
        assert all(tokens[-1].after.endswith("\n") for tokens in passage)


def test_list_markers_and_headings_are_tokens_of_their_sentences() -> None:
    lists = results(make_list, ENGLISH)
    assert any(all(tokens[0].form == "-" for tokens in passage) for passage in lists)
    assert any([token.form for token in passage[0][:2]] == ["1", ")"] for passage in lists)
    headings = results(make_heading, ENGLISH)
    assert any(passage[0][0].form == "##" for passage in headings)
    assert all("\n" in passage[0][-1].after and passage[0][-1].form != "." for passage in headings)


def test_list_numbers_are_split_as_in_the_treebank() -> None:
    assert TextConventions.of(ENGLISH).splits_list_number
    joined: list[Passage] = [[sentence("1. Somebody should repair the window")]]
    assert any(tokens[0].form == "1." for passage in results(make_list, joined) for tokens in passage[:1])
    assert not any(tokens[0].form == "1." for passage in results(make_list, ENGLISH) for tokens in passage)
