"""Parsing with a packaged model: the same trees as in training, nothing lost, bounded, safe against hostile files."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from longarc import Sentence, read_all  # noqa: E402
from longarc.cli.main import COMMANDS, make_app  # noqa: E402
from longarc.data.batches import groups_of_like_length  # noqa: E402
from longarc.data.vocabulary import TAG_COLUMNS  # noqa: E402
from longarc.decoding.beam import parse_with_beam  # noqa: E402
from longarc.decoding.greedy import parse_greedily  # noqa: E402
from longarc.errors import LongarcError  # noqa: E402
from longarc.model.quantize import _product, with_narrow_inputs, with_small_words  # noqa: E402
from longarc.runtime import parser as parser_module  # noqa: E402
from longarc.runtime.model_file import ModelFile, read_model_file, write_model_file  # noqa: E402
from longarc.runtime.parser import Parser, load  # noqa: E402
from longarc.runtime.words import WordReader  # noqa: E402
from longarc.training.configuration import Configuration  # noqa: E402
from longarc.training.examples import make_batch  # noqa: E402
from longarc.training.packaging import Origin, load_trained, lstm_moments, make_int8, make_package, model_card  # noqa: E402
from longarc.training.prepare import Prepared, prepare  # noqa: E402
from longarc.training.run import write_models  # noqa: E402
from longarc.transitions import SYSTEMS  # noqa: E402
from longarc.transitions.system import ScoreLayout  # noqa: E402
from longarc.trees.structure import is_tree  # noqa: E402
from tests.toy_treebank import toy_conllu, write_toy_treebank  # noqa: E402

WIDE = [
    "lstm_size=32",
    "lstm_layers=1",
    "merge_dimensions=32",
    "pair_dimensions=24",
    "word_dimensions=16",
    "min_count=1",
]
LEARN = ["learning_rate=0.01", "batch_sentences=8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that knows the toy language well, fp32 and int8."""
    home = tmp_path_factory.mktemp("models")
    treebank = write_toy_treebank(home / "toy.conllu", 160)
    dev = write_toy_treebank(home / "dev.conllu", 30, seed=5)
    settings = [f"--set={setting}" for setting in [*WIDE, *LEARN]]
    options = ["--epochs=6", "--dev", str(dev), "--quantize", "--threads=1", "--licence", "CC0", "--treebank", "toy"]
    result = CliRunner().invoke(
        make_app(list(COMMANDS)),
        ["train", str(treebank), "--preset=paper", "--out", str(home / "toy"), *settings, *options],
    )
    assert result.exit_code == 0, result.output
    return home


@pytest.fixture(scope="module")
def parser(folder: Path) -> Parser:
    return load(folder / "toy" / "toy.longarc", threads=1)


def longarc(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, input=stdin)


def small(system: str, sentences: list[Sentence], **changes: Any) -> Prepared:
    values = {"lstm_size": 9, "word_dimensions": 7, "merge_dimensions": 8, "pair_dimensions": 6, "min_count": 1}
    return prepare(Configuration(**(values | {"system": system} | changes)), sentences, [], None)


def packaged(prepared: Prepared) -> ModelFile:
    return make_package(prepared, model_card("test", prepared.configuration, {}, Origin()))


SPELLED = {"spelling_size": 4, "character_dimensions": 3, "tagger_layers": 1}
FACTORED = {"relation_dimensions": 7, "fine_tags": True, "features": True}


