"""Made-up documents for the tests of `longarc parse-corpus`, and what `longarc parse` writes for them."""

from __future__ import annotations

import io
import random
from pathlib import Path

from longarc.runtime.parser import Parser
from longarc.runtime.pipeline import InputOptions, ParseOptions, parse_files
from tests.helpers.toy_treebank import toy_sentence


def toy_text(sentences: int, seed: int) -> str:
    """Return running text in the toy language, with paragraphs."""
    chooser = random.Random(seed)
    text = ""
    for _ in range(sentences):
        words = [form for form, _, _, _ in toy_sentence(chooser)]
        text += " ".join(words[:-1]).capitalize() + words[-1] + chooser.choice([" ", " ", "\n\n"])
    return text


def write_texts(folder: Path, count: int, sentences: int = 8) -> dict[str, str]:
    """Write documents to text files and return them by path."""
    folder.mkdir(exist_ok=True)
    texts = {str(folder / f"{number:03}.txt"): toy_text(sentences, number) for number in range(count)}
    for path, text in texts.items():
        Path(path).write_text(text, "utf-8")
    return texts


def parsed_by_command(parser: Parser, text: str, folder: Path, *, ranges: bool = False) -> str:
    """Return what `longarc parse` writes for a document."""
    options = ParseOptions(InputOptions("text", ranges=ranges))
    parse_files(parser, [io.BytesIO(text.encode())], folder / "expected.conllu", options)
    return (folder / "expected.conllu").read_text("utf-8")


def documents_in(folder: Path) -> list[tuple[str, str]]:
    """Return the id and the CoNLL-U of each document in the shards of a folder, without the comment with the id."""
    text = "".join(path.read_text("utf-8") for path in sorted(folder.glob("*.conllu")))
    before, *documents = text.split("# newdoc id = ")
    assert not before
    return [(id, content) for id, _, content in (document.partition("\n") for document in documents)]
