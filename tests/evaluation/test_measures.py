"""Scores of examples worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from longarc.data.sentence import DEPREL, FEATS, HEAD, UPOS, XPOS, Sentence
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.measures import MEASURES, Judgement, Measure, count, count_words, score_sentences, total
from longarc.transitions.system import Ints
from tests.helpers.annotations import (
    GOLD,
    SHORT,
    SYSTEM,
    corpus,
    judgement,
    random_pair,
    reannotated,
    scores,
    table,
    write,
)
from tests.helpers.command import longarc
from tests.helpers.printed_tables import cells_of


def test_all_words_are_counted_unless_told_otherwise() -> None:
    """As eval.pl with -p: 7 of 13 words have the right head, 4 the right relation too, 9 the right relation."""
    found = scores(GOLD + SHORT, SYSTEM + SHORT)
    assert (found["uas"].correct, found["uas"].gold) == (7 + 2, 15)
    assert (found["las"].correct, found["las"].gold) == (4 + 2, 15)
    assert (found["label_accuracy"].correct, found["label_accuracy"].gold) == (9 + 2, 15)
    assert (found["root"].correct, found["root"].gold, found["root"].system) == (2, 2, 3)
    assert (found["complete_unlabelled"].correct, found["complete_unlabelled"].gold) == (1, 2)
    assert (found["complete_labelled"].correct, found["complete_labelled"].gold) == (1, 2)
    assert found["uas"].f1 == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("punctuation", "words", "heads", "arcs", "relations"),
    [
        ("count", 13, 7, 4, 9),
        ("conllx", 8, 6, 4, 5),  # without « » , - ?! but with $, a symbol
        ("penn", 8, 6, 4, 5),  # without `` '' , : . but with $, which is no punctuation there either
        ("ud", 9, 6, 4, 6),  # without « » , ?!
    ],
)
def test_punctuation_is_left_out_by_form_by_tag_or_by_relation(
    punctuation: str, words: int, heads: int, arcs: int, relations: int
) -> None:
    for labels in ("whole", "universal"):
        found = scores(GOLD, SYSTEM, "conllx", punctuation=punctuation, labels=labels)
        assert [found[key].correct for key in ("uas", "las", "label_accuracy")] == [heads, arcs, relations]
        assert found["uas"].gold == found["uas"].system == found["las"].gold == words
        assert found["upos"].gold == 13, "tags are always counted"


@pytest.mark.parametrize(
    ("form", "is_punctuation"),
    [
        *((",", True), ("...", True), ("?!", True), ("--", True), ("«", True), ("'s", False), ("_", True)),
        *(
            ("$", False),
            ("+", False),
            ("<", False),
            ("^", False),
            ("`", False),
            ("5.", False),
            ("。", True),
            ("€", False),
        ),
    ],
)
def test_punctuation_of_conll_2006_is_what_unicode_calls_so(form: str, is_punctuation: bool) -> None:
    gold = table("a/X/0/root", f"{form}/X/1/dep")
    assert scores(gold, gold, "conllx", punctuation="conllx")["uas"].gold == 2 - is_punctuation


def test_penn_punctuation_goes_by_the_gold_tag_in_the_fine_column_or_else_the_coarse_one() -> None:
    gold = table("a/NN/0/root", "x/,/1/dep", "y/-LRB-/1/dep", ",/NN/1/dep")
    assert scores(gold, gold, punctuation="penn")["uas"].gold == 3
    coarse_only = gold.replace("\t,\t,\t", "\t,\t_\t")
    assert scores(coarse_only, gold, punctuation="penn")["uas"].gold == 3
    assert scores(gold.replace("\t,\t,\t", "\tNN\tNN\t"), gold, punctuation="penn")["uas"].gold == 4


def test_a_sentence_of_punctuation_only_is_no_complete_match() -> None:
    dots = table("./,/0/punct")
    found = scores(SHORT + dots, SHORT + dots.replace("punct", "x"), punctuation="ud")
    assert (found["complete_labelled"].correct, found["complete_labelled"].gold) == (1, 1)


def test_subtypes_are_compared_if_asked_for() -> None:
    gold, system = table("a/X/0/root", "b/X/1/nsubj:pass"), table("a/X/0/root", "b/X/1/nsubj")
    assert scores(gold, system)["las"].f1 == 100
    assert scores(gold, system, labels="whole")["las"].f1 == 50
    assert scores(gold, system, labels="whole")["clas"].f1 == 50


def test_features_are_sets_and_all_of_them_count_in_conll_x() -> None:
    gold = table("a/X/0/root").replace("X\t_\t0", "X\tsg|masc\t0")
    assert scores(gold, gold.replace("sg|masc", "masc|sg"), labels="whole")["features"].f1 == 100
    assert scores(gold, gold.replace("sg|masc", "masc|pl"), labels="whole")["features"].f1 == 0
    assert scores(gold, gold.replace("sg|masc", "masc|pl"))["features"].f1 == 100


def test_a_lemma_that_gold_does_not_have_is_never_wrong() -> None:
    gold = table("a/X/0/root", "b/X/1/obj")
    system = gold.replace("a\t_", "a\tx")
    assert scores(gold, system)["lemmas"].f1 == 100
    assert scores(system, gold)["lemmas"].f1 == 50


def test_multiword_tokens_may_be_missing_when_the_words_are_the_same() -> None:
    gold = "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n" + table("de/ADP/3/case", "el/DET/3/det", "mar/NOUN/0/root")
    system = gold.split("\n", 1)[1]
    found = judgement(gold, system)
    assert found.alignment.by == "words"
    tokens = total(count(found))["tokens"]
    assert (tokens.correct, tokens.gold, tokens.system) == (1, 2, 3)
    assert scores(gold, system)["uas"].f1 == 100


def test_what_is_counted_of_other_tokens_is_counted_in_the_gold_sentence_where_they_begin() -> None:
    gold = table("ab/X/0/root", "./X/1/punct") + table("cd/X/0/root")
    system = table("ab/X/0/root", ".c/X/1/dep", "d/X/1/dep")
    counts = count(judgement(gold, system))
    words = counts[:, 2]
    assert words.tolist() == [[1, 2, 2, 1], [0, 1, 1, 0]]
    assert counts[:, 1, :3].tolist() == [[0, 1, 1], [0, 1, 0]]


def test_counts_of_sentences_add_up_to_those_of_the_file() -> None:
    gold, system = random_pair(11)
    counts = count(judgement(gold, system))
    assert counts.shape == (len(corpus(gold).sentences), 17, 4)
    assert np.all(counts >= 0)
    assert total(counts)["words"].gold == len(corpus(gold))


# ---------------------------------------------------------------------------------------------------------------------
# Plain accuracy, and new measures.


def accuracy(gold: list[Sentence], parsed: list[Sentence], *columns: int) -> float:
    """The percentage of words with the same cells in all of these columns."""
    pairs = [
        (a, b)
        for one, other in zip(gold, parsed, strict=True)
        for a, b in zip(one.word_rows, other.word_rows, strict=True)
    ]
    return 100 * sum(all(a[column] == b[column] for column in columns) for a, b in pairs) / len(pairs)


def test_whole_labels_with_punctuation_give_the_plain_word_by_word_accuracy() -> None:
    for seed in range(40):
        text, _ = random_pair(seed)
        gold, parsed = corpus(text).sentences, corpus(reannotated(text, seed)).sentences
        found = score_sentences(gold, parsed, Conventions("count", "whole"))
        for name, columns in {"uas": [HEAD], "las": [HEAD, DEPREL], "upos": [UPOS], "xpos": [XPOS]}.items():
            assert found[name].f1 == accuracy(list(gold), list(parsed), *columns), name
        assert found["features"].f1 >= accuracy(list(gold), list(parsed), FEATS), "features in any order"


def count_heads_to_the_right(judgement: Judgement) -> Ints:
    right = [np.asarray(corpus.heads > np.arange(len(corpus))) for corpus in (judgement.gold, judgement.system)]
    return count_words(judgement, judgement.right_head, *right)


def test_a_new_measure_is_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setitem(MEASURES, "head_right", Measure("head to the right", count_heads_to_the_right))
    gold, system = table("a/X/2/dep", "b/X/3/dep", "c/X/0/root"), table("a/X/3/dep", "b/X/3/dep", "c/X/0/root")
    paths = write(tmp_path, gold=gold + gold, system=system + gold)
    assert ["head to the right", "75.00", "75.00", "75.00", "3", "4", "4"] in cells_of(
        longarc("evaluate", *paths).stdout
    )
    assert json.loads(longarc("evaluate", *paths, "--json").stdout)["scores"]["head_right"] == 75
    compared = json.loads(longarc("compare", *paths, paths[0], "--samples", "10", "--json").stdout)
    assert [system["score"] for system in compared["scores"]["head_right"]] == [75, 100]