@pytest.mark.parametrize(
    "changes",
    [{}, {"fine_tags": True, "parser_input": "words", "lstm_layers": 1}, SPELLED, FACTORED, SPELLED | FACTORED],
)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_packaged_model_scores_and_parses_as_the_network_does(
    tmp_path: Path, system: str, changes: dict[str, Any]
) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 25))
    prepared = small(system, sentences, **changes)
    expected = prepared.predictor().parse(sentences)
    parser = Parser(packaged(prepared), threads=1)
    for parse, found in zip(expected, parser.stream([s.copy() for s in sentences]), strict=True):
        assert found.heads.tolist() == parse.heads.tolist()
        assert found.relations == parse.relations
        for name, values in parse.tags.items():
            assert found.column(TAG_COLUMNS[name])[1:] == values[1:]
    lengths = np.array([len(sentence) + 1 for sentence in sentences[:6]], dtype=np.int32)
    found_scores = parser._session.run([sentence.forms for sentence in sentences[:6]], totals=True)
    with torch.no_grad():
        batch = make_batch(prepared.examples[:6], prepared.spellings, system)
        scores = prepared.network(batch.inputs).transitions
        mask = torch.from_numpy(prepared.relation_mask)
        arcs = scores.arcs
        if "relation_dimensions" not in changes:
            arcs = arcs + mask[(torch.arange(int(lengths.max())) > 0).long()].unsqueeze(-1)
        best, total = scores.flat(arcs.max(dim=2).values).numpy(), scores.flat(arcs.logsumexp(dim=2)).numpy()
    nodes = int(lengths.max())
    for row, length in enumerate(lengths):
        inside = np.zeros((nodes, nodes), dtype=np.bool_)
        inside[:length, :length] = True
        for own, theirs in ((found_scores.scores, best), (found_scores.totals, total)):
            assert own is not None
            np.testing.assert_allclose(
                own[row, : nodes**2].reshape(nodes, nodes)[inside],
                theirs[row, : nodes**2].reshape(nodes, nodes)[inside],
                rtol=1e-4,
                atol=1e-4,
            )
            np.testing.assert_allclose(
                own[row, nodes**2 : nodes**2 + length], theirs[row, nodes**2 : nodes**2 + length], rtol=1e-4, atol=1e-4
            )


def test_words_are_remembered_as_they_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = small("nl-covington", read_all(write_toy_treebank(tmp_path / "toy.conllu", 5)), **SPELLED)
    words = ["a", "dog", "an", "extraordinarily", "bird", "old", "dogs", "xyz"]
    first = Parser(packaged(prepared), threads=1)._session._word_reader
    assert first is not None
    expected = first.read(words)
    monkeypatch.setattr("longarc.runtime.words.MOST_REMEMBERED", 3)
    forgetful = WordReader(first._graph, first._characters)
    for chosen in ([1], [0, 1], [1, 2, 3], [2, 3], [4, 5, 6, 7, 0], [5, 4], [6], []):
        found = forgetful.read([words[place] for place in chosen])
        assert np.array_equal(found, expected[[0, *(1 + place for place in chosen)]])
        assert len(forgetful._numbers) <= 3


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=8), cost=st.integers(0, 8))
def test_groups_of_like_length_cost_the_least(lengths: list[int], cost: int) -> None:
    def total(groups: list[list[int]]) -> int:
        return sum(cost + max(group) * len(group) for group in groups)

    groups = [group.tolist() for group in groups_of_like_length(np.array(lengths), cost)]
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    ordered = sorted(lengths)
    last = len(ordered)
    cuts = [[0, *cut, last] for count in range(last) for cut in combinations(range(1, last), count)]
    least = min(total([ordered[start:end] for start, end in pairwise(cut)]) for cut in cuts)
    assert total([[lengths[index] for index in group] for group in groups]) == least


def test_training_ends_with_models_that_know_what_they_are(folder: Path) -> None:
    for name, precision in (("toy", "float32"), ("toy-int8", "int8")):
        card = read_model_file(folder / "toy" / f"{name}.longarc").card
        assert (card["precision"], card["licence"], card["treebank"]) == (precision, "CC0", "toy")
        assert card["scores"]["dev_las"] > 95
        assert card["command"].startswith("longarc")
    assert (folder / "toy" / "toy-int8.longarc").stat().st_size < (folder / "toy" / "toy.longarc").stat().st_size
    result = CliRunner().invoke(make_app(list(COMMANDS)), ["info", str(folder / "toy" / "toy.longarc")])
    assert "CC0" in result.output
    assert json.loads(
        CliRunner().invoke(make_app(list(COMMANDS)), ["info", "--json", str(folder / "toy" / "toy.longarc")]).output
    )


def test_an_int8_model_can_know_fewer_words(folder: Path) -> None:
    package = read_model_file(folder / "toy" / "toy.longarc")
    small = make_int8(package, most_words=10)
    assert small.description.words.forms == package.description.words.forms[:10]
    assert len(small.graph) < len(make_int8(package).graph)
    forms = ["the", "dog", "sees", "unheard-of", "tree"]
    assert is_tree(Parser(small, threads=1).parse(forms).heads)


