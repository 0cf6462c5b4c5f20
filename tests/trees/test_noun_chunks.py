"""Base noun phrases."""

from __future__ import annotations

import pytest

from longarc.trees.noun_chunks import noun_chunks

SENTENCES = {
    "a relative clause that crosses": (
        "I/PRON/2/nsubj met/VERB/0/root a/DET/4/det man/NOUN/2/obj yesterday/NOUN/2/obl:unmarked who/PRON/7/nsubj "
        "speaks/VERB/4/acl:relcl nine/NUM/9/nummod languages/NOUN/7/obj ./PUNCT/2/punct",
        ["I", "a man", "yesterday", "who", "nine languages"],
    ),
    "prepositions and coordination": (
        "the/DET/3/det old/ADJ/3/amod cat/NOUN/8/nsubj and/CCONJ/6/cc a/DET/6/det dog/NOUN/3/conj quietly/ADV/8/advmod "
        "sleep/VERB/0/root in/ADP/11/case her/PRON/11/nmod:poss house/NOUN/8/obl",
        ["the old cat", "a dog", "her house"],
    ),
    "a noun as predicate": (
        "She/PRON/5/nsubj is/AUX/5/cop not/PART/5/advmod a/DET/5/det doctor/NOUN/0/root",
        ["She", "a doctor"],
    ),
    "possessors and compounds are inside": (
        "the/DET/2/det man/NOUN/5/nmod:poss 's/PART/2/case bus/NOUN/5/compound ticket/NOUN/6/nsubj expired/VERB/0/root",
        ["the man 's bus ticket"],
    ),
    "names": ("Ada/PROPN/3/nsubj Lovelace/PROPN/1/flat wrote/VERB/0/root it/PRON/3/obj", ["Ada Lovelace", "it"]),
    "expletives": ("there/PRON/2/expl is/VERB/0/root hope/NOUN/2/nsubj", ["hope"]),
    "a modifier elsewhere": (
        "nine/NUM/3/nummod speaks/VERB/0/root languages/NOUN/2/obj",
        ["languages"],
    ),
    "a noun in an adjective": (
        "a/DET/4/det language/NOUN/3/obj learning/VERB/4/amod child/NOUN/5/nsubj reads/VERB/0/root",
        ["a language learning child"],
    ),
}


@pytest.mark.parametrize(("text", "chunks"), SENTENCES.values(), ids=SENTENCES)
def test_chunks_are_nouns_with_their_modifiers(text: str, chunks: list[str]) -> None:
    forms, tags, heads, relations = zip(*(word.split("/") for word in text.split()), strict=True)
    spans = noun_chunks([0, *map(int, heads)], ["", *relations], ["", *tags])
    assert [" ".join(forms[first - 1 : last]) for first, last in spans] == chunks
