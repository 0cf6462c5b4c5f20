"""The report: means over seeds, bold figures and stars, names that are only text, and the paper's own figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from statistics import mean

import pytest

from longarc.evaluation.breakdown import Row
from longarc.evaluation.plots import from_left_to_right
from longarc.experiment import paper_results as paper
from longarc.experiment.html_report import to_page
from longarc.experiment.plan import Treebank
from longarc.experiment.report_blocks import Block, Cell, Code, Heading, Items, Paragraph, Table, to_markdown
from longarc.experiment.results import Result
from longarc.experiment.summary import Setting, pair, summed_rows
from longarc.experiment.tables import comparison_table, nonprojective_table, pt_sd_table, spread_table


class Page(HTMLParser):
    """Collects the text of a page, and complains about tags that do not match."""

    EMPTY = ("meta", "link", "img", "br", "hr", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.identifiers: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)
        for key, value in attributes:
            if key in ("src", "href", "xlink:href", "data", "action", "srcset"):
                self.references.append(value or "")
            if key == "id":
                self.identifiers.append(value or "")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


# ---------------------------------------------------------------------------------------------------------------------
# Means, bold figures and stars, on counts made for the purpose.


def result(system: str, heads: list[int], arcs: list[int], seed: int = 1) -> Result:
    """A result with so many right heads and arcs in sentences of ten words."""
    words = 10 * len(heads)
    scores = {"uas": 100 * sum(heads) / words, "las": 100 * sum(arcs) / words, "upos": 99.0, "complete_labelled": 1.0}
    return Result(
        run=f"{system}-{seed}",
        treebank="made up",
        preset="paper",
        system=system,
        seed=seed,
        date="2018-06-01",
        scores=scores,
        conventions={"punctuation": "count", "labels": "whole", "tags": "predicted"},
        test={"sentences": len(heads), "words": words, "counted_words": words},
        arc_length=[],
        nonprojective=asdict(Row("non-projective", 0, 0, 0, 0, 0, 0)),
        sentence_counts={"words": [10] * len(heads), "uas": heads, "las": arcs},
        training={"seconds": 90.0, "epochs": 10},
        versions={},
        fingerprint="",
        identity={},
    )


def setting(paper_row: str | None = None, **results: Sequence[Result]) -> Setting:
    treebank = Treebank("made up", Path("test"), Path("train"), paper=paper_row)
    return Setting(treebank, "paper", "made up", {key.replace("_", "-"): found for key, found in results.items()})


def row_of(table: Table | None, number: int = 0) -> list[Cell | str]:
    assert table is not None
    return list(table.rows[number])


def test_the_better_system_is_bold_and_starred_only_if_it_is_better_by_more_than_luck() -> None:
    steady = [8, 7] * 30
    always_better = [right + 1 for right in steady]
    now_and_then = [right + (1 if number % 2 else -1) for number, right in enumerate(steady)]
    now_and_then[0] += 3
    made = setting(
        covington=[result("covington", steady, steady)],
        nl_covington=[result("nl-covington", always_better, now_and_then)],
    )
    label, note, *cells = row_of(comparison_table([made], "covington", "nl-covington", 1000))
    assert (label, note) == ("made up", "measured, seed 1")
    assert cells[:2] == [Cell("75.00"), Cell("75.00")]
    assert cells[2] == Cell("85.00", best=True, significant=True)
    assert cells[3] == Cell("75.50", best=True, significant=False)
    assert cells[4] == "< 0.001"
    assert isinstance(cells[5], str) and 0.05 < float(cells[5]) < 0.5
    swapped = row_of(
        comparison_table([setting(arc_swift=made.results["nl-covington"], nl_covington=made.results["covington"])],
                         "arc-swift", "nl-covington", 1000)
    )  # fmt: skip
    assert swapped[2] == Cell("85.00", best=True, significant=True)
    assert swapped[4] == Cell("75.00")


def test_of_two_equal_systems_both_are_best_and_none_is_significantly_so() -> None:
    same = [result(system, [5, 6, 7], [4, 4, 4]) for system in ("covington", "nl-covington")]
    made = setting(covington=same[:1], nl_covington=same[1:])
    cells = row_of(comparison_table([made], "covington", "nl-covington", 100))[2:]
    assert cells == [Cell("60.00", best=True), Cell("40.00", best=True)] * 2 + ["equal", "equal"]


def test_seeds_are_added_up_and_only_those_that_both_systems_have_are_compared() -> None:
    first = [result("covington", [4, 6], [4, 6], seed) for seed in (1, 2)]
    second = [result("nl-covington", [5, right], [5, right], seed) for seed, right in ((1, 7), (2, 9), (3, 0))]
    found = pair(first, second, 100)
    assert found is not None
    assert found.seeds == [1, 2]
    assert found.first["uas"] == pytest.approx(50)
    assert found.second["uas"] == pytest.approx(mean([60, 70]))
    assert pair(first[:1], second[1:2], 100) is None, "no seed in common"
    other_sentences = result("nl-covington", [5, 5, 5], [5, 5, 5], 1)
    assert pair(first, [other_sentences], 100) is None
    row = row_of(spread_table([setting(nl_covington=second)]))
    assert row[:5] == ["made up", "nl-covington", "1, 2, 3", "51.67", "25.00–70.00"]
    row = row_of(spread_table([setting(nl_covington=second[:1])]))
    assert row[3:5] == ["60.00", "–"], "one seed has no spread"


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


def test_signs_of_markdown_and_html_in_names_are_only_text() -> None:
    odd = "a|b *c* _d_ <e> & `f` [g](h)"
    blocks: list[Block] = [
        Heading(odd),
        Paragraph(odd),
        Items([odd]),
        Table([odd], [[Cell(odd, True, True)]]),
        Code("```\n" + odd),
    ]
    text = Page(to_page(odd, blocks, Path())).text
    assert sum(odd in part for part in text) == 7
    markdown = to_markdown(blocks)
    assert r"| **a\|b \*c\* \_d\_ \<e\> & \`f\` \[g\](h)**\* |" in markdown
    assert "````\n```\n" in markdown


# ---------------------------------------------------------------------------------------------------------------------
# The paper's figures.


def test_the_papers_figures_are_as_published() -> None:
    assert paper.SCORES["Danish"]["nl-covington"] == paper.Attachment(88.40, 82.77)
    assert paper.SCORES["Danish"]["covington"] == paper.Attachment(86.56, 81.18)
    assert paper.SCORES["Dutch"]["arc-swift"] == paper.Attachment(83.27, 80.14)
    assert paper.SCORES["Basque"]["nl-covington"] == paper.Attachment(75.45, 67.61)
    assert paper.SCORES["Arabic"]["covington"] == paper.Attachment(66.67, 53.24)
    assert "covington" not in paper.SCORES[paper.PT_SD]
    assert paper.SCORES[paper.PT_SD]["nl-covington"] == paper.Attachment(94.5, 92.4)
    assert paper.TRANSITIONS["Danish"] == paper.Transitions(66.77, 36.34)
    assert paper.TRANSITIONS[paper.PT_SD] == paper.Transitions(81.65, 46.92)
    assert len(paper.SCORES) == 20 and len(paper.PARSERS_ON_PT_SD) == 12
    assert paper.PARSERS_ON_PT_SD[10] == paper.PublishedParser("Shi et al. 2017", "dynamic programming", 94.5, None)


def test_the_papers_averages_follow_from_its_rows() -> None:
    conll = [row for name, row in paper.SCORES.items() if name != paper.PT_SD]
    for system, average in paper.AVERAGES.items():
        assert mean(row[system].uas for row in conll) == pytest.approx(average.uas, abs=0.005)
        assert mean(row[system].las for row in conll) == pytest.approx(average.las, abs=0.005)
    for key in ("covington", "nl_covington"):
        rows = [getattr(row, key) for row in paper.TRANSITIONS.values()]
        assert mean(rows) == pytest.approx(getattr(paper.AVERAGE_TRANSITIONS, key), abs=0.005)


def test_the_papers_stars_are_as_many_as_its_text_says() -> None:
    better = worse = 0
    for name, row in paper.SCORES.items():
        if paper.is_significant(name, "arc-swift", "nl-covington", "uas"):
            better += row["nl-covington"].uas > row["arc-swift"].uas
            worse += row["nl-covington"].uas < row["arc-swift"].uas
    assert (better, worse) == (7, 1)


# ---------------------------------------------------------------------------------------------------------------------
# Breakdowns over seeds.


def test_rows_of_several_seeds_are_added_up_by_their_names() -> None:
    one = [asdict(Row("root", 1, 1, 1, 2, 1, 0)), asdict(Row("left 1", 5, 4, 3, 5, 4, 3))]
    two = [asdict(Row("left 1", 5, 1, 1, 6, 2, 2)), asdict(Row("right 2", 0, 0, 0, 1, 0, 0))]
    assert summed_rows([one, two]) == [
        Row("root", 1, 1, 1, 2, 1, 0),
        Row("left 1", 10, 5, 4, 11, 6, 5),
        Row("right 2", 0, 0, 0, 1, 0, 0),
    ]


def test_arc_lengths_run_from_the_longest_to_the_left_to_the_longest_to_the_right() -> None:
    ordered = ["left 21+", "left 3-6", "left 1", "root", "right 2", "right 13-20"]
    rows = [Row(name, 1, 1, 1, 1, 1, 1) for name in sorted(ordered)]
    assert [row.name for row in from_left_to_right(rows)] == ordered


def test_non_projective_arcs_have_precision_and_recall_over_all_seeds() -> None:
    found = [result("covington", [1], [1], seed) for seed in (1, 2)]
    for one, row in zip(found, (Row("n", 10, 4, 2, 3, 3, 3), Row("n", 10, 6, 4, 5, 5, 1)), strict=True):
        one.nonprojective.update(asdict(row))
    row_of_table = row_of(nonprojective_table([setting(covington=found)]))
    assert row_of_table[2:7] == ["10", "4", "50.00", "30.00", "37.50"]
    assert row_of_table[7:] == ["100.00", "50.00", "66.67"]
