"""Edit scripts from word forms to lemmas, after Straka (2018): a rule learned from one word applies to others.

A script has three parts: casing, an edit of the start of the word, and an edit of its end. Between them stands the
longest common substring of form and lemma, which does not change. `→` keeps a character, `-` deletes one, and `+x`
inserts x. The casing part lists where upper (`↑`) or lower (`↓`) case starts in the lemma. For `Häuser` and `Haus` the
script is `↑0↓1|→-+a|--`. A lemma that equals its form has the script `=`, and one that shares nothing with it is
spelled out (`!be`).
"""

from __future__ import annotations

import re
from functools import lru_cache

SAME, ABSOLUTE = "=", "!"
LONGEST_CACHED = 64
"""Characters of a form whose lemma is cached, so that the cache is bounded in bytes."""
_CASING = re.compile(r"([↑↓])(-?\d+)")


@lru_cache(maxsize=1 << 16)
def make_script(form: str, lemma: str) -> str:
    """Return the script that turns a form into a lemma."""
    if form == lemma:
        return SAME
    low_form, low_lemma = form.lower(), lemma.lower()
    # Characters whose lower case has another length (İ) cannot be aligned by position.
    if len(low_form) == len(form) and len(low_lemma) == len(lemma):
        start, lemma_start, length = _longest_common_substring(low_form, low_lemma)
        if length:
            prefix = _edits(low_form[:start], low_lemma[:lemma_start])
            suffix = _edits(low_form[start + length :], low_lemma[lemma_start + length :])
            script = f"{_casing(lemma)}|{prefix}|{suffix}"
            if apply_script(form, script) == lemma:
                return script
    return ABSOLUTE + lemma


def apply_script(form: str, script: str) -> str:
    """Return the lemma of a form, or the form itself if the script does not apply to it."""
    return _cached_lemma(form, script) if len(form) <= LONGEST_CACHED else _lemma(form, script)


def _lemma(form: str, script: str) -> str:
    if script.startswith(ABSOLUTE):
        return script[1:] or form
    if script == SAME:
        return form
    casing, prefix, suffix = _split(script)
    low = form.lower()
    start, end = _consumed(prefix), len(low) - _consumed(suffix)
    if start > end:
        return form
    lemma = _edited(low[:start], prefix) + low[start:end] + _edited(low[end:], suffix)
    for case, position in _CASING.findall(casing):
        index = int(position) % len(lemma) if lemma else 0
        lemma = lemma[:index] + (lemma[index:].upper() if case == "↑" else lemma[index:].lower())
    return lemma or form


_cached_lemma = lru_cache(maxsize=1 << 16)(_lemma)


def _split(script: str) -> tuple[str, str, str]:
    """Split a script at its two bars; an inserted character may be a bar itself."""
    parts = [""]
    characters = iter(script)
    for character in characters:
        if character == "|":
            parts.append("")
        else:
            parts[-1] += character + (next(characters, "") if character == "+" else "")
    casing, prefix, suffix = (*parts, "", "")[:3]
    return casing, prefix, suffix


def _consumed(edits: str) -> int:
    """Return how many characters of the form the edits keep or delete."""
    count = 0
    characters = iter(edits)
    for character in characters:
        if character == "+":
            next(characters, None)
        else:
            count += 1
    return count


def _edited(text: str, edits: str) -> str:
    """Apply edits to a text of the length that they consume."""
    result = []
    position = 0
    characters = iter(edits)
    for character in characters:
        if character == "+":
            result.append(next(characters, ""))
            continue
        if character == "→":
            result.append(text[position])
        position += 1
    return "".join(result)


def _longest_common_substring(first: str, second: str) -> tuple[int, int, int]:
    """Return the starts in both texts and the length of the leftmost longest common substring."""
    best = (0, 0, 0)
    lengths = [0] * (len(second) + 1)
    for i, character in enumerate(first):
        previous = 0
        for j, other in enumerate(second):
            current = lengths[j + 1]
            lengths[j + 1] = previous + 1 if character == other else 0
            if lengths[j + 1] > best[2]:
                best = (i + 1 - lengths[j + 1], j + 1 - lengths[j + 1], lengths[j + 1])
            previous = current
    return best


def _edits(source: str, target: str) -> str:
    """Return the shortest edits from one text to another: keep, delete, insert."""
    # costs[i][j] is the least number of deletions and insertions from source[i:] to target[j:].
    costs = [[0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i in range(len(source), -1, -1):
        for j in range(len(target), -1, -1):
            if i == len(source) or j == len(target):
                costs[i][j] = len(source) - i + len(target) - j
            elif source[i] == target[j]:
                costs[i][j] = costs[i + 1][j + 1]
            else:
                costs[i][j] = 1 + min(costs[i + 1][j], costs[i][j + 1])
    edits = []
    i = j = 0
    while i < len(source) or j < len(target):
        if i < len(source) and j < len(target) and source[i] == target[j]:
            edits.append("→")
            i, j = i + 1, j + 1
        elif i < len(source) and (j == len(target) or costs[i + 1][j] <= costs[i][j + 1]):
            edits.append("-")
            i += 1
        else:
            edits.append("+" + target[j])
            j += 1
    return "".join(edits)


def _casing(lemma: str) -> str:
    """Return where upper and lower case start, counted from the nearer end."""
    runs = []
    is_upper = False
    for index, character in enumerate(lemma):
        if character.isupper() != is_upper or not index:
            is_upper = character.isupper()
            position = index if index <= len(lemma) // 2 else index - len(lemma)
            runs.append(f"{'↑' if is_upper else '↓'}{position}")
    return "".join(runs)
