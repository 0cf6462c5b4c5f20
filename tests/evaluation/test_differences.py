"""Sentences on which systems differ most."""

from __future__ import annotations

from longarc.evaluation.differences import largest_differences
from tests.helpers.annotations import HEARING, SHORT, WRONG_NMOD, WRONG_OBL, judgement, table


def test_the_sentences_that_differ_most_come_first() -> None:
    gold = SHORT + HEARING + HEARING
    first = judgement(gold, SHORT + WRONG_NMOD + HEARING)
    second = judgement(gold, SHORT + WRONG_NMOD.replace("\t4\tnsubj", "\t4\tobj") + WRONG_OBL)
    found = largest_differences([first, second], 5)
    assert [(sentence.number, sentence.line) for sentence in found] == [(3, 13), (2, 4)]
    assert [word.form for word in found[0].words] == ["A", "today"]
    assert [word.form for word in found[1].words] == ["hearing"], "both are wrong about the issue"
    today = found[0].words[1]
    assert (today.number, today.gold.head, today.gold.head_form, today.gold.relation) == (8, 4, "scheduled", "obl")
    assert [arc and (arc.relation, arc.right) for arc in today.systems] == [("obl", True), ("obj", False)]
    assert largest_differences([first, second], 1) == found[:1]
    assert largest_differences([first, first], 5) == []


def test_a_word_that_a_system_does_not_have_is_no_arc() -> None:
    gold = table("ab/X/0/root", "c/X/1/obj")
    found = largest_differences([judgement(gold, gold), judgement(gold, table("ab/X/0/root", "c/X/1/obj"))], 1)
    assert found == []
    found = largest_differences([judgement(gold, gold), judgement(gold, table("a/X/0/root", "bc/X/1/obj"))], 1)
    assert [word.systems[1] for word in found[0].words] == [None, None]
