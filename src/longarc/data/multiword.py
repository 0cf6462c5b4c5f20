"""Into which words a multiword token is split, learnt from those of a treebank.

A token that was seen is split as it was most often; another as those that end like it. What is learnt of `don't` = `do`
+ `n't` is that `n't` comes off, what of Portuguese `dos` = `de` + `os` that `-os` becomes `-e` + `os`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

CONTEXT = 3
"""How many characters before the end that changes an ending may take in, to tell more of its kind from fewer."""


class MultiwordRules:
    """Whole tokens and endings, all in lower case."""

    def __init__(self, tokens: Mapping[str, Sequence[str]], endings: Mapping[str, Sequence[str]]) -> None:
        self.tokens = {form: list(words) for form, words in tokens.items()}
        """The words of each token that was seen."""
        self.endings = {ending: list(words) for ending, words in endings.items()}
        """What stands in place of an ending: the end of the first word, and the other words."""
        self._longest = max(map(len, self.endings), default=0)

    @classmethod
    def learn(cls, tokens: Iterable[tuple[str, Sequence[str]]]) -> MultiwordRules:
        """From tokens and their words, as often as they occur."""
        counts = Counter((form.lower(), tuple(word.lower() for word in words)) for form, words in tokens)
        endings: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for (form, words), count in counts.items():
            same = _shared_start(form, words[0])
            for context in range(min(CONTEXT, same) + 1):
                start = same - context
                endings[form[start:], (words[0][start:], *words[1:])] += count
        return cls(_most_frequent(counts), _most_frequent(endings))

    def split(self, form: str) -> list[str]:
        """The words of a token; the token itself where nothing is known of how it could be split."""
        low = form.lower()
        if low in self.tokens:
            return _cased(self.tokens[low], form)
        for length in range(min(self._longest, len(low)), 0, -1):
            found = self.endings.get(low[-length:])
            if found is not None and len(low) > length:
                return _cased([low[:-length] + found[0], *found[1:]], form)
        return [form]


def _shared_start(first: str, second: str) -> int:
    """How many characters two words have in common from the start."""
    pairs = zip(first, second, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _most_frequent(counts: Counter[tuple[str, tuple[str, ...]]]) -> dict[str, list[str]]:
    best: dict[str, list[str]] = {}
    for (key, words), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if key:
            best.setdefault(key, list(words))
    return best


def _cased(words: Sequence[str], form: str) -> list[str]:
    """The words with the capitals of the token."""
    if "".join(words) == form.lower():
        starts = [sum(map(len, words[:number])) for number in range(len(words))]
        return [form[start : start + len(word)] for start, word in zip(starts, words, strict=True)]
    if form.isupper() and len(form) > 1:
        return [word.upper() for word in words]
    if form[:1].isupper():
        return [words[0][:1].upper() + words[0][1:], *words[1:]]
    return list(words)
