"""Score a packaged model on gold sentences; training, packaging and cards all use this."""

from __future__ import annotations

from collections.abc import Sequence

from longarc.data.sentence import Sentence
from longarc.data.usual_spacing import with_spaces
from longarc.evaluation.breakdown import Row, break_down, nonprojective_row
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import judge, score_sentences
from longarc.runtime.model_file import ModelFile
from longarc.runtime.parser import Parser
from longarc.training.train_tokenizer import labelled_text

EVERYTHING = Conventions("count", "whole")
"""Every word counts, and every subtype."""


def score_words(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return UAS, LAS and the accuracy of each predicted column on gold words; every word and subtype counts."""
    return score_parsed(parser, gold, parse_words(parser, gold))


def parse_words(parser: Parser, gold: Sequence[Sentence]) -> list[Sentence]:
    """Parse copies of gold sentences."""
    return list(parser.stream([sentence.copy() for sentence in gold]))


def score_parsed(parser: Parser, gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> dict[str, float]:
    """Return the scores of `score_words` for sentences that are parsed already."""
    scores = score_sentences(gold, parsed, EVERYTHING)
    measures = {"uas": "uas", "las": "las", **{name: column.measure for name, column in parser.columns.items()}}
    return {name: scores[measure].f1 for name, measure in measures.items()}


def score_nonprojective(gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> Row:
    """Return the counts of non-projective arcs in gold and parsed trees, and of the right ones among them."""
    judgement = judge(Corpus("gold", gold), Corpus("parsed", parsed), EVERYTHING)
    return nonprojective_row(break_down(judgement, confusions=0))


def score_text(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return the F1 of words, sentences and LAS on raw text, by the conventions of CoNLL 2018.

    Treebanks that do not record spaces have the usual ones.
    """
    parsed = parser(labelled_text(with_spaces(gold)).text)
    scores = score_sentences(gold, parsed, Conventions("count", "universal"))
    return {f"text_{name}": scores[name].f1 for name in ("words", "sentences", "las")}


def score_model(model: ModelFile, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return all scores of a model; raw text is scored if the model has a tokenizer."""
    if not gold:
        return {}
    parser = Parser(model)
    parsed = parse_words(parser, gold)
    scores = score_parsed(parser, gold, parsed)
    nonprojective = score_nonprojective(gold, parsed)
    if nonprojective.gold:
        shares = nonprojective.as_dict()
        scores |= {f"nonprojective_{name}": shares[f"las_{name}"] for name in ("precision", "recall")}
    if model.description.tokenizer is not None:
        scores |= score_text(parser, gold)
    return scores
