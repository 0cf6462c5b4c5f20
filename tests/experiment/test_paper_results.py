"""The paper's published figures."""

from __future__ import annotations

from statistics import mean

import pytest

from longarc.experiment import paper_results as paper


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
