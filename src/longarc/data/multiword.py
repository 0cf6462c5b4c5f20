"""Rules learnt from a treebank for splitting multiword tokens into words.

A known token is split as it was most often; any other by its longest known ending. From `don't` = `do` + `n't` we learn
to split off `n't`, and from Portuguese `dos` = `de` + `os` to replace `-os` by `-e` + `os`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

CONTEXT = 3
"""Endings are learnt with up to so many characters before the part that changes."""


class MultiwordRules:
    """How to split known tokens, and tokens with known endings; both are in lower case."""

    def __init__(self, tokens: Mapping[str, Sequence[str]], endings: Mapping[str, Sequence[str]]) -> None:
        self.tokens = {form: list(words) for form, words in tokens.items()}
        """The words of each known token."""
        self.endings = {ending: list(words) for ending, words in endings.items()}
        """The replacement for each ending: the end of the first word, and the other words."""
        self._longest = max(map(len, self.endings), default=0)

    @classmethod
    def learn(cls, tokens: Iterable[tuple[str, Sequence[str]]]) -> MultiwordRules:
        """Learn from all occurrences of multiword tokens, each with its words."""
        counts = Counter((form.lower(), tuple(word.lower() for word in words)) for form, words in tokens)
        endings: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for (form, words), count in counts.items():
            same = _common_prefix(form, words[0])
            for context in range(min(CONTEXT, same) + 1):
                start = same - context
                endings[form[start:], (words[0][start:], *words[1:])] += count
        return cls(_most_frequent(counts), _most_frequent(endings))

    def split(self, form: str) -> list[str]:
        """Return the words of a token, or only the token itself if no rule applies."""
        low = form.lower()
        if low in self.tokens:
            return _cased(self.tokens[low], form)
        for length in range(min(self._longest, len(low)), 0, -1):
            words = self.endings.get(low[-length:])
            if words is not None and len(low) > length:
                return _cased([low[:-length] + words[0], *words[1:]], form)
        return [form]


def _common_prefix(first: str, second: str) -> int:
    """Return the length of the common prefix of two words."""
    pairs = zip(first, second, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _most_frequent(counts: Counter[tuple[str, tuple[str, ...]]]) -> dict[str, list[str]]:
    """Return the most frequent words of each token or ending."""
    best: dict[str, list[str]] = {}
    for (key, words), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if key:
            best.setdefault(key, list(words))
    return best


def _cased(words: Sequence[str], form: str) -> list[str]:
    """Return the words with the capitalisation of the token."""
    if "".join(words) == form.lower():
        starts = [sum(map(len, words[:number])) for number in range(len(words))]
        return [form[start : start + len(word)] for start, word in zip(starts, words, strict=True)]
    if form.isupper() and len(form) > 1:
        return [word.upper() for word in words]
    if form[:1].isupper():
        return [words[0][:1].upper() + words[0][1:], *words[1:]]
    return list(words)
