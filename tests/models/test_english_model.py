"""The English model that comes with Longarc: it is small, says where it comes from, and parses what is typed."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from longarc.data.raw_text import text_of
from longarc.runtime.installed_models import DEFAULT, EMBEDDED
from longarc.runtime.model_file import read_card
from longarc.runtime.parser import Parser
from longarc.trees.structure import is_projective
from tests.helpers.command import LONGARC
from tests.helpers.paths import ROOT
from tests.helpers.web_text import read_web_text, surface_tokens

MODEL = EMBEDDED / f"{DEFAULT}.longarc"
README = ROOT / "README.md"
EXTRAPOSED = "I met a man yesterday who speaks nine languages."


def test_its_card_says_what_it_is_and_whom_to_name() -> None:
    card = read_card(MODEL)
    assert "UD_English-EWT" in card["treebank"]
    assert "CC BY-SA 4.0" in card["licence"]
    assert "Silveira" in card["attribution"] and "MiniLM" in card["attribution"]
    assert card["scores"]["test_las"] > 89 and card["scores"]["dev_las"] > card["float32_scores"]["dev_las"] - 0.2
    assert MODEL.stat().st_size < 25_000_000, "site-packages must stay under 240 MB"


def test_a_clause_far_from_its_noun_is_attached_to_it(english: Parser) -> None:
    (sentence,) = english(EXTRAPOSED)
    heads = {word.text: word.head.text if word.head else "" for word in sentence}
    relations = {word.text: word.relation for word in sentence}
    assert heads["speaks"] == "man" and relations["speaks"] == "acl:relcl"
    assert heads["who"] == "speaks" and heads["yesterday"] == "met" and heads["met"] == ""
    assert not is_projective(sentence.node_heads)
    assert " ".join(token.upos for token in sentence) == "PRON VERB DET NOUN NOUN PRON VERB NUM NOUN PUNCT"


def test_the_readme_begins_with_a_tree() -> None:
    """What its first command does after the installation."""
    (first, *_) = re.findall(r"```sh\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    _, _, command = first.partition("&&")
    program, *options = shlex.split(command)
    assert program == "longarc" and EXTRAPOSED in options
    run = [*LONGARC, *options]
    shown = subprocess.run(run, capture_output=True, check=True).stdout.decode()
    assert [line.split()[-3] for line in shown.splitlines() if line.strip()] == [*EXTRAPOSED[:-1].split(), "."]
    assert "acl:relcl" in shown


@pytest.mark.parametrize(
    "text",
    [
        "It's Mr. Smith's dog, isn't it? Yes!\n\nThey don't know.",
        "see https://example.org/a?b=c\u200b :-) 👩‍👩‍👧 $3.50 (approx.)",
        "no full stop",
        "",
        "مرحبا بالعالم. Hello.",
    ],
)
def test_no_character_of_a_text_is_lost(english: Parser, text: str) -> None:
    assert text_of(english(text)) == text


def test_words_and_sentences_are_those_of_the_treebank(english: Parser) -> None:
    found = [sentence.forms for sentence in english("She didn't go. We can't wait!")]
    assert found == [["She", "did", "n't", "go", "."], ["We", "ca", "n't", "wait", "!"]]


def test_it_splits_text_of_the_web(english: Parser) -> None:
    cases = read_web_text()
    right = sum(surface_tokens(english.tokenizer, case.text) == case.sentences for case in cases)
    assert right >= 0.93 * len(cases)
