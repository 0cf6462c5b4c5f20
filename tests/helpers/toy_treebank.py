"""A small artificial language whose trees follow from its words, some of them non-projective: enough to learn from."""

from __future__ import annotations

import random
from pathlib import Path

NOUNS = ["dog", "cat", "child", "bird", "house", "tree"]
VERBS = ["sees", "likes", "hears", "finds"]
ADJECTIVES = ["red", "small", "old"]


def toy_sentence(chooser: random.Random) -> list[tuple[str, str, int, str]]:
    """Form, tag, head and relation of each word."""
    words: list[list[str | int]] = []

    def add(form: str, tag: str, relation: str) -> int:
        words.append([form, tag, 0, relation])
        return len(words)

    def noun_phrase(relation: str) -> int:
        dependents = [add("the", "DET", "det")]
        if chooser.random() < 0.4:
            dependents.append(add(chooser.choice(ADJECTIVES), "ADJ", "amod"))
        noun = add(chooser.choice(NOUNS), "NOUN", relation)
        for dependent in dependents:
            words[dependent - 1][2] = noun
        return noun

    subject = noun_phrase("nsubj")
    verb = add(chooser.choice(VERBS), "VERB", "root")
    words[subject - 1][2] = verb
    obj = noun_phrase("obj")
    words[obj - 1][2] = verb
    if chooser.random() < 0.5:
        words[add("today", "ADV", "advmod") - 1][2] = verb
        if chooser.random() < 0.6:  # the relative clause crosses the arc to "today"
            which = add("which", "PRON", "nsubj")
            sleeps = add("sleeps", "VERB", "acl")
            words[which - 1][2] = sleeps
            words[sleeps - 1][2] = obj
    words[add(".", "PUNCT", "punct") - 1][2] = verb
    return [(str(form), str(tag), int(head), str(relation)) for form, tag, head, relation in words]


def toy_conllu(sentences: int, seed: int = 1) -> str:
    """A treebank as text."""
    chooser = random.Random(seed)
    lines = []
    for _ in range(sentences):
        for number, (form, tag, head, relation) in enumerate(toy_sentence(chooser), 1):
            features = "Number=Sing" if tag == "NOUN" else "_"
            lines.append(f"{number}\t{form}\t_\t{tag}\t{tag.lower()}\t{features}\t{head}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def write_toy_treebank(path: Path, sentences: int, seed: int = 1) -> Path:
    path.write_text(toy_conllu(sentences, seed))
    return path
