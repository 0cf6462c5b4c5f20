"""Scores equal those of the official UD evaluation script."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from udtools import udeval

from longarc.data.conll import read_all
from longarc.evaluation.alignment import token_spans
from longarc.evaluation.conventions import CONTENT_RELATIONS, FUNCTION_RELATIONS, UNIVERSAL_FEATURES
from tests.helpers.annotations import corpus, judgement, random_file, random_pair, reannotated, scores, table
from tests.helpers.generators import quick
from tests.helpers.paths import treebank_file

OFFICIAL = {
    **{"Tokens": "tokens", "Sentences": "sentences", "Words": "words", "UPOS": "upos", "XPOS": "xpos"},
    **{"UFeats": "features", "AllTags": "all_tags", "Lemmas": "lemmas", "UAS": "uas", "LAS": "las"},
    **{"CLAS": "clas", "MLAS": "mlas", "BLEX": "blex"},
}


def official_scores(gold: str, system: str) -> dict[str, Any]:
    options = {"multiple_roots_okay": 1}
    loaded = [udeval.load_conllu(io.StringIO(text), name, options) for name, text in (("g", gold), ("s", system))]
    return dict(udeval.evaluate(*loaded))


def assert_official(gold: str, system: str) -> None:
    """Every figure of every measure is the official one, as it is printed and as a count."""
    expected, found = official_scores(gold, system), scores(gold, system)
    for official, own in OFFICIAL.items():
        wanted, score = expected[official], found[own]
        assert (score.correct, score.gold, score.system) == (wanted.correct, wanted.gold_total, wanted.system_total), (
            own
        )
        shares = [wanted.precision, wanted.recall, wanted.f1]
        assert [f"{share:.2f}" for share in (score.precision, score.recall, score.f1)] == [
            f"{100 * share:.2f}" for share in shares
        ]
        if wanted.aligned_total is not None:
            assert score.aligned == wanted.aligned_total, own
            assert f"{score.aligned_accuracy:.2f}" == f"{100 * (wanted.aligned_accuracy or 0):.2f}"


@pytest.mark.parametrize("block", range(6))
def test_files_with_other_tokens_get_the_official_figures(block: int) -> None:
    aligned_by = set()
    for seed in range(150 * block, 150 * (block + 1)):
        gold, system = random_pair(seed)
        assert_official(gold, system)
        aligned_by.add(judgement(gold, system).alignment.by)
    assert "characters" in aligned_by


@pytest.mark.parametrize("block", range(2))
def test_files_with_the_same_tokens_get_the_official_figures_without_alignment(block: int) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        gold, _ = random_pair(seed)
        system = reannotated(gold, seed)
        assert_official(gold, system)
        assert judgement(gold, system).alignment.by == "words"


@quick
@given(st.data())
def test_any_cut_of_a_text_gets_the_official_figures(data: st.DataObject) -> None:
    """Hypothesis looks for the smallest pair of tokenisations on which the two disagree."""

    def draw_file(name: str) -> str:
        lines, words, place = [], 0, 0
        while place < len(text):
            token = text[place : place + data.draw(st.integers(1, 3), label=name)]
            place += len(token)
            parts = data.draw(st.sampled_from([[], [], ["a"], ["b", "A"], ["ab", "b"]]), label=name)
            lines += [f"{words + 1}-{words + len(parts)}\t{token}" + "\t_" * 8] if parts else []
            for form in parts or [token]:
                lines.append(f"{words + 1}\t{form}\t_\tX\t_\t_\t{words}\tdep\t_\t_")
                words += 1
        return "\n".join(lines) + "\n\n"

    text = data.draw(st.text("ab", min_size=1, max_size=8), label="text")
    assert_official(draw_file("gold"), draw_file("system"))


@pytest.mark.parametrize(
    "relation", sorted({*CONTENT_RELATIONS, *FUNCTION_RELATIONS, "punct", "cc:preconj", "acl:relcl", "_", "other"})
)
def test_a_relation_is_a_content_a_function_or_another_word_as_officially(relation: str) -> None:
    gold = table("a/X/2/" + relation, "b/X/0/root", "c/X/2/obj", "d/X/3/" + relation)
    system = table("a/X/2/" + relation, "b/X/0/root", "c/X/2/obj", "d/Y/2/" + relation)
    assert_official(gold, system)
    assert_official(system, gold)


@pytest.mark.parametrize("feature", sorted({*UNIVERSAL_FEATURES, "Typo", "ExtPos", "NounClass", "Deixis", "Case[x]"}))
def test_a_feature_counts_if_it_counts_officially(feature: str) -> None:
    gold = table("a/X/0/root")
    assert_official(gold, gold.replace("X\t_\t0", f"X\t{feature}=Yes\t0"))


def test_words_of_multiword_tokens_are_aligned_by_their_forms_whatever_the_case() -> None:
    gold = "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n" + table("Zu/ADP/3/case", "dem/DET/3/det", "Haus/NOUN/0/root")
    split = table("zu/ADP/3/case", "m/X/1/dep", "Haus/NOUN/0/root")
    for system, words, tokens, heads in (
        (split, (2, 3, 3), (1, 2, 3), 2),  # zu and Haus; the token Haus
        (table("zum/ADP/2/case", "Haus/NOUN/0/root"), (1, 3, 2), (2, 2, 2), 1),
        (gold.replace("dem\t", "m\t"), (2, 3, 3), (2, 2, 2), 2),
    ):
        found = scores(gold, system)
        assert (found["words"].correct, found["words"].gold, found["words"].system) == words
        assert (found["tokens"].correct, found["tokens"].gold, found["tokens"].system) == tokens
        assert found["uas"].correct == heads


def test_a_real_treebank_gets_the_official_figures() -> None:
    """Some sentences are cut into other tokens and sentences, and the annotation of others is changed."""
    chooser = random.Random(5)
    sentences = [sentence.to_conll() for sentence in read_all(treebank_file("tr_imst", "dev.conllu"))]
    system = []
    for sentence in sentences:
        chance = chooser.random()
        text = token_spans(corpus(sentence)).text
        changed = random_file(chooser, text, text) if chance < 0.05 else reannotated(sentence, chooser.randrange(1000))
        system.append(changed if chance < 0.2 else sentence)
    gold = "".join(sentences)
    assert_official(gold, "".join(system))
    assert 80 < scores(gold, "".join(system))["words"].f1 < 99
