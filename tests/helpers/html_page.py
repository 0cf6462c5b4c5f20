"""Parse an HTML page and check that its tags match."""

from __future__ import annotations

from html.parser import HTMLParser


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
