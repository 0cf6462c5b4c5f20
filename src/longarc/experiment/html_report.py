"""The report as one HTML page without external files, readable on phones and on dark screens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

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
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { background: var(--soft); white-space: normal; vertical-align: bottom; }
td:first-child, th:first-child { position: sticky; left: 0; background: var(--ground); }
th:first-child { background: var(--soft); }
sup { display: inline-block; width: 0; line-height: 0; }
svg { display: block; max-width: 100%; height: auto; }
pre { overflow-x: auto; padding: .75rem; background: var(--soft); font-size: .85rem; }
svg text { fill: currentColor; }
@media (max-width: 40rem) { td:not([style]) { white-space: normal; } th, td { padding: .25rem .4rem; } }
@media print { body { max-width: none; } pre { white-space: pre-wrap; } }
"""


def to_page(title: str, markdown: str, folder: Path) -> str:
    """Return the page; the SVG files that the Markdown names, relative to `folder`, become part of it."""
    numbers = count(1)

    def image(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
        path = folder / unquote(str(tokens[index].attrs["src"]))
        description = "".join(child.content for child in tokens[index].children or ())
        drawing = inline_svg(path.read_text("utf-8"), f"p{next(numbers)}-", description)
        return f"{drawing}<small>{escape(description)}</small>"

    converter = MarkdownIt("commonmark", {"html": False}).enable("table")
    converter.add_render_rule("image", image)
    converter.add_render_rule("table_open", lambda *_: '<div class="wide"><table>\n')
    converter.add_render_rule("table_close", lambda *_: "</table></div>\n")
    # The star of a significant figure takes no width, so that digits stay aligned.
    body = converter.render(markdown).replace("</strong>*", "</strong><sup>*</sup>")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{body}</body>
</html>
"""


def inline_svg(text: str, prefix: str, description: str) -> str:
    """Return an SVG file of matplotlib as an HTML element.

    Identifiers get a prefix, because several pictures of a page may use the same. Black becomes the text colour and
    white transparent, for dark screens.
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
