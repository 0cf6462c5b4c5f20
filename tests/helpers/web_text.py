"""Short texts as people write them on the web, with the tokens and sentences that an English tokenizer should find."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from longarc.runtime.tokenizer import Tokenizer

WEB_TEXT = Path(__file__).with_name("web_text.tsv")
SENTENCE_END = "‖"


@dataclass(frozen=True)
class WebTextCase:
    """A text and the tokens of its sentences."""

    text: str
    sentences: list[list[str]]


def read_web_text(path: Path = WEB_TEXT) -> list[WebTextCase]:
    """Read the cases of a file, whose first lines describe its format."""
    cases = []
    for line in path.read_text("utf-8").splitlines():
        text, tab, tokens = line.partition("\t")
        if tab:
            sentences = [sentence.split() for sentence in tokens.split(SENTENCE_END)]
            cases.append(WebTextCase(text.replace("\\r", "\r").replace("\\n", "\n"), sentences))
    return cases


def surface_tokens(tokenizer: Tokenizer, text: str) -> list[list[str]]:
    """Return the tokens of each sentence as they are in the text."""
    return [[text[span.start : span.end] for span in sentence] for sentence in tokenizer.spans(text)]
