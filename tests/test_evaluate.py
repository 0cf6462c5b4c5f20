"""`longarc evaluate`: the figures of the official UD evaluation, of eval.pl, of examples by hand; and mistakes."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longarc.data.conll import read_all
from longarc.data.jsonl import to_json
from longarc.data.sentence import DEPREL, FEATS, HEAD, LEMMA, UPOS, XPOS
from longarc.evaluation.alignment import spell
from longarc.evaluation.breakdown import Breakdown, break_down
from longarc.evaluation.conventions import CONTENT_RELATIONS, FUNCTION_RELATIONS, UNIVERSAL_FEATURES, Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import Judgement, Score, count, judge, total
from longarc.evaluation.plots import plot_breakdown
from tests.generators import longarc, quick

SHARED = Path(__file__).parents[2] / "shared" / "data"

OFFICIAL = {
    **{"Tokens": "tokens", "Sentences": "sentences", "Words": "words", "UPOS": "upos", "XPOS": "xpos"},
    **{"UFeats": "features", "AllTags": "all_tags", "Lemmas": "lemmas", "UAS": "uas", "LAS": "las"},
    **{"CLAS": "clas", "MLAS": "mlas", "BLEX": "blex"},
}

RELATIONS = [
    *("nsubj", "nsubj:pass", "obj", "punct", "punct:x", "case", "det", "aux:pass", "cc", "mark", "root", "dep"),
    *("clf", "cop", "fixed", "flat:name", "advmod", "_", "not-of-ud"),
]
FEATURES = [
    *("_", "Number=Sing", "Case=Nom|Number=Plur", "Number=Plur|Case=Nom", "Number[psor]=Sing", "Abbr=Yes|Typo=Yes"),
    *("Case=Nom|ExtPos=ADP", "NumForm=Digit", "Case=Acc|Case=Nom"),
]


def corpus(text: str, name: str = "file.conllu", format: Any = "conllu") -> Corpus:
    return Corpus(name, read_all(io.BytesIO(text.encode()), format=format))


def judgement(gold: str, system: str, format: Any = "conllu", **conventions: Any) -> Judgement:
    return judge(corpus(gold, "gold", format), corpus(system, "system", format), Conventions(**conventions))


def scores(gold: str, system: str, format: Any = "conllu", **conventions: Any) -> dict[str, Score]:
    return total(count(judgement(gold, system, format, **conventions)))


def table(*words: str) -> str:
    """A sentence from words such as `form/TAG/head/relation`, the tag in both columns."""
    rows = []
    for number, word in enumerate(words, 1):
        form, tag, head, relation = word.rsplit("/", 3)
        rows.append(f"{number}\t{form}\t_\t{tag}\t{tag}\t_\t{head}\t{relation}\t_\t_")
    return "\n".join(rows) + "\n\n"


# ---------------------------------------------------------------------------------------------------------------------
# Generated files.


def random_heads(chooser: random.Random, words: int) -> list[int]:
    """Heads of any tree, with one root or several."""
    order = list(range(1, words + 1))
    chooser.shuffle(order)
    heads = dict.fromkeys(order, 0)
    for position, word in enumerate(order):
        heads[word] = chooser.choice([0, *order[:position]])
    return [heads[word] for word in range(1, words + 1)]


def random_columns(chooser: random.Random) -> list[str]:
    """LEMMA, UPOS, XPOS and FEATS."""
    return [chooser.choice("ab_"), chooser.choice("XY"), chooser.choice("xy_"), chooser.choice(FEATURES)]


def random_sentence(chooser: random.Random, text: str, alphabet: str) -> str:
    """Tokens that make up the text: with spaces in forms, multiword tokens and empty nodes here and there."""
    forms: list[tuple[str, str]] = []
    words = 0
    while text:
        length = chooser.choice([1, 1, 2, 3])
        token, text = text[:length], text[length:]
        if len(token) > 1 and chooser.random() < 0.1:
            token = token[0] + chooser.choice([" ", "\u00a0"]) + token[1:]
        if chooser.random() < 0.3:
            parts = chooser.randint(1, 3)
            forms.append((f"{words + 1}-{words + parts}", token))
            letters = alphabet + alphabet.upper()
            inside = ["".join(chooser.choices(letters, k=chooser.randint(1, 2))) for _ in range(parts)]
        else:
            inside = [token]
        forms += [(str(words + number), form) for number, form in enumerate(inside, 1)]
        words += len(inside)
    heads = random_heads(chooser, words)
    lines = []
    for identifier, form in forms:
        if "-" in identifier:
            lines.append([identifier, form, *"________"])
            continue
        relation = chooser.choice(RELATIONS)
        lines.append([identifier, form, *random_columns(chooser), str(heads[int(identifier) - 1]), relation, "_", "_"])
        if chooser.random() < 0.05:
            lines.append([f"{identifier}.1", "elided", *"______", "0:root", "_"])
    return "".join("\t".join(line) + "\n" for line in lines) + "\n"


def random_file(chooser: random.Random, text: str, alphabet: str) -> str:
    sentences = []
    while text:
        length = chooser.randint(1, 8)
        sentences.append(random_sentence(chooser, text[:length], alphabet))
        text = text[length:]
    return "".join(sentences)


def random_pair(seed: int) -> tuple[str, str]:
    """Two files of one text that have little else in common. With few letters, forms agree by chance all the time."""
    chooser = random.Random(seed)
    alphabet = chooser.choice(["a", "ab", "abc", "abcdefgh"])
    text = "".join(chooser.choices(alphabet, k=chooser.randint(1, 40)))
    return random_file(chooser, text, alphabet), random_file(chooser, text, alphabet)


def reannotated(text: str, seed: int) -> str:
    """The same words with other columns, half of them."""
    chooser = random.Random(seed)
    sentences = read_all(io.BytesIO(text.encode()), format="conllu")
    for sentence in sentences:
        heads = random_heads(chooser, len(sentence))
        keeps_heads = chooser.random() < 0.5
        for word, head in zip(sentence.words, heads, strict=True):
            new = random_columns(chooser)
            for column, value in zip((LEMMA, UPOS, XPOS, FEATS), new, strict=True):
                word[column] = chooser.choice([word[column], value])
            word[HEAD] = word[HEAD] if keeps_heads else str(head)
            word[DEPREL] = chooser.choice([word[DEPREL], chooser.choice(RELATIONS)])
    return "".join(sentence.to_conll() for sentence in sentences)


# ---------------------------------------------------------------------------------------------------------------------
# Against the official evaluation.


def official_scores(gold: str, system: str) -> dict[str, Any]:
    udeval = pytest.importorskip("udtools.udeval")
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


@pytest.mark.skipif(not (SHARED / "tr_imst").exists(), reason=f"there is no Turkish treebank in {SHARED}")
def test_a_real_treebank_gets_the_official_figures() -> None:
    """Some sentences are cut into other tokens and sentences, and the annotation of others is changed."""
    chooser = random.Random(5)
    sentences = [sentence.to_conll() for sentence in read_all(SHARED / "tr_imst" / "dev.conllu.xz")]
    system = []
    for sentence in sentences:
        chance = chooser.random()
        text = spell(corpus(sentence)).text
        changed = random_file(chooser, text, text) if chance < 0.05 else reannotated(sentence, chooser.randrange(1000))
        system.append(changed if chance < 0.2 else sentence)
    gold = "".join(sentences)
    assert_official(gold, "".join(system))
    assert 80 < scores(gold, "".join(system))["words"].f1 < 99


# ---------------------------------------------------------------------------------------------------------------------
# By hand.

GOLD = table(
    *("He/PRP/2/nsubj", "paid/VBD/0/root", "$/$/4/dep", "5/CD/2/obj", "«/``/6/punct", "cash/NN/2/obl", "»/''/6/punct"),
    *(",/,/9/punct", "twice/RB/2/advmod", "-/:/9/dep", "he/PRP/12/nsubj", "said/VBD/2/parataxis", "?!/./2/punct"),
)
SYSTEM = table(
    *("He/PRP/2/nsubj", "paid/VBD/0/root", "$/$/2/dep", "5/CD/2/nmod", "«/``/2/punct", "cash/NN/2/obl", "»/''/6/p"),
    *(",/,/6/punct", "twice/RB/2/advmod", "-/:/2/dep", "he/PRP/12/obj", "said/VBD/0/root", "?!/./12/punct"),
)
SHORT = table("Yes/UH/0/root", "!/./1/punct")


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


# ---------------------------------------------------------------------------------------------------------------------
# Breakdown.


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


HEARING = table(
    *("A/DET/2/det", "hearing/NOUN/4/nsubj", "is/AUX/4/aux", "scheduled/VERB/0/root", "on/ADP/7/case", "the/DET/7/det"),
    *("issue/NOUN/2/nmod", "today/NOUN/4/obl"),
)


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


# ---------------------------------------------------------------------------------------------------------------------
# The command.


def write(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / f"{name}.conllu" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_json_has_percentages_settings_and_breakdown(tmp_path: Path) -> None:
    gold, system = write(tmp_path, gold=GOLD + SHORT, system=SYSTEM + SHORT)
    done = longarc("evaluate", gold, system, "--json", "--punctuation", "conllx")
    assert done.status == 0, done.stderr
    printed = json.loads(done.stdout)
    assert (printed["gold"], printed["system"]) == (str(gold), str(system))
    expected = {"punctuation": "conllx", "labels": "whole", "encoding": "utf-8", "aligned_by": "words"}
    assert printed["settings"] == expected
    assert printed["words"] == {"gold": 15, "system": 15, "aligned": 15, "counted": 9}
    assert printed["scores"]["uas"] == pytest.approx(100 * 7 / 9)
    assert printed["scores"]["las"] == pytest.approx(100 * 5 / 9)
    assert "clas" not in printed["scores"], "the relations of a CoNLL-X file are not those of UD"
    assert printed["details"]["uas"]["correct"] == 7
    assert printed["details"]["uas"]["precision"] == printed["details"]["uas"]["recall"]
    lengths = {row["name"]: row["gold"] for row in printed["breakdown"]["arc_length"]}
    assert sum(lengths.values()) == 9
    names = {"relation", "arc_length", "sentence_length", "root_distance", "projectivity", "tag", "confusions"}
    assert set(printed["breakdown"]) == names


def cells_of(printed: bytes) -> list[list[str]]:
    lines = printed.decode().replace("┃", "│").splitlines()
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if "│" in line]


def test_tables_say_how_punctuation_and_labels_were_treated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    gold, system = write(tmp_path, gold=HEARING, system=HEARING.replace("\t2\tnmod", "\t4\tnmod"))
    done = longarc("evaluate", gold, system)
    assert "punctuation: count (counted)" in done.stdout.decode()
    assert "labels: universal (relations without subtypes" in done.stdout.decode()
    cells = cells_of(done.stdout)
    assert ["UAS", "87.50", "87.50", "87.50", "7", "8", "8"] in cells
    assert ["complete, labelled", "0.00", "0.00", "0.00", "0", "1", "1"] in cells
    assert "tokens" not in [row[0] for row in cells]
    done = longarc("evaluate", gold, system, "--punctuation", "ud", "--labels", "whole", "--breakdown")
    assert "punctuation: ud (not counted where the gold relation is punct)" in done.stdout.decode()
    assert "labels: whole" in done.stdout.decode()
    cells = cells_of(done.stdout)
    assert ["non-projective", "1", "0", "0.00", "0.00", "0.00", "0.00", "0.00"] in cells
    assert ["NOUN", "NOUN", "VERB", "1"] in cells


def test_unseen_words_are_told_from_seen_ones(tmp_path: Path) -> None:
    gold, system = write(tmp_path, gold=HEARING, system=HEARING.replace("\t2\tnmod", "\t4\tnmod"))
    known = table("the/X/0/root", "hearing/X/1/obj", "hearing/X/1/obj")
    (tmp_path / "train.conllu").write_text(known)
    done = longarc("evaluate", gold, system, "--train", tmp_path / "train.conllu", "--json")
    rows = json.loads(done.stdout)["breakdown"]["seen"]
    forms = [line.split("\t")[1] for line in HEARING.splitlines() if line[:1].isdigit()]
    counts = Counter("2" if form == "hearing" else "1" if form == "the" else "0" for form in forms)
    assert {row["name"]: row["gold"] for row in rows} == counts
    shown = longarc("evaluate", gold, system, "--train", tmp_path / "train.conllu")
    assert "how often the training data has the word" in shown.stdout.decode()


def test_tables_of_other_tokens_show_the_tokens_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    gold, system = write(tmp_path, gold=table("ab/X/0/root", "c/X/1/obj"), system=table("a/X/0/root", "bc/X/1/obj"))
    done = longarc("evaluate", gold, system)
    assert "aligned by the characters" in done.stdout.decode()
    assert ["words", "0.00", "0.00", "0.00", "", "0", "2", "2"] in cells_of(done.stdout)


def test_markup_and_mathematics_in_a_treebank_are_plain_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    pytest.importorskip("matplotlib")
    gold = table("a/[bold]/0/root", "b/PRP$ $/1/[red]", "c/$x_/1/$y^$")
    gold_file, system = write(tmp_path, gold=gold, system=gold.replace("\t1\t$y^$", "\t2\t[red]"))
    done = longarc("evaluate", gold_file, system, "--breakdown", "--plots", tmp_path / "new" / "pictures")
    assert done.status == 0, done.stderr
    assert ["$y^$", "[red]", "1", "0"] in cells_of(done.stdout)
    drawn = sorted(path.name for path in (tmp_path / "new" / "pictures").iterdir())
    assert drawn == [
        *("arc_length.svg", "head_confusions.svg", "projectivity.svg", "relation.svg", "relation_confusions.svg"),
        *("root_distance.svg", "sentence_length.svg", "tag.svg"),
    ]
    assert all((tmp_path / "new" / "pictures" / name).stat().st_size > 3000 for name in drawn)
    without_mistakes = plot_breakdown(Breakdown({}, [], []), tmp_path / "new")
    assert all(path.stat().st_size > 3000 for path in without_mistakes)
    assert "$y^$ → [red]" in (tmp_path / "new" / "pictures" / "relation_confusions.svg").read_text(encoding="utf-8")


def test_files_of_any_format_and_standard_input_can_be_compared(tmp_path: Path) -> None:
    lines = tmp_path / "system.jsonl"
    sentences = read_all(io.BytesIO((HEARING + SHORT).encode()), format="conllu")
    lines.write_text("".join(to_json(sentence) + "\n" for sentence in sentences), encoding="utf-8")
    done = longarc("evaluate", "-", lines, "--json", stdin=(HEARING + SHORT).encode())
    assert json.loads(done.stdout)["scores"]["las"] == 100
    latin = tmp_path / "latin.conll"
    latin.write_bytes(table("été/X/0/root").encode("latin-1"))
    assert longarc("evaluate", latin, latin, "--encoding", "latin-1", "--json").status == 0


def test_counts_of_sentences_add_up_to_those_of_the_file() -> None:
    gold, system = random_pair(11)
    counts = count(judgement(gold, system))
    assert counts.shape == (len(corpus(gold).sentences), 17, 4)
    assert np.all(counts >= 0)
    assert total(counts)["words"].gold == len(corpus(gold))
