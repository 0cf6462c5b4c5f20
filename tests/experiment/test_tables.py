"""Report tables: means, bold figures and significance marks."""

from __future__ import annotations

from dataclasses import asdict

from longarc.evaluation.breakdown import Row
from longarc.experiment import paper_results as paper
from longarc.experiment.report_markdown import Cell
from longarc.experiment.summary import Setting
from longarc.experiment.tables import comparison_table, nonprojective_table, pt_sd_table
from tests.helpers.made_up_results import result, row_of, setting


def test_the_better_system_is_bold_and_starred_only_if_it_is_better_by_more_than_luck() -> None:
    steady = [8, 7] * 30
    always_better = [right + 1 for right in steady]
    now_and_then = [right + (1 if number % 2 else -1) for number, right in enumerate(steady)]
    now_and_then[0] += 3
    made = setting(
        covington=[result("covington", steady, steady, seed) for seed in (1, 2, 3)],
        nl_covington=[result("nl-covington", always_better, now_and_then, seed) for seed in (1, 2, 3)],
    )
    label, note, *cells = row_of(comparison_table([made], "covington", "nl-covington", 1000))
    assert (label, note) == ("made up", "measured, seeds 1, 2, 3")
    assert cells[:2] == [Cell("75.00"), Cell("75.00")]
    assert cells[2] == Cell("85.00", best=True, significant=True)
    assert cells[3] == Cell("75.50", best=True, significant=False)
    assert cells[4] == "< 0.001"
    assert isinstance(cells[5], str) and 0.1 < float(cells[5]) < 1
    swapped = row_of(
        comparison_table([setting(arc_swift=made.results["nl-covington"], nl_covington=made.results["covington"])],
                         "arc-swift", "nl-covington", 1000)
    )  # fmt: skip
    assert swapped[2] == Cell("85.00", best=True, significant=True)
    assert swapped[4] == Cell("75.00")


def test_one_seed_gives_no_star() -> None:
    made = setting(
        covington=[result("covington", [5] * 60, [5] * 60)], nl_covington=[result("nl-covington", [9] * 60, [9] * 60)]
    )
    cells = row_of(comparison_table([made], "covington", "nl-covington", 100))
    assert cells[4] == Cell("90.00", best=True, significant=False)


def test_of_two_equal_systems_both_are_best_and_none_is_significantly_so() -> None:
    same = [result(system, [5, 6, 7], [4, 4, 4]) for system in ("covington", "nl-covington")]
    made = setting(covington=same[:1], nl_covington=same[1:])
    cells = row_of(comparison_table([made], "covington", "nl-covington", 100))[2:]
    assert cells == [Cell("60.00", best=True), Cell("40.00", best=True)] * 2 + ["equal", "equal", "–", "–"]


def test_the_papers_parsers_on_pt_sd_get_our_rows_among_the_greedy_ones() -> None:
    made = setting(paper.PT_SD, covington=[result("covington", [9], [8])], arc_swift=[result("arc-swift", [7], [6])])
    table = pt_sd_table([made])
    assert table is not None
    names = [str(row[0]) for row in table.rows]
    place = names.index("NL-Covington (the paper)")
    assert names[place + 1 : place + 4] == [
        "Covington (this experiment: made up)",
        "arc-swift (this experiment: made up)",
        "Weiss et al. 2015, beam 8",
    ]
    assert list(table.rows[place + 1][2:]) == ["90.00", "80.00"]
    assert pt_sd_table([setting("Danish", covington=[result("covington", [9], [8])])]) is None


def test_the_average_is_over_the_treebanks_with_both_systems() -> None:
    def made(heads: int) -> Setting:
        return setting(
            covington=[result("covington", [heads], [heads])],
            nl_covington=[result("nl-covington", [heads - 1], [heads])],
        )

    table = comparison_table(
        [made(4), made(8), setting(covington=[result("covington", [1], [1])])], "covington", "nl-covington", 10
    )
    assert table is not None
    average = table.rows[-1]
    assert list(average[:2]) == ["average", "of 2 above"]
    assert average[2:6] == [Cell("60.00", True), Cell("60.00", True), Cell("50.00"), Cell("60.00", True)]


def test_non_projective_arcs_have_precision_and_recall_over_all_seeds() -> None:
    found = [result("covington", [1], [1], seed) for seed in (1, 2)]
    for one, row in zip(found, (Row("n", 10, 4, 2, 3, 3, 3), Row("n", 10, 6, 4, 5, 5, 1)), strict=True):
        one.nonprojective.update(asdict(row))
    row_of_table = row_of(nonprojective_table([setting(covington=found)]))
    assert row_of_table[2:7] == ["10", "4", "50.00", "30.00", "37.50"]
    assert row_of_table[7:] == ["100.00", "50.00", "66.67"]