def test_word_vectors_in_8_bits_are_nearly_the_same(folder: Path) -> None:
    package = read_model_file(folder / "toy" / "toy.longarc")
    words = package.description.words
    small = replace(package, graph=with_small_words(package.graph, len(words)))
    sentences = [["the", "dog", "sees", "the", "cat"], ["the", "old", "bird", "hears", "the", "child", "today"]]
    found = [Parser(own, threads=1)._session.run(sentences, totals=False).scores for own in (package, small)]
    inside = np.abs(found[0]) < 100
    assert np.abs(found[0] - found[1])[inside].max() < 0.5


def test_a_finished_training_can_be_packaged_again(folder: Path) -> None:
    first = read_model_file(folder / "toy" / "toy.longarc")
    again = packaged(load_trained(folder / "toy"))
    assert again.graph == first.graph
    small = read_model_file(folder / "toy" / "toy-int8.longarc")
    moments = lstm_moments(again, read_all(folder / "dev.conllu"))
    assert make_int8(again, 0, small.card.get("lstm_inputs", ()), moments).graph == small.graph


def test_narrow_inputs_change_no_more_than_their_rank_takes_away(folder: Path) -> None:
    dev = read_all(folder / "dev.conllu")
    package = packaged(small("nl-covington", dev))
    moments = lstm_moments(package, dev)
    sentences = [["the", "dog", "sees", "the", "cat"], ["the", "old", "bird", "hears", "the", "child", "today"]]

    def scores(*shares: float) -> Any:
        graph = with_narrow_inputs(package.graph, shares, moments)
        assert (graph == package.graph) == (set(shares) == {1})
        return Parser(replace(package, graph=graph), threads=1)._session.run(sentences, totals=False).scores

    assert len(moments) == 4
    whole = scores(1, 1, 1, 1)
    np.testing.assert_allclose(scores(*[0.9999] * 4), whole, rtol=1e-3, atol=1e-3)  # all, but as a product
    tried = [(1, 0.8, 0.8, 1), (1, 0.8, 0.4, 0.8), (0.4, 0.4, 0.4, 0.4), (0.1, 0.1, 0.1, 0.1)]
    differences = [np.abs(scores(*shares) - whole).mean() for shares in tried]
    assert differences == sorted(differences)
    assert make_int8(package, 0, [1, 0.25, 1, 1], moments).graph_bytes < make_int8(package).graph_bytes


def test_narrow_inputs_do_best_where_something_is_read() -> None:
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((40, 20)).astype(np.float32)
    read = rng.standard_normal((500, 20)) * np.linspace(0.1, 3, 20)

    def error(moments: Any) -> float:
        above, below = _product(weights, 8, moments)
        return float(np.linalg.norm(read @ (weights - above @ below).T))

    assert error(read.T @ read) < 0.9 * error(np.eye(20))


