"""The Python interface: streaming, threads, processes and input checks."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import longarc
from longarc import LongarcError, Sentence, read_all
from longarc.data.raw_text import text_of
from longarc.runtime import parser as parser_module
from longarc.runtime.parser import Parser
from longarc.trees.structure import is_tree
from tests.helpers.text_treebank import TEXT
from tests.helpers.toy_treebank import write_toy_treebank


def test_the_python_interface_reads_as_documented(parser: Parser) -> None:
    sentence = parser.parse(["the", "dog", "sees", "the", "cat", "today", "which", "sleeps", "."])
    assert [word.head_index for word in sentence] == [1, 2, None, 4, 2, 2, 7, 4, 2]
    assert sentence[7].relation == "acl"
    assert all(word.probability is not None and 0.3 < word.probability <= 1 for word in sentence)
    assert sentence.transitions()[:5] == ["Shift", "Left-Arc_1", "Shift", "Left-Arc_1", "Right-Arc_2"]
    assert len(sentence.transitions()) == 18
    assert sentence.to_conllu().count("\n") == 10


def test_parsing_does_not_change_what_it_is_given(parser: Parser) -> None:
    sentence = Sentence.from_forms(["the", "dog", "sees", "the", "cat"])
    parser.parse(sentence)
    assert sentence.node_heads.tolist() == [-1] * 6


def test_order_windows_and_batches_do_not_change_the_trees(
    parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "many.conllu", 60, seed=8))
    whole = [s.to_conllu() for s in parser.stream([s.copy() for s in sentences])]
    monkeypatch.setattr(parser_module, "WINDOW_WORDS", 50)
    monkeypatch.setattr(parser_module, "BATCH_WORDS", 20)
    assert [s.to_conllu() for s in parser.stream([s.copy() for s in sentences])] == whole
    assert [parser.parse(s).to_conllu() for s in sentences] == whole


def test_a_stream_is_read_only_one_window_ahead(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_module, "WINDOW_WORDS", 30)
    taken = 0

    def endless() -> Iterator[Sentence]:
        nonlocal taken
        while True:
            taken += 1
            yield Sentence.from_forms(["the", "dog", "sees", "the", "cat", "."])

    next(parser.stream(endless()))
    assert taken == 2 * 5


def test_a_very_long_sentence_is_parsed_beside_the_others(parser: Parser) -> None:
    long = Sentence.from_forms(["the", "dog", "sees", "the", "cat", "."] * 250)
    short = Sentence.from_forms(["the", "dog", "sees", "the", "cat", "."])
    first, found, last = parser.stream([short.copy(), long, short.copy()])
    assert is_tree(found.node_heads, single_root=True)
    assert first.to_conllu() == last.to_conllu()


def test_several_threads_can_use_one_parser(parser: Parser, tmp_path: Path) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "many.conllu", 40, seed=8))
    expected = [s.to_conllu() for s in parser.stream([s.copy() for s in sentences])]
    found: list[list[str]] = []

    def work() -> None:
        found.append([s.to_conllu() for s in parser.stream([s.copy() for s in sentences])])

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 4


def _heads_in_another_process(parser: Parser) -> list[int]:
    return [int(head) for head in parser.parse(["the", "dog", "sees", "the", "cat"]).node_heads]


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_worker_processes_can_use_a_parser(parser: Parser, method: str) -> None:
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(_heads_in_another_process, (parser,)) == _heads_in_another_process(parser)


def test_python_says_what_it_expects(english: Parser) -> None:
    with pytest.raises(LongarcError, match="list of words"):
        english.parse("She left.")
    for words in (["a\tb"], ["a\nb"], [""], [" "], ["a\0"], []):
        with pytest.raises(LongarcError, match=r"is not a word|without words"):
            english.parse(words)
    with pytest.raises(LongarcError, match="expected sentences"):
        list(english.stream(["She left."]))  # type: ignore[list-item]
    with pytest.raises(LongarcError, match="a text is a string"):
        english([3])  # type: ignore[list-item]
    with pytest.raises(LongarcError, match="texts is one string"):
        next(english.pipe("She left."))
    with pytest.raises(LongarcError, match="pair of a text"):
        list(english.pipe(["She left."], as_tuples=True))  # type: ignore[call-overload]
    with pytest.raises(LongarcError, match="something else than words"):
        english(words=[1, 2])  # type: ignore[list-item]
    with pytest.raises(LongarcError, match="line_breaks is 'lines'"):
        english("She left.", line_breaks="lines")  # type: ignore[call-overload]
    for wrong in ({"beam": 0}, {"beam": 65}, {"beam": 1.5}, {"threads": 0}, {"threads": -1}, {"memory": 15}):
        with pytest.raises(LongarcError, match=next(iter(wrong))):
            longarc.load(**wrong)
    for names in ("", "en_ewt,", " "):
        with pytest.raises(LongarcError, match="the name of a model is missing"):
            longarc.load(names)


def test_text_in_python(text_model: Path) -> None:
    nlp = longarc.load(text_model, threads=1)
    sentences = nlp(TEXT)
    assert text_of(sentences) == TEXT
    assert [word.text for word in sentences[0]][:3] == ["Ann", "ca", "n't"]
    assert len(nlp("")) == 0


def test_a_call_takes_a_text_a_list_of_texts_or_words(english: Parser) -> None:
    assert english("She left.")[0].root.text == "left"
    assert [doc.text for doc in english(["She left.", "He stayed. Why?"])] == ["She left.", "He stayed. Why?"]
    assert english([]) == []
    assert english(words=["She", "left", "."])[0].root.text == "left"
    doc = english(words=[["She", "left"], ["He", "stayed"]])
    assert [sentence.root.text for sentence in doc] == ["left", "stayed"]
    assert doc.text == "She left He stayed " and doc[1].start == 9
    assert len(english(words=[])) == 0
    for arguments in (
        {},
        {"text": "a", "words": ["a"]},
        {"words": "a"},
        {"words": ["a", ["b"]]},
        {"words": [["a"], []]},
    ):
        with pytest.raises(LongarcError):
            english(**arguments)
    with pytest.raises(LongarcError, match="expected sentences, not list"):
        english.parse_batch([["She", "left"]])  # type: ignore[list-item]


TEXTS = [
    "She left.",
    "",
    "Nobody knew why.\n\nThey   had no idea.",
    "  \n",
    "Go!",
    "He left early. " * 40,
    "\n\nThe end",
]


def test_piped_documents_are_those_of_single_calls(english: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [english(text).to_conllu() for text in TEXTS]
    for group in (1, 20, 100_000):
        monkeypatch.setattr(parser_module, "GROUP_CHARACTERS", group)
        docs = list(english.pipe(iter(TEXTS)))
        assert [doc.text for doc in docs] == TEXTS
        assert [doc.to_conllu() for doc in docs] == expected
        assert [[s.start for s in doc] for doc in docs] == [[s.start for s in english.split(text)] for text in TEXTS]


def test_piped_documents_keep_their_context(english: Parser) -> None:
    pairs = [(text, number) for number, text in enumerate(TEXTS)]
    assert [(doc.text, number) for doc, number in english.pipe(pairs, as_tuples=True)] == pairs


def test_a_pipe_reads_only_as_far_ahead_as_a_stream(english: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_module, "WINDOW_WORDS", 9)
    monkeypatch.setattr(parser_module, "GROUP_CHARACTERS", 1)
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "She left."

    docs = english.pipe(endless())
    assert next(docs)[0].root.text == "left" and taken == 6
    docs.close()


def test_a_pipe_rejects_what_is_not_text(english: Parser) -> None:
    with pytest.raises(LongarcError, match="a text is a string, not list"):
        list(english.pipe([["She", "left"]]))  # type: ignore[list-item]
    with pytest.raises(LongarcError, match="NUL"):
        list(english.pipe(["a", "b\0"]))
