"""A parsed sentence: probabilities, tokens to iterate over, and the transitions that build its tree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longarc.data.conllx import to_conllu
from longarc.data.sentence import DEPREL, FEATS, FORM, HEAD, ID, LEMMA, MISC, UPOS, XPOS, Sentence


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
    """0 is the artificial root"""
    relation: str
    misc: str
    probability: float | None
    """The probability of the transition that added the word's arc, relation included, among the transitions that were
    legal; None for a word that no transition attached."""


class ParsedSentence(Sentence):
    """A sentence with the parser's columns filled in."""

    __slots__ = ("probabilities", "system")

    def __init__(self, sentence: Sentence, system: str, probabilities: NDArray[np.float64] | None) -> None:
        super().__init__(
            sentence.rows,
            sentence.word_rows,
            lead=sentence.lead,
            newline=sentence.newline,
            trail=sentence.trail,
            format=sentence.format,
            line=sentence.line,
        )
        self.system = system
        self.probabilities = probabilities
        """[n + 1] by node; None if they were not requested"""

    def __iter__(self) -> Iterator[Token]:
        for number, word in enumerate(self.word_rows, 1):
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
        """Return the sentence in CoNLL-U, including the blank line after it."""
        return to_conllu(self).to_conll()

    def transitions(self, system: str | None = None) -> list[str]:
        """Return the transitions that build this tree, in the parser's system unless another is named."""
        from longarc.runtime.steps import oracle_steps

        return [step.taken.name for step in oracle_steps(self, system or self.system).steps]

    def _repr_svg_(self) -> str:
        """Return the drawing that notebooks show."""
        from longarc.drawing.svg import svg_tree

        return svg_tree(self)
