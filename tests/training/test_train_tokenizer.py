"""The trained tokenizer splits text as its treebank does."""

from __future__ import annotations

import io

from longarc import Sentence, read_all
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import count, judge, total
from longarc.runtime.tokenizer import Tokenizer
from longarc.training.train_tokenizer import has_text, labelled_text
from tests.helpers.text_treebank import treebank_with_text


def test_what_is_learnt_splits_new_text_as_the_treebank_does(learnt_tokenizer: Tokenizer) -> None:
    gold = read_all(io.BytesIO(treebank_with_text(60, seed=9).encode()))
    found = learnt_tokenizer.split(labelled_text(gold).text)
    for sentence in found:
        sentence.set_tree([-1, *range(len(sentence))], ["", *["root"] * len(sentence)])
    scores = total(count(judge(Corpus("gold", gold), Corpus("own", found), Conventions("count", "universal"))))
    assert scores["words"].f1 > 99
    assert scores["sentences"].f1 > 97


def test_a_treebank_without_spaces_has_no_text() -> None:
    assert has_text(read_all(io.BytesIO(treebank_with_text(3).encode())))
    assert not has_text([Sentence.from_forms(["a", "."])])
