"""A report as one HTML page that needs nothing else: no network, no other file; for phones, and for dark screens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from longarc.experiment.report_blocks import Block, Cell, Code, Heading, Items, Paragraph, Picture, Table

STYLE = """
:root { color-scheme: light dark; --text: #1c1c1c; --ground: #fff; --line: #d5d5d5; --soft: #f5f5f3; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e0; --ground: #16181a; --line: #3b3e41; --soft: #212427; }
}
body { margin: 0 auto; padding: 1rem; max-width: 64rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--ground); }
h1, h2, h3 { line-height: 1.2; margin: 2rem 0 .5rem; }
h1 { margin-top: 0; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { background: var(--soft); white-space: normal; vertical-align: bottom; }
.words { text-align: left; }
td:first-child, th:first-child { position: sticky; left: 0; background: var(--ground); }
th:first-child { background: var(--soft); }
sup { display: inline-block; width: 0; line-height: 0; }
figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-size: .9rem; }
pre { overflow-x: auto; padding: .75rem; background: var(--soft); font-size: .85rem; }
svg text { fill: currentColor; }
@media (max-width: 40rem) { .words { white-space: normal; } th, td { padding: .25rem .4rem; } }
@media print { body { max-width: none; } pre { white-space: pre-wrap; } }
"""


def to_page(title: str, blocks: Sequence[Block], folder: Path) -> str:
    """The page; pictures are read from the folder that their paths are relative to, and become part of it."""
    body = "\n".join(_html(block, folder, number) for number, block in enumerate(blocks))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _html(block: Block, folder: Path, number: int) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Items(texts):
            return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"
        case Code(text):
            return f"<pre><code>{escape(text.rstrip())}</code></pre>"
        case Picture(path, description):
            drawing = inline_svg((folder / path).read_text("utf-8"), f"p{number}-", description)
            return f"<figure>{drawing}<figcaption>{escape(description)}</figcaption></figure>"
        case Table():
            return _html_table(block)


def _html_table(table: Table) -> str:
    def row(cells: Sequence[Cell | str], tag: str) -> str:
        fields = []
        for column, cell in enumerate(cells):
            place = ' class="words"' if column < table.texts else ""
            fields.append(f"<{tag}{place}>{_html_cell(cell)}</{tag}>")
        return f"<tr>{''.join(fields)}</tr>"

    head = row(list(table.head), "th")
    body = "\n".join(row(cells, "td") for cells in table.rows)
    return f'<div class="wide"><table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _html_cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return escape(cell)
    text = f"<b>{escape(cell.text)}</b>" if cell.best else escape(cell.text)
    return text + ("<sup>*</sup>" if cell.significant else "")


def inline_svg(text: str, prefix: str, description: str) -> str:
    """An SVG file of matplotlib as an element of a page.

    Names within it get a prefix, so that those of several pictures do not clash; black becomes the colour of the text
    and white no colour, so that it can be read on a dark screen.
    """
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns(:xlink)?="[^"]*"', "", text)
    text = text.replace("xlink:href", "href")
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = re.sub(r"url\(#", f"url(#{prefix}", text)
    text = text.replace("#ffffff", "none").replace("#000000", "currentColor")
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1).strip()
