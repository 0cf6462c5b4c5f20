"""Reports escape Markdown and HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from longarc.experiment.html_report import to_page
from longarc.experiment.report_markdown import Cell, Table, bullets, code, escape, heading, picture
from tests.helpers.html_page import Page


def test_signs_of_markdown_and_html_in_names_are_only_text() -> None:
    odd = "a|b *c* _d_ <e> & `f` [g](h)"
    blocks = [
        heading(odd),
        escape(odd),
        bullets([odd]),
        str(Table([odd], [[Cell(odd, True, True)]])),
        code("```\n" + odd),
    ]
    markdown = "\n\n".join(blocks)
    text = Page(to_page(odd, markdown, Path())).text
    assert sum(odd in part for part in text) == 7
    assert r"| **a\|b \*c\* \_d\_ \<e\> & \`f\` \[g\](h)**\* |" in markdown
    assert "````\n```\n" in markdown


@pytest.mark.parametrize(
    "name", ["1. one", "# one", "- one", "+ one", "~~~", "one #", "&lt;one&#42;", "**", "\\*", "2)"]
)
def test_names_that_look_like_markup_are_shown_as_they_are(name: str) -> None:
    for markdown in (heading(name), escape(name), bullets([name]), str(Table(["x"], [[Cell(name, best=True)]]))):
        page = Page(to_page("page", markdown, Path()))
        assert name in [text.strip() for text in page.text], markdown
        assert not {"hr", "ol", "code"} & set(page.tags), markdown
        assert page.tags.count("h2") == (markdown == heading(name))


def test_bold_cells_stars_and_alignment_reach_the_page() -> None:
    table = Table(["name", "LAS"], [["x", Cell("88.40", best=True, significant=True)]])
    page = to_page("page", str(table), Path())
    assert "<td>x</td>" in page
    assert '<td style="text-align:right"><strong>88.40</strong><sup>*</sup></td>' in page


def test_pictures_become_part_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><path id="a"/><use xlink:href="#a"/></svg>'
    for name in ("Größe_1.svg", "b.svg"):
        (tmp_path / "plots" / name).write_text(svg)
    markdown = "\n\n".join(picture(Path("plots") / name, 'a "b" <c> | d') for name in ("Größe_1.svg", "b.svg"))
    page = Page(to_page("page", markdown, tmp_path))
    assert page.tags.count("svg") == 2 and "img" not in page.tags
    assert page.identifiers == ["p1-a", "p2-a"] and page.references == ["#p1-a", "#p2-a"]
    assert page.text.count('a "b" <c> | d') == 2