def test_what_costs_too_much_accuracy_is_not_made_narrow(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = read_all(folder / "dev.conllu")
    for most_lost, inputs in ((100.0, [0.25] * 4), (-100.0, None)):
        monkeypatch.setattr("longarc.training.run.MOST_LOST", most_lost)
        written = dict(write_models(small("covington", dev), tmp_path, dev, {}, Origin(), quantize=True))
        assert [package.card.get("lstm_inputs") for package in written.values()] == [None, inputs]


def test_each_lstm_is_made_as_narrow_as_is_allowed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = read_all(folder / "dev.conllu")
    yes, also, no, never = (58.76, 90.0), (60.0, 89.8), (58.75, 90.0), (60.0, 89.79)
    found = iter([yes, no, also, never, no, yes, no, no, never])

    def named(scores: tuple[float, float]) -> dict[str, float]:
        return dict(zip(("las", "tags"), scores, strict=True))

    monkeypatch.setattr("longarc.training.run._scores", lambda *_: named((58.96, 90.0)))
    monkeypatch.setattr("longarc.training.run._scores_on_words", lambda *_: named(next(found)))
    told: list[str] = []
    prepared = small("covington", dev)
    written = dict(write_models(prepared, tmp_path, dev, {}, Origin(), quantize=True, announce=told.append))
    # The parser's first LSTM reads most, since it reads tags too, and the tagger's first least, only words.
    assert [package.card.get("lstm_inputs") for package in written.values()] == [None, [1, 0.4, 0.25, 0.6]]
    assert next(found, None) is None and "making the 8-bit model faster: 60% of the inputs of LSTM 4 of 4" in told


ODD_INPUT = "\r\n".join(
    [
        "\ufeff# newdoc",
        "# text = the dog sees it",
        "1-2\tthedog\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
        "1\tthe\tthe\tX\tx\tA=B\t_\t_\t_\tm=1",
        "2\tdog\t\tX\tx\t_\t1\told\t2:x\t_",
        "2.1\tempty\t_\t_\t_\t_\t_\t_\t1:y\t_",
        "3\tsees\t_\tX\tx\t_\t3\t_\t_\t_",
        "4\tit it\t_\tX\tx\t_\t_\t_\t_\t_",
        "5\t.\t_\tX\tx\t_\t_\t_\t_\t_",
        "",
        "",
        "# end",
        "",
    ]
)


@pytest.mark.parametrize("keep_tags", [True, False])
def test_only_the_predicted_columns_change(folder: Path, tmp_path: Path, keep_tags: bool) -> None:
    (tmp_path / "in.conllu").write_bytes(ODD_INPUT.encode())
    model = folder / "toy" / "toy.longarc"
    options = ["--keep-tags"] if keep_tags else []
    result = longarc("parse", tmp_path / "in.conllu", "-m", model, "-o", tmp_path / "out.conllu", *options)
    assert result.returncode == 0, result.stderr
    before, after = ODD_INPUT.split("\n"), (tmp_path / "out.conllu").read_bytes().decode().split("\n")
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        columns = old.split("\t"), new.split("\t")
        if len(columns[0]) == 10 and columns[0][0].isdigit():
            predicted = {6, 7} if keep_tags else {3, 6, 7}
            assert all(columns[0][i] == columns[1][i] for i in range(10) if i not in predicted)
            assert columns[1][6].isdigit()
        else:
            assert old == new


def test_the_output_is_valid_conllu_where_the_input_is(folder: Path, tmp_path: Path) -> None:
    validator = Path(sys.executable).with_name("udvalidate")
    if not validator.exists():
        pytest.skip("udvalidate (of the package udtools) is not installed")
    rows = [
        "# sent_id = s1",
        "# text = the cat dogs seethe which.",
        "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_",
        "2\tcat\t_\tNOUN\t_\t_\t0\troot\t_\t_",
        "3\tdogs\t_\tNOUN\t_\t_\t2\tflat\t_\t_",
        "4-5\tseethe\t_\t_\t_\t_\t_\t_\t_\t_",
        "4\tsee\t_\tVERB\t_\t_\t2\tacl\t_\t_",
        "5\tthe\t_\tDET\t_\t_\t4\tdet\t_\t_",
        "6\twhich\t_\tPRON\t_\t_\t4\tobj\t_\tSpaceAfter=No",
        "7\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_",
        "",
        "",
    ]
    (tmp_path / "in.conllu").write_text("\n".join(rows))
    result = longarc(
        "parse", tmp_path / "in.conllu", "-m", folder / "toy" / "toy.longarc", "-o", tmp_path / "out.conllu"
    )
    assert result.returncode == 0, result.stderr
    for name in ("in", "out"):
        checked = subprocess.run(
            [validator, "--level=2", "--lang=ud", tmp_path / f"{name}.conllu"], capture_output=True
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_pipes_work(folder: Path) -> None:
    text = toy_conllu(20, seed=9)
    result = longarc("parse", "-", "-m", folder / "toy" / "toy.longarc", stdin=text.encode())
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.decode().split("\n")) == len(text.split("\n"))


def test_a_kill_leaves_nothing_under_the_final_name(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()", "parse", "-"]
    command += ["-m", str(folder / "toy" / "toy.longarc"), "-o", str(tmp_path / "out.conllu")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(toy_conllu(50).encode())
        process.stdin.flush()
        while not list(tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    assert not (tmp_path / "out.conllu").exists()


def test_tokens_one_sentence_per_line_are_parsed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("the dog sees the cat .\n\nthe bird hears the child today .\n")
    model = folder / "toy" / "toy.longarc"
    options = ["--input", "tokens", "--to", "jsonl", "--probabilities"]
    result = longarc("parse", tmp_path / "in.txt", "-m", model, *options)
    sentences = [json.loads(line) for line in result.stdout.decode().splitlines()]
    assert [len(sentence["tokens"]) for sentence in sentences] == [6, 7]
    assert sentences[0]["tokens"][2] == {
        **sentences[0]["tokens"][2],
        "form": "sees",
        "head": 0,
        "relation": "root",
        "upos": "VERB",
    }
    assert 0.5 < sentences[0]["tokens"][2]["probability"] <= 1


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
    assert sentence.heads.tolist() == [-1] * 6


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
    assert is_tree(found.heads, single_root=True)
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
    return [int(head) for head in parser.parse(["the", "dog", "sees", "the", "cat"]).heads]


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_worker_processes_can_use_a_parser(parser: Parser, method: str) -> None:
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(_heads_in_another_process, (parser,)) == _heads_in_another_process(parser)


def test_parsing_never_imports_torch(folder: Path) -> None:
    code = (
        "import sys, longarc.runtime.parser as p; "
        f"p.load({str(folder / 'toy' / 'toy.longarc')!r}).parse(['the', 'dog']); "
        "assert not {'torch', 'onnx', 'matplotlib'} & set(sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("single_root", [True, False])
def test_a_beam_of_one_is_greedy_search(name: str, single_root: bool) -> None:
    generator = np.random.default_rng(3)
    lengths = np.array([5, 3, 7, 1])
    scores = generator.normal(size=(4, ScoreLayout(8).width(SYSTEMS[name]))).astype(np.float32)
    totals = scores + generator.random(scores.shape).astype(np.float32)
    greedy = parse_greedily(SYSTEMS[name], lengths, scores, totals, single_root=single_root)
    beam = parse_with_beam(SYSTEMS[name], lengths, scores, totals, beam=1, single_root=single_root)
    np.testing.assert_array_equal(greedy.heads, beam.heads)
    assert greedy.probabilities is not None and beam.probabilities is not None
    np.testing.assert_allclose(greedy.probabilities, beam.probabilities)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_wide_beam_finds_the_best_of_all_sequences(name: str) -> None:
    system = SYSTEMS[name]
    generator = np.random.default_rng(4)
    for _ in range(6):
        scores = generator.normal(size=(1, ScoreLayout(4).width(system))) * 3
        found = parse_with_beam(system, np.array([3]), scores, scores, beam=5000, single_root=False)
        best_worth, best_heads = -np.inf, None
        agenda = [(system.initial(np.array([3]), single_root=False), 0.0)]
        while agenda:  # every sequence of transitions there is
            state, worth = agenda.pop()
            legal = system.legal(state)[0]
            if not legal.any():
                if worth > best_worth:
                    best_worth, best_heads = worth, state
                continue
            values = scores[0, system.slots(state)[0]]
            normaliser = np.log(np.exp(values[legal]).sum())
            for choice in np.flatnonzero(legal):
                after = state.take(np.array([0]))
                system.apply(after, np.array([choice]))
                agenda.append((after, worth + values[choice] - normaliser))
        assert best_heads is not None
        system.complete(best_heads, scores)
        np.testing.assert_array_equal(found.heads, best_heads.heads)


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_beam_over_any_scores_gives_trees(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(SYSTEMS)))
    lengths = np.array(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    width = ScoreLayout(int(lengths.max()) + 1).width(SYSTEMS[name])
    values = st.sampled_from([0.0, 1.0, -3.5, np.nan, np.inf, -np.inf, 1e30])
    flat = data.draw(st.lists(values, min_size=width * len(lengths), max_size=width * len(lengths)))
    scores = np.array(flat, dtype=np.float32).reshape(len(lengths), width)
    found = parse_with_beam(SYSTEMS[name], lengths, scores, scores, beam=3)
    for row, length in enumerate(lengths):
        assert is_tree(found.heads[row, : length + 1].astype(np.int32), single_root=True)


def test_probabilities_are_those_of_the_softmax() -> None:
    system = SYSTEMS["nl-covington"]
    scores = np.zeros((1, ScoreLayout(2).width(system)))
    scores[0, 1] = 3.0  # the arc from the root to word 1 ...
    found = parse_greedily(system, np.array([1]), scores, scores)
    assert found.probabilities is not None
    assert found.probabilities[0, 1] == pytest.approx(np.exp(3) / (np.exp(3) + 1))  # ... against Shift


def rewritten(change: Callable[[dict[str, bytes]], None]) -> Callable[[bytes], bytes]:
    def rewrite(content: bytes) -> bytes:
        import io

        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        change(entries)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in entries.items():
                archive.writestr(name, data)
        return out.getvalue()

    return rewrite


def description_with(**changes: object) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        entries["model.json"] = json.dumps(json.loads(entries["model.json"]) | changes).encode()

    return change


def nan_weights(entries: dict[str, bytes]) -> None:
    import onnx
    from onnx import numpy_helper

    model = onnx.load_from_string(entries["model.onnx"])
    tensor = max(model.graph.initializer, key=lambda t: len(t.raw_data))
    array = numpy_helper.to_array(tensor) * np.nan
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    entries["model.onnx"] = model.SerializeToString()


def external_weights(entries: dict[str, bytes]) -> None:
    import onnx

    model = onnx.load_from_string(entries["model.onnx"])
    tensor = model.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "../../../../etc/passwd"
    tensor.ClearField("raw_data")
    entries["model.onnx"] = model.SerializeToString()


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "not a zip": lambda content: b"\x00" * 5000,
    "bytes changed": lambda content: content[:3000] + b"\xff" * 500 + content[3500:],
    "no graph": rewritten(lambda entries: entries.__delitem__("model.onnx")),
    "graph is junk": rewritten(lambda entries: entries.update({"model.onnx": b"junk" * 100})),
    "zip bomb": rewritten(lambda entries: entries.update({"model.json": b" " * (300 << 20)})),
    "description is a list": rewritten(lambda entries: entries.update({"model.json": b"[]"})),
    "description is deep": rewritten(lambda entries: entries.update({"model.json": b"[" * 100_000})),
    "newer format": rewritten(description_with(format=99)),
    "unknown system": rewritten(description_with(system="os.system")),
    "too few relations": rewritten(description_with(relations=["x"])),
    "too many words": rewritten(description_with(words=[str(i) for i in range(100_000)])),
    "words are numbers": rewritten(description_with(words=[1, 2, 3])),
    "another system": rewritten(description_with(system="covington")),
    "NaN weights": rewritten(nan_weights),
    "weights in another file": rewritten(external_weights),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_or_broken_model_is_refused(folder: Path, tmp_path: Path, kind: str) -> None:
    content = (folder / "toy" / "toy.longarc").read_bytes()
    (tmp_path / "bad.longarc").write_bytes(HOSTILE[kind](content))
    with pytest.raises(LongarcError) as error:
        load(tmp_path / "bad.longarc", threads=1)
    assert "bad.longarc" in str(error.value)


def test_entries_that_point_elsewhere_are_not_even_looked_at(folder: Path, tmp_path: Path) -> None:
    content = rewritten(lambda entries: entries.update({"../evil.txt": b"x", "/etc/evil": b"x"}))
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "odd.longarc").write_bytes(content((folder / "toy" / "toy.longarc").read_bytes()))
    load(tmp_path / "m" / "odd.longarc", threads=1)
    assert not (tmp_path / "evil.txt").exists()


def test_the_same_model_gives_the_same_file(folder: Path, tmp_path: Path) -> None:
    package = read_model_file(folder / "toy" / "toy.longarc")
    write_model_file(tmp_path / "again.longarc", package)
    assert (tmp_path / "again.longarc").read_bytes() == (folder / "toy" / "toy.longarc").read_bytes()


def test_mistakes_end_with_a_message(folder: Path, tmp_path: Path) -> None:
    model = folder / "toy" / "toy.longarc"
    (tmp_path / "bad.conllu").write_text("1\ta\n\n")
    cases: list[tuple[list[str | Path], bytes]] = [
        (["parse", tmp_path / "bad.conllu", "-m", model, "-o", tmp_path / "out.conllu"], b"bad.conllu:1"),
        (["parse", tmp_path / "bad.conllu", "-m", "klingon"], b"neither a file nor the name of a model"),
        (["parse", tmp_path / "bad.conllu", "-m", tmp_path / "none.longarc"], b"none.longarc"),
        (["info", tmp_path / "bad.conllu"], b"not a Longarc model"),
    ]
    for arguments, message in cases:
        result = longarc(*arguments)
        assert result.returncode == 2
        assert message in result.stderr
        assert b"Traceback" not in result.stderr
    assert not list(tmp_path.glob("*out*"))
