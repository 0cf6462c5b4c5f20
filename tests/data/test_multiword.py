"""Splitting multiword tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from longarc.data.multiword import MultiwordRules


def test_multiword_tokens_are_split_as_those_that_were_seen_or_end_alike() -> None:
    rules = MultiwordRules.learn(
        [("don't", ["do", "n't"]), ("Can't", ["ca", "n't"]), ("dos", ["de", "os"]), ("cannot", ["can", "not"])]
    )
    assert rules.split("don't") == ["do", "n't"]
    assert rules.split("mustn't") == ["must", "n't"]
    assert rules.split("DON'T") == ["DO", "N'T"]
    assert rules.split("Dos") == ["De", "os"]
    assert rules.split("DOS") == ["DE", "OS"]
    assert rules.split("house") == ["house"]
    assert rules.split("n't") == ["n't"]


@given(st.lists(st.tuples(st.text("abc'", min_size=1), st.lists(st.text("abc", min_size=1), min_size=2, max_size=3))))
def test_multiword_rules_never_lose_a_token(tokens: list[tuple[str, list[str]]]) -> None:
    rules = MultiwordRules.learn(tokens)
    for form in ["abc", "x", "a'b", *(form for form, _ in tokens)]:
        assert all(isinstance(word, str) for word in rules.split(form))
        assert rules.split(form)
