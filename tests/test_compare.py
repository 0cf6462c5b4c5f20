"""`longarc compare`: p-values against plain loops and exact counts, seeds, speed; files that do not fit together."""

from __future__ import annotations

import itertools
import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longarc.evaluation import significance
from longarc.evaluation.corpus import Numbers
from longarc.evaluation.differences import largest_differences
from longarc.evaluation.measures import MEASURES, count
from longarc.evaluation.significance import Comparison, bootstrap_weights, coin_weights, compare, f1
from tests.generators import longarc
from tests.test_evaluate import HEARING, SHORT, cells_of, judgement, random_pair, table, write

LAS = list(MEASURES).index("las")


def counts_of(*correct: list[int], words: int = 10) -> Numbers:
    """[systems, sentences, 1, 4] for systems with so many right words in sentences of `words` words."""
    rows = [[[[right, words, words, words]] for right in system] for system in correct]
    return np.array(rows, dtype=np.int64)


def random_counts(seed: int, systems: int, sentences: int, measures: int) -> Numbers:
    """Counts in which what the gold file and the systems have differ from sentence to sentence."""
    generator = np.random.default_rng(seed)
    gold = np.broadcast_to(generator.integers(1, 20, (sentences, measures)), (systems, sentences, measures))
    system = gold + generator.integers(0, 3, gold.shape)
    correct = generator.binomial(gold, 0.8)
    return np.stack([correct, gold, system, gold], axis=-1)


# ---------------------------------------------------------------------------------------------------------------------
# The tests.


def plain_f1(rows: list[list[int]]) -> float:
    correct, gold, system = (sum(row[column] for row in rows) for column in range(3))
    return 2 * correct / (gold + system)


def test_the_bootstrap_is_a_plain_loop_over_samples() -> None:
    counts = random_counts(1, systems=2, sentences=12, measures=3)
    samples = 400
    found = compare(counts, samples=samples, seed=7)
    weights = bootstrap_weights(np.random.default_rng([7, 0]), samples, 12).astype(int)
    for measure in range(3):
        first, second = counts[0, :, measure].tolist(), counts[1, :, measure].tolist()
        differences, firsts = [], []
        for row in weights:
            drawn = [sentence for sentence in range(12) for _ in range(row[sentence])]
            assert len(drawn) == 12
            firsts.append(100 * plain_f1([first[sentence] for sentence in drawn]))
            differences.append(100 * plain_f1([second[sentence] for sentence in drawn]) - firsts[-1])
        observed = 100 * (plain_f1(second) - plain_f1(first))
        sign = 1 if observed > 0 else -1
        not_better = sum(sign * difference <= 1e-9 for difference in differences)
        (pair,) = found.pairs
        assert pair.difference[measure] == pytest.approx(observed)
        assert pair.bootstrap_p[measure] == pytest.approx(not_better / samples)
        assert pair.interval[measure] == pytest.approx(np.quantile(differences, [0.025, 0.975]))
        assert found.intervals[0, measure] == pytest.approx(np.quantile(firsts, [0.025, 0.975]))
        assert found.scores[0, measure] == pytest.approx(100 * plain_f1(first))


def test_randomisation_comes_close_to_all_swaps_there_are() -> None:
    counts = random_counts(2, systems=2, sentences=10, measures=2)
    (pair,) = compare(counts, samples=20_000, seed=1).pairs
    for measure in range(2):
        first, second = counts[0, :, measure].tolist(), counts[1, :, measure].tolist()
        observed = abs(plain_f1(second) - plain_f1(first))
        as_large = 0
        for swaps in itertools.product([False, True], repeat=10):
            one = [b if swap else a for a, b, swap in zip(first, second, swaps, strict=True)]
            other = [a if swap else b for a, b, swap in zip(first, second, swaps, strict=True)]
            as_large += abs(plain_f1(other) - plain_f1(one)) >= observed - 1e-12
        assert pair.randomization_p[measure] == pytest.approx(as_large / 2**10, abs=0.015)


def test_equal_systems_have_no_better_one() -> None:
    (pair,) = compare(counts_of([3, 9, 5] * 20, [3, 9, 5] * 20), samples=500).pairs
    assert pair.equal.tolist() == [True]
    assert (pair.difference[0], *pair.interval[0]) == (0, 0, 0)
    assert pair.bootstrap_p[0] == pair.randomization_p[0] == 1


