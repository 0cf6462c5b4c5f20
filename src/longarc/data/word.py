"""The words, tokens and arcs of a sentence, as objects to walk over.

They are views: they read the rows of their sentence when asked, and so always show its present annotation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from longarc.data.raw_text import spaces_around
from longarc.data.sentence import DEPREL, FEATS, FORM, HEAD, ID, LEMMA, MISC, UPOS, XPOS, Sentence


class Arc(NamedTuple):
    """An arc of a dependency tree; the head of the root's arc is None.

    >>> sentence = longarc.load()("She left.")[0]
    >>> [(arc.relation, arc.dependent.text) for arc in sentence.arcs]
    [('nsubj', 'She'), ('root', 'left'), ('punct', '.')]
    """

    head: Word | None
    relation: str
    dependent: Word


class Word:
    """A syntactic word: one node of the tree.

    >>> word = longarc.load()("She reads long books.")[0][3]
    >>> word.text, word.upos, word.relation, word.head.text
    ('books', 'NOUN', 'obj', 'reads')
    >>> [child.text for child in word.children]
    ['long']
    """

    __slots__ = ("index", "sentence")

    def __init__(self, sentence: Sentence, index: int) -> None:
        self.sentence = sentence
        self.index = index
        """The position in the sentence, from 0: `word.sentence[word.index] == word`"""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word) and self.sentence is other.sentence and self.index == other.index

    def __hash__(self) -> int:
        return hash((id(self.sentence), self.index))

    def __repr__(self) -> str:
        return f"<Word {self.id} {self.text}>"

    def __str__(self) -> str:
        return self.text

    @property
    def row(self) -> list[str]:
        """The ten columns of the word."""
        return self.sentence.word_rows[self.index]

    @property
    def id(self) -> int:
        """The number of the word in CoNLL-U, from 1."""
        return self.index + 1

    @property
    def text(self) -> str:
        """The form of the word."""
        return self.row[FORM]

    @property
    def lemma(self) -> str:
        """The lemma; empty if there is none."""
        return self.row[LEMMA] if self.row[FORM] == "_" else _value(self.row[LEMMA])

    @property
    def upos(self) -> str:
        """The universal part of speech; empty if there is none."""
        return _value(self.row[UPOS])

    @property
    def xpos(self) -> str:
        """The treebank's own part of speech; empty if there is none."""
        return _value(self.row[XPOS])

    @property
    def feats(self) -> dict[str, str]:
        """The morphological features, such as `{"Number": "Plur"}`."""
        return _mapping(self.row[FEATS])

    @property
    def misc(self) -> dict[str, str]:
        """The entries of the last column of CoNLL-U, such as `{"SpaceAfter": "No"}`."""
        return _mapping(self.row[MISC]) if self.sentence.format == "conllu" else {}

    @property
    def relation(self) -> str:
        """The relation to the head, such as `nsubj`; empty if there is none."""
        return _value(self.row[DEPREL])

    @property
    def head_index(self) -> int | None:
        """The position of the head in the sentence, from 0; None for the root and for a word without a head."""
        head = self.row[HEAD]
        return None if head in ("0", "_") else int(head) - 1

    @property
    def head(self) -> Word | None:
        """The head; None for the root and for a word without a head."""
        index = self.head_index
        return None if index is None else Word(self.sentence, index)

    @property
    def is_root(self) -> bool:
        """Whether the word is the root of its sentence."""
        return self.row[HEAD] == "0"

    @property
    def children(self) -> list[Word]:
        """The dependents of the word, from left to right."""
        rows, head = self.sentence.word_rows, str(self.id)
        return [Word(self.sentence, index) for index, row in enumerate(rows) if row[HEAD] == head]

    @property
    def left_children(self) -> list[Word]:
        """The dependents before the word."""
        return [child for child in self.children if child.index < self.index]

    @property
    def right_children(self) -> list[Word]:
        """The dependents after the word."""
        return [child for child in self.children if child.index > self.index]

    @property
    def subtree(self) -> list[Word]:
        """The word and all its descendants, from left to right."""
        children: dict[str, list[int]] = {}
        for index, row in enumerate(self.sentence.word_rows):
            children.setdefault(row[HEAD], []).append(index)
        reached = {self.index}
        pending = [self.index]
        while pending:
            below = [index for index in children.get(str(pending.pop() + 1), []) if index not in reached]
            reached.update(below)
            pending += below
        return [Word(self.sentence, index) for index in sorted(reached)]

    @property
    def ancestors(self) -> list[Word]:
        """The head, the head's head and so on, up to the root."""
        words: list[Word] = []
        word = self.head
        while word is not None and word not in words:
            words.append(word)
            word = word.head
        return words

    def path_to(self, other: Word) -> list[Word]:
        """Return the words from this one to another along the arcs, both included; [] if no path joins them.

        >>> she, reads, _, books, _ = longarc.load()("She reads long books.")[0]
        >>> [word.text for word in she.path_to(books)]
        ['She', 'reads', 'books']
        """
        above, other_above = [self, *self.ancestors], [other, *other.ancestors]
        common = next((word for word in above if word in other_above), None)
        if common is None:
            return []
        return above[: above.index(common) + 1] + other_above[: other_above.index(common)][::-1]

    @property
    def arc(self) -> Arc:
        """The arc from the head to the word."""
        return Arc(self.head, self.relation, self)

    @property
    def crosses(self) -> list[Arc]:
        """The arcs that the arc of the word crosses."""
        from longarc.trees.structure import crossing_arcs

        crossed = crossing_arcs(self.sentence.node_heads)[self.id]
        return [self.sentence[node - 1].arc for node in crossed.nonzero()[0].tolist()]

    @property
    def probability(self) -> float | None:
        """The probability of the transition that added the word's arc, relation included, among the legal ones.

        None if the word was not parsed, or if no transition attached it.
        """
        probabilities = self.sentence.probabilities
        if probabilities is None:
            recorded = self.misc.get("Prob", "")
            return float(recorded) if recorded.replace(".", "", 1).isdecimal() else None
        probability = float(probabilities[self.id])
        return None if math.isnan(probability) else probability

    @property
    def token(self) -> Token:
        """The token that the word is, or that contains it."""
        return next(token for token in self.sentence.tokens if token.first <= self.index <= token.last)

    @property
    def start(self) -> int:
        """The position in the text of the document where the word starts; a multiword token's for all its words."""
        return self.sentence.start + self.sentence.offsets[self.index][0]

    @property
    def end(self) -> int:
        """The position in the text of the document where the word ends; a multiword token's for all its words."""
        return self.sentence.start + self.sentence.offsets[self.index][1]

    @property
    def space_after(self) -> bool:
        """Whether white space follows the word in the text."""
        token = self.token
        return token.space_after and token.last == self.index


