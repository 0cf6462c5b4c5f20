"""A sentence as the parser gives it back: with probabilities, tokens to iterate over, and its transitions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longarc.data.conllx import to_conllu
from longarc.data.sentence import DEPREL, FEATS, FORM, HEAD, ID, LEMMA, MISC, UPOS, XPOS, Sentence
from longarc.transitions import get_system
from longarc.transitions.static_oracle import pad_heads


@dataclass(frozen=True)
class Token:
    """One word of a parsed sentence."""

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str
    misc: str
    probability: float | None
    """Of the transition that made the word's arc, relation included, among those that were legal then; None for a word
    that no transition attached."""


class ParsedSentence(Sentence):
    """A sentence with the parser's columns in place."""

    __slots__ = ("probabilities", "system")

    def __init__(self, sentence: Sentence, system: str, probabilities: NDArray[np.float64] | None) -> None:
        super().__init__(
            sentence.rows,
            sentence.words,
            lead=sentence.lead,
            newline=sentence.newline,
            trail=sentence.trail,
            format=sentence.format,
            line=sentence.line,
        )
        self.system = system
        self.probabilities = probabilities
        """[n + 1] by node; None if they were not asked for"""

    def __iter__(self) -> Iterator[Token]:
        for number, word in enumerate(self.words, 1):
            probability = math.nan if self.probabilities is None else float(self.probabilities[number])
            yield Token(
                id=int(word[ID]),
                form=word[FORM],
                lemma=word[LEMMA],
                upos=word[UPOS],
                xpos=word[XPOS],
                feats=word[FEATS],
                head=int(word[HEAD]),
                relation=word[DEPREL],
                misc=word[MISC],
                probability=None if math.isnan(probability) else probability,
            )

    def to_conllu(self) -> str:
        """The sentence in CoNLL-U, with the blank line after it."""
        return to_conllu(self).to_conll()

    def transitions(self, system: str | None = None) -> list[str]:
        """The transitions that build this tree, in the parser's system unless another is named."""
        definition = get_system(system or self.system)
        lengths, gold = pad_heads([self.heads])
        state = definition.initial(lengths, single_root=False)
        names = []
        while (choice := definition.oracle(state, gold))[0] >= 0:
            names += definition.names(state, choice)
            definition.apply(state, choice)
        return names

    def _repr_svg_(self) -> str:
        """The drawing that notebooks show."""
        from longarc.drawing.svg import svg_tree

        return svg_tree(self)
