"""The trained tokenizer splits text as its treebank does."""

from __future__ import annotations

import io

import numpy as np

from longarc import Sentence, read_all
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import count, judge, total
from longarc.runtime.graph import Graph
from longarc.runtime.tokenizer import LearnedTokenizer, Tokenizer
from longarc.training.train_tokenizer import (
    IGNORED,
    MARGIN,
    WINDOW,
    _Windows,
    describe,
    labelled_text,
    splits_numbers,
    train_tokenizer,
)
from tests.helpers.text_treebank import treebank_with_text
from tests.helpers.web_text import read_web_text, surface_tokens


def test_what_is_learnt_splits_new_text_as_the_treebank_does(learnt_tokenizer: Tokenizer) -> None:
    gold = read_all(io.BytesIO(treebank_with_text(60, seed=9).encode()))
    found = learnt_tokenizer.split(labelled_text(gold).text)
    for sentence in found:
        sentence.set_tree([-1, *range(len(sentence))], ["", *["root"] * len(sentence)])
    scores = total(count(judge(Corpus("gold", gold), Corpus("own", found), Conventions("count", "universal"))))
    assert scores["words"].f1 > 99
    assert scores["sentences"].f1 > 97


def test_a_treebank_that_records_no_spaces_teaches_the_usual_ones() -> None:
    sentences = [Sentence.from_forms(["Ann", "sleeps", "."]), Sentence.from_forms(["Bob", ",", "too", "."])] * 40
    trained = train_tokenizer(sentences, seed=1, most_steps=60, step_done=lambda step, steps: None)
    graph = trained.network.export()
    tokenizer = LearnedTokenizer(trained.description, Graph(graph, lambda: graph, "tokenizer"), "tokenizer")
    expected = [["Bob", ",", "too", "."], ["Ann", "sleeps", "."]]
    assert surface_tokens(tokenizer, "Bob, too. Ann sleeps.") == expected
    assert surface_tokens(tokenizer, "Bob , too . Ann sleeps .") == expected


def test_whether_numbers_are_split_is_learned() -> None:
    def is_split(*forms: str) -> bool:
        rows = [[str(n), form, *"_____", "_", "_", "SpaceAfter=No"] for n, form in enumerate(forms, 1)]
        return splits_numbers(labelled_text([Sentence(rows)] * 10))

    assert not is_split("1,299.50", ",", "20", ".")
    assert is_split("13", ".", "11", ".", "2014")
    assert is_split("13.", "11.", "2014")
    assert not is_split("13.", "11.2014", ",", "8,5")
    assert not is_split("no", "number")
    few = [["1", "2", *"_____", "_", "_", "SpaceAfter=No"], ["2", ",5", *"_____", "_", "_", "_"]]
    assert not splits_numbers(labelled_text([Sentence(few)] * 5))


def test_augmentation_teaches_what_the_treebank_lacks(learnt_tokenizer: LearnedTokenizer) -> None:
    assert learnt_tokenizer.description.line_breaks
    assert surface_tokens(learnt_tokenizer, "Ann likes Bob.\nBob likes Ann.") == [
        ["Ann", "likes", "Bob", "."],
        ["Bob", "likes", "Ann", "."],
    ]


def test_a_label_needs_context_except_where_the_paragraph_ends() -> None:
    text = labelled_text(read_all(io.BytesIO(treebank_with_text(60).replace("# newpar\n", "").encode())))
    windows = _Windows(text, describe([], text))
    size = len(windows.numbers)
    _, _, labels, lengths = windows.around(np.array([0, size // 2, size - 1]))
    has_label = labels != IGNORED
    assert lengths.tolist() == [WINDOW, WINDOW, WINDOW // 2 + 1]
    assert has_label[0].tolist() == [True] * (WINDOW - MARGIN) + [False] * MARGIN
    assert has_label[1].tolist() == [False] * MARGIN + [True] * (WINDOW - 2 * MARGIN) + [False] * MARGIN
    assert has_label[2, MARGIN : lengths[2]].all() and not has_label[2, :MARGIN].any()


def test_the_file_of_web_text_lists_the_characters_of_its_texts() -> None:
    cases = read_web_text()
    assert len(cases) >= 60
    for case in cases:
        assert "".join(map("".join, case.sentences)) == "".join(case.text.split())