class Token:
    """A token of the text: a word, or several words that are written as one, such as French *du* (*de* + *le*).

    >>> token = longarc.load()("She cannot read.")[0].tokens[1]
    >>> token.text, [word.text for word in token.words]
    ('cannot', ['can', 'not'])
    """

    __slots__ = ("first", "last", "row", "sentence")

    def __init__(self, sentence: Sentence, row: list[str], first: int, last: int) -> None:
        self.sentence = sentence
        self.row = row
        """The ten columns of the token"""
        self.first = first
        """The position of its first word in the sentence, from 0"""
        self.last = last
        """The position of its last word"""

    def __repr__(self) -> str:
        return f"<Token {self.row[ID]} {self.text}>"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The form of the token, as in the text."""
        return self.row[FORM]

    @property
    def words(self) -> list[Word]:
        """The words of the token: more than one for a multiword token."""
        return [Word(self.sentence, index) for index in range(self.first, self.last + 1)]

    @property
    def is_multiword(self) -> bool:
        """Whether the token consists of several words."""
        return "-" in self.row[ID]

    @property
    def start(self) -> int:
        """The position in the text of the document where the token starts."""
        return self.words[0].start

    @property
    def end(self) -> int:
        """The position in the text of the document where the token ends."""
        return self.words[0].end

    @property
    def spaces_after(self) -> str:
        """The white space that follows the token in the text."""
        return spaces_around(self.row)[1]

    @property
    def space_after(self) -> bool:
        """Whether white space follows the token in the text."""
        return bool(self.spaces_after)


def _value(cell: str) -> str:
    return "" if cell == "_" else cell


def _mapping(cell: str) -> dict[str, str]:
    return {} if cell == "_" else {key: value for key, _, value in (item.partition("=") for item in cell.split("|"))}