def test_systems_that_score_the_same_by_other_sentences_are_equal_too() -> None:
    (pair,) = compare(counts_of([3, 9] * 20, [9, 3] * 20), samples=500).pairs
    assert pair.equal[0] and pair.bootstrap_p[0] == pair.randomization_p[0] == 1
    assert pair.interval[0, 0] < 0 < pair.interval[0, 1]


def test_a_clearly_better_system_has_a_small_p_whichever_comes_first() -> None:
    chooser = random.Random(1)
    worse = [chooser.randint(2, 8) for _ in range(100)]
    better = [right + chooser.choice([0, 1, 2]) for right in worse]
    for one, other, sign in ((worse, better, 1), (better, worse, -1)):
        (pair,) = compare(counts_of(one, other), samples=2000).pairs
        assert np.sign(pair.difference[0]) == sign
        assert pair.bootstrap_p[0] == 0
        assert pair.randomization_p[0] == pytest.approx(1 / 2001)
        assert (sign * pair.interval[0] > 0).all()


def test_a_tie_in_a_sample_is_not_better() -> None:
    """The systems differ in one sentence of two, which is missing from a quarter of all samples."""
    (pair,) = compare(counts_of([5, 5], [5, 6]), samples=20_000).pairs
    assert pair.bootstrap_p[0] == pytest.approx(0.25, abs=0.015)
    assert pair.randomization_p[0] == 1  # either swap gives a difference as large


def test_a_seed_gives_the_same_figures_and_another_gives_others() -> None:
    counts = random_counts(3, systems=3, sentences=40, measures=2)

    def figures(found: Comparison) -> list[Any]:
        pairs = [(pair.bootstrap_p.tolist(), pair.randomization_p.tolist()) for pair in found.pairs]
        return [found.intervals.tolist(), pairs]

    assert figures(compare(counts, 300, seed=4)) == figures(compare(counts, 300, seed=4))
    assert figures(compare(counts, 300, seed=4)) != figures(compare(counts, 300, seed=5))


def test_every_two_systems_are_compared() -> None:
    counts = random_counts(4, systems=4, sentences=20, measures=1)
    pairs = compare(counts, 50).pairs
    assert [(pair.first, pair.second) for pair in pairs] == list(itertools.combinations(range(4), 2))


def test_memory_is_bounded_by_chunks_that_change_nothing_but_the_order_of_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = random_counts(5, systems=2, sentences=30, measures=1)
    sizes: list[int] = []

    def observed(generator: np.random.Generator, samples: int, sentences: int) -> Any:
        sizes.append(samples * sentences)
        return bootstrap_weights(generator, samples, sentences)

    monkeypatch.setattr(significance, "CELLS", 1000)
    sums = significance.resample(counts[0, :, 0], 1000, np.random.default_rng(1), observed)
    assert sums.shape == (1000, 4)
    assert len(sizes) == 31 and max(sizes) <= 1000 and sum(sizes) == 30_000
    assert sums[:, 1].mean() == pytest.approx(counts[0, :, 0, 1].sum(), rel=0.02)


def test_coins_are_fair_and_whole_sentences_are_swapped() -> None:
    coins = coin_weights(np.random.default_rng(1), 1000, 13)
    assert coins.shape == (1000, 13)
    assert set(np.unique(coins)) == {0, 1}
    assert np.abs(coins.mean(axis=0) - 0.5).max() < 0.06


def test_f1_of_nothing_is_nothing() -> None:
    assert f1(np.array([[0, 0, 0], [1, 1, 3]])).tolist() == [0, 0.5]


def test_two_thousand_sentences_take_less_than_five_seconds() -> None:
    """Processor time of both tests, for two systems and all measures."""
    counts = random_counts(6, systems=2, sentences=2000, measures=len(MEASURES))
    start = time.process_time()
    compare(counts, samples=10_000)
    assert time.process_time() - start < 5


# ---------------------------------------------------------------------------------------------------------------------
# The sentences that differ most.

