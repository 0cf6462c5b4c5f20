"""Score a packaged model on gold sentences; training, packaging and cards all use this."""

from __future__ import annotations

from collections.abc import Sequence

from longarc.data.sentence import Sentence
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.measures import score_sentences
from longarc.runtime.model_file import ModelFile
from longarc.runtime.parser import Parser
from longarc.training.train_tokenizer import has_text, labelled_text


def score_words(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return UAS, LAS and the accuracy of each predicted column on gold words; every word and subtype counts."""
    parsed = list(parser.stream([sentence.copy() for sentence in gold]))
    scores = score_sentences(gold, parsed, Conventions("count", "whole"))
    measures = {"uas": "uas", "las": "las", **{name: column.measure for name, column in parser.columns.items()}}
    return {name: scores[measure].f1 for name, measure in measures.items()}


def score_text(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return the F1 of words, sentences and LAS on raw text, by the conventions of CoNLL 2018."""
    parsed = parser(labelled_text(gold).text)
    scores = score_sentences(gold, parsed, Conventions("count", "universal"))
    return {f"text_{name}": scores[name].f1 for name in ("words", "sentences", "las")}


def score_model(model: ModelFile, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return all scores of a model; raw text is scored if the model has a tokenizer and the treebank has text."""
    if not gold:
        return {}
    parser = Parser(model)
    scores = score_words(parser, gold)
    if model.description.tokenizer is not None and has_text(gold):
        scores |= score_text(parser, gold)
    return scores
