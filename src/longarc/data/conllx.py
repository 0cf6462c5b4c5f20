"""Convert sentences between CoNLL-U and CoNLL-X, which differ in the meaning of the last two columns."""

from __future__ import annotations

import re
from collections import Counter

from longarc.data.sentence import DEPS, MISC, Sentence, is_comment, is_empty_node, is_multiword

PHEAD, PDEPREL = DEPS, MISC
"""The last two columns of CoNLL-X: head and relation in a projective version of the tree."""


def to_conllu(sentence: Sentence) -> Sentence:
    """Return the sentence in CoNLL-U; PHEAD and PDEPREL are moved to MISC."""
    if sentence.format == "conllu":
        return sentence
    result = sentence.copy()
    for row in result.word_rows:
        projective = {"PHEAD": row[PHEAD], "PDEPREL": _escape(row[PDEPREL])}
        row[DEPS] = "_"
        row[MISC] = "|".join(f"{key}={value}" for key, value in projective.items() if value != "_") or "_"
    result.format = "conllu"
    return result


def to_conllx(sentence: Sentence) -> Sentence:
    """Return the sentence in CoNLL-X: words only, PHEAD and PDEPREL from MISC, `_` for spaces in fields."""
    if sentence.format == "conllx":
        return sentence
    rows = []
    for word in sentence.word_rows:
        misc = dict(item.partition("=")[::2] for item in word[MISC].split("|"))
        row = [field.replace(" ", "_") for field in word[:DEPS]]
        rows.append([*row, misc.get("PHEAD", "_"), _unescape(misc.get("PDEPREL", "_"))])
    return Sentence(rows, newline=sentence.newline, trail=sentence.newline * 2, format="conllx", line=sentence.line)


def _escape(text: str) -> str:
    """Write `|`, which separates attributes in MISC, as `\\p`, as elsewhere in UD."""
    return text.replace("\\", "\\\\").replace("|", "\\p")


def _unescape(text: str) -> str:
    return re.sub(r"\\([\\p])", lambda match: "|" if match[1] == "p" else "\\", text)


def lost_in_conllx(sentence: Sentence) -> Counter[str]:
    """Count what `to_conllx` leaves out, by kind."""
    lost: Counter[str] = Counter()
    if sentence.format == "conllx":
        return lost
    lost["comments"] = len(sentence.comments) + sum(map(is_comment, sentence.rows))
    lost["multiword tokens"] = sum(map(is_multiword, sentence.rows))
    lost["empty nodes"] = sum(map(is_empty_node, sentence.rows))
    lost["DEPS values"] = sum(word[DEPS] != "_" for word in sentence.word_rows)
    lost["spaces in FORM, LEMMA or other columns"] = sum(" " in "".join(word[:DEPS]) for word in sentence.word_rows)
    for word in sentence.word_rows:
        keys = {item.partition("=")[0] for item in word[MISC].split("|")} - {"_", "PHEAD", "PDEPREL"}
        lost["MISC values"] += bool(keys)
    return +lost
