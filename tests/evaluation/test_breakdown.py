"""Breakdowns of scores by arc and sentence properties."""

from __future__ import annotations

import pytest

from longarc.evaluation.breakdown import Breakdown, break_down
from longarc.evaluation.measures import Judgement, count, total
from tests.helpers.annotations import GOLD, HEARING, SYSTEM, judgement, random_pair, reannotated, scores


def every_table_adds_up(found: Judgement, breakdown: Breakdown) -> None:
    sums = total(count(found))
    for rows in breakdown.tables.values():
        assert sum(row.gold for row in rows) == sums["uas"].gold
        assert sum(row.system for row in rows) == sums["uas"].system
        assert sum(row.gold_heads for row in rows) == sum(row.system_heads for row in rows) == sums["uas"].correct
        assert sum(row.gold_arcs for row in rows) == sum(row.system_arcs for row in rows) == sums["las"].correct
        assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize("punctuation", ["count", "ud", "penn", "conllx"])
def test_the_rows_of_every_table_add_up_to_the_whole(punctuation: str) -> None:
    for seed in range(25):
        gold, system = random_pair(seed)
        for other in (system, reannotated(gold, seed)):
            found = judgement(gold, other, punctuation=punctuation)
            every_table_adds_up(found, break_down(found))
    found = judgement(GOLD, SYSTEM, punctuation=punctuation)
    every_table_adds_up(found, break_down(found))


def test_confusions_add_up_to_the_mistakes() -> None:
    gold, _ = random_pair(3)
    found = judgement(gold, reannotated(gold, 3))
    breakdown = break_down(found, confusions=10_000)
    sums = total(count(found))
    relations, heads = breakdown.relation_confusions, breakdown.head_confusions
    assert sum(one["count"] for one in relations) == sums["uas"].gold - sums["label_accuracy"].correct > 0
    assert sum(one["count"] for one in heads) == sums["uas"].gold - sums["uas"].correct > 0
    assert sum(one["right_heads"] for one in relations) == sums["uas"].correct - sums["las"].correct


def rows_of(gold: str, system: str, name: str) -> dict[str, tuple[int, ...]]:
    """Gold words, right ones of them, system words, right ones of them."""
    rows = break_down(judgement(gold, system)).tables[name]
    return {row.name: (row.gold, row.gold_heads, row.system, row.system_heads) for row in rows}


def test_non_projective_arcs_have_a_recall_and_a_precision() -> None:
    projective = HEARING.replace("\t2\tnmod", "\t4\tnmod")
    assert rows_of(HEARING, HEARING, "projectivity") == {"projective": (7, 7, 7, 7), "non-projective": (1, 1, 1, 1)}
    assert rows_of(HEARING, projective, "projectivity") == {"projective": (7, 7, 8, 7), "non-projective": (1, 0, 0, 0)}
    assert rows_of(projective, HEARING, "projectivity") == {"projective": (8, 7, 7, 7), "non-projective": (0, 0, 1, 0)}


def test_arcs_by_length_and_direction() -> None:
    system = HEARING.replace("\t2\tdet", "\t4\tdet").replace("\t4\tobl", "\t7\tobl")
    assert rows_of(HEARING, system, "arc_length") == {
        "root": (1, 1, 1, 1),
        "left 1": (3, 2, 2, 2),  # A (wrong), is, the
        "left 2": (2, 2, 2, 2),  # hearing, on
        "left 3-6": (0, 0, 1, 0),  # A
        "right 1": (0, 0, 1, 0),  # today
        "right 3-6": (2, 1, 1, 1),  # issue, today (wrong)
    }


def test_arcs_by_distance_to_the_root_on_each_side() -> None:
    system = HEARING.replace("\t2\tnmod", "\t4\tnmod")
    assert rows_of(HEARING, system, "root_distance") == {
        "1": (1, 1, 1, 1),
        "2": (3, 3, 4, 3),
        "3": (2, 1, 3, 3),
        "4": (2, 2, 0, 0),
    }


def test_a_system_with_cycles_is_scored_and_they_are_told() -> None:
    system = HEARING.replace("\t4\tnsubj", "\t7\tnsubj").replace("\t4\taux", "\t3\taux")  # hearing ↔ issue, is ↺
    assert rows_of(HEARING, system, "root_distance")["cycle"][2:] == (6, 4)
    assert scores(HEARING, system)["uas"].correct == 6
    every_table_adds_up(judgement(HEARING, system), break_down(judgement(HEARING, system)))


def test_sentence_lengths_and_tags() -> None:
    gold = HEARING + GOLD
    assert rows_of(gold, gold, "sentence_length") == {"1-10": (8,) * 4, "11-20": (13,) * 4}
    assert rows_of(gold, gold, "tag")["NOUN"] == (3,) * 4
    assert next(iter(rows_of(gold, gold, "tag"))) == "NOUN", "the most frequent first"


def test_the_most_frequent_confusions() -> None:
    system = HEARING.replace("\t4\tnsubj", "\t4\tobj").replace("\t2\tnmod", "\t4\tobj").replace("\t0\troot", "\t0\tobj")
    found = break_down(judgement(HEARING * 2, system * 2))
    assert found.relation_confusions == [
        {"gold": "nmod", "system": "obj", "count": 2, "right_heads": 0},
        {"gold": "nsubj", "system": "obj", "count": 2, "right_heads": 2},
        {"gold": "root", "system": "obj", "count": 2, "right_heads": 2},
    ]
    assert found.head_confusions == [{"tag": "NOUN", "gold_head": "NOUN", "system_head": "VERB", "count": 2}]
