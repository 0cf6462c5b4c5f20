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
    tokens = list(sentence)
    assert [token.head for token in tokens] == [2, 3, 0, 5, 3, 3, 8, 5, 3]
    assert tokens[7].relation == "acl"
    assert all(token.probability is not None and 0.3 < token.probability <= 1 for token in tokens)
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
        english(["She left."])  # type: ignore[arg-type]
    with pytest.raises(LongarcError, match="beam"):
        longarc.load(beam=0)


def test_text_in_python(text_model: Path) -> None:
    nlp = longarc.load(text_model, threads=1)
    sentences = nlp(TEXT)
    assert text_of(sentences) == TEXT
    assert [token.form for token in sentences[0]][:3] == ["Ann", "ca", "n't"]
    assert nlp("") == []