WRONG_NMOD = HEARING.replace("\t2\tnmod", "\t4\tnmod")
WRONG_OBL = HEARING.replace("\t4\tobl", "\t4\tobj").replace("\t2\tdet", "\t4\tdet")


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


# ---------------------------------------------------------------------------------------------------------------------
# The command.


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Gold; a system that is wrong in every other sentence; one that is right but for one sentence."""
    half, nearly = (WRONG_NMOD + HEARING) * 15, HEARING * 29 + WRONG_NMOD
    return write(tmp_path, gold=HEARING * 30, half=half, nearly=nearly)


def test_json_has_scores_intervals_and_p_values(files: list[Path]) -> None:
    done = longarc("compare", *files, "--json", "--samples", "1000", "--seed", "3", "--differences", "2")
    assert done.status == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["settings"] == {
        **{"punctuation": "count", "labels": "universal", "encoding": "utf-8", "aligned_by": ["words", "words"]},
        **{"test": "both", "samples": 1000, "seed": 3, "confidence": 95},
    }
    half, nearly = printed["scores"]["uas"]
    assert half["score"] == pytest.approx(100 * (240 - 15) / 240)
    assert nearly["score"] == pytest.approx(100 * 239 / 240)
    assert half["interval"][0] < half["score"] < half["interval"][1]
    (pair,) = printed["pairs"]
    assert (pair["first"], pair["second"]) == (0, 1)
    uas = pair["measures"]["uas"]
    assert uas["difference"] == pytest.approx(100 * 14 / 240)
    assert uas["bootstrap_p"] < 0.01 and uas["randomization_p"] < 0.01 and not uas["equal"]
    assert pair["measures"]["complete_labelled"]["difference"] == pytest.approx(100 * 14 / 30)
    assert pair["measures"]["upos"] == {
        **{"difference": 0, "interval": [0, 0], "equal": True, "bootstrap_p": 1, "randomization_p": 1}
    }
    assert [sentence["sentence"] for sentence in printed["differences"]] == [1, 3]
    assert printed["differences"][0]["words"][0]["systems"][0]["right"] is False
    assert longarc("compare", *files, "--json", "--samples", "1000", "--seed", "3", "--differences", "2") == done


def test_tables_show_both_tests_or_one(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = longarc("compare", *files, "--samples", "500", "--differences", "1", "--punctuation", "ud")
    printed = done.stdout.decode()
    assert "punctuation: ud" in printed and "500 samples, seed 0" in printed
    cells = cells_of(done.stdout)
    assert ["B − A", "difference", "95 % interval", "p, bootstrap", "p, randomisation"] in cells
    uas = next(row for row in cells if row[0] == "UAS" and row[1].startswith("+"))
    assert uas[1] == "+5.83" and uas[3] == "< 0.0020"
    assert ["UPOS", "+0.00", "[+0.00, +0.00]", "equal", "equal"] in cells
    assert "sentence 1 (line 1): A hearing is scheduled on the issue today" in printed
    assert ["7 issue", "2 hearing (nmod)", "✗ 4 scheduled (nmod)", "✓ 2 hearing (nmod)"] in cells
    one = longarc("compare", *files, "--samples", "500", "--test", "bootstrap").stdout.decode()
    assert "p, bootstrap" in one and "p, randomisation" not in one
    other = longarc("compare", *files, "--samples", "500", "--test", "randomization").stdout.decode()
    assert "p, bootstrap" not in other and "p, randomisation" in other


def test_several_systems_with_other_tokens_can_be_compared(tmp_path: Path) -> None:
    gold, system = random_pair(21)
    paths = write(tmp_path, gold=gold, a=gold, b=system, c=gold)
    printed = json.loads(longarc("compare", *paths, "--samples", "200", "--json").stdout)
    assert printed["settings"]["aligned_by"] == ["words", "characters", "words"]
    assert [(pair["first"], pair["second"]) for pair in printed["pairs"]] == [(0, 1), (0, 2), (1, 2)]
    assert printed["pairs"][1]["measures"]["las"]["equal"]
    expected = count(judgement(gold, system)).sum(axis=0)[LAS]
    assert printed["scores"]["las"][1]["score"] == pytest.approx(200 * expected[0] / (expected[1] + expected[2]))


# ---------------------------------------------------------------------------------------------------------------------
# Users' mistakes.

PARTING = {
    "another word": (
        HEARING,
        HEARING.replace("issue", "tissue"),
        "system.conllu:7: 'tissue' where",
        "gold.conllu:7 has 'issue'",
    ),
    "another word later": (
        SHORT + HEARING,
        SHORT + HEARING.replace("today", "to"),
        "system.conllu:11: the end",
        ":11 has 'today'",
    ),
    "a word too many": (
        SHORT,
        table("Yes/X/0/root", "yes/X/1/x", "!/X/1/x"),
        "system.conllu:2: 'yes' where",
        ":2 has '!'",
    ),
    "a sentence missing": (SHORT + HEARING, SHORT, "system.conllu:2: the end of the text where", ":4 has 'A'"),
    "a sentence too many": (SHORT, SHORT + HEARING, "system.conllu:4: 'A' where", ":2 has the end of the text"),
    "other cases": (SHORT, SHORT.replace("Yes", "yes"), "system.conllu:1: 'yes' where", ":1 has 'Yes'"),
    "no head": (SHORT, SHORT.replace("\t1\tp", "\t_\tp"), "system.conllu:2: HEAD is _", "complete trees"),
    "no gold head": (SHORT.replace("\t1\tp", "\t_\tp"), SHORT, "gold.conllu:2: HEAD is _", "complete trees"),
    "a gold cycle": (
        SHORT.replace("\t0\tr", "\t2\tr"),
        SHORT,
        "gold.conllu:1: the heads form a cycle: 1 → 2 → 1",
        "trees",
    ),
    "no sentences": (SHORT, "", "system.conllu: no sentences", ""),
    "no gold sentences": ("# only a comment\n", SHORT, "gold.conllu: no sentences", ""),
    "no form": (table("/X/0/root", "a/X/1/x"), table("a/X/0/root"), "gold.conllu:1: FORM has no characters", ""),
}


@pytest.mark.parametrize(("gold", "system", "complaint", "more"), PARTING.values(), ids=PARTING)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_files_that_do_not_fit_together_are_told_where_they_part(
    tmp_path: Path, command: str, gold: str, system: str, complaint: str, more: str
) -> None:
    paths = write(tmp_path, gold=gold, system=system)
    done = longarc(command, *paths, *([paths[0]] if command == "compare" else []))
    assert done.status == 2
    assert complaint in done.stderr and more in done.stderr
    assert done.stdout == b""


def test_the_line_of_a_word_after_comments_and_multiword_tokens_is_right(tmp_path: Path) -> None:
    lead = "# sent_id = 1\n# text = x\n1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n"
    gold, system = write(
        tmp_path, gold=lead + HEARING, system="\n" + HEARING.replace("A\t", "del\t", 1).replace("scheduled", "set")
    )
    done = longarc("evaluate", gold, system)
    assert "system.conllu:3: 'hearing' where" in done.stderr
    assert "gold.conllu:6 has 'is'" in done.stderr


MISTAKES = {
    "no such file": (["evaluate", "missing.conllu", "x"], "missing.conllu"),
    "standard input twice": (["evaluate", "-", "-"], "standard input"),
    "unknown punctuation": (["evaluate", "-", "x", "--punctuation", "some"], "conllx"),
    "a system missing": (["evaluate", "-"], "SYSTEM"),
    "one system only": (["compare", "-", "x"], "two or more"),
    "no samples": (["compare", "-", "x", "y", "--samples", "0"], "samples"),
    "unknown test": (["compare", "-", "x", "y", "--test", "t"], "randomization"),
    "standard input for two systems": (["compare", "x", "-", "-"], "standard input"),
    "skipping": (["evaluate", "-", "x", "--skip-invalid"], "--skip-invalid"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_ends_with_status_2(
    arguments: list[str], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    done = longarc(*arguments, stdin=SHORT.encode())
    assert done.status == 2
    assert complaint in done.stderr


def test_a_folder_that_cannot_be_made_is_a_mistake(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    gold, blocked = write(tmp_path, gold=SHORT, blocked="")
    done = longarc("evaluate", gold, gold, "--plots", blocked)
    assert done.status == 2
    assert str(blocked) in done.stderr
