"""From input files to shards, without an engine: nothing is lost, and documents are parsed as `longarc parse` does."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from longarc.corpus.corpus_folder import CorpusFolder, chunk_file
from longarc.corpus.corpus_options import CorpusOptions
from longarc.corpus.input_files import find_inputs
from longarc.corpus.read_items import ItemReader
from longarc.corpus.work_items import Failure, WorkItem
from longarc.corpus.write_shards import MAX_ATTEMPTS, ShardReport, write_item
from longarc.data.conll import read_all
from longarc.runtime.parser import Parser
from longarc.runtime.pipeline import parse_files
from longarc.runtime.tokenizer import Tokenizer
from tests.helpers.corpora import documents_in, parsed_by_command, toy_text, write_texts
from tests.helpers.toy_treebank import toy_conllu

SMALL = CorpusOptions(format="conllu", shard_bytes=2000)


def run(parser: Parser, inputs: list[str], out: Path, options: CorpusOptions = SMALL) -> list[ShardReport]:
    """Read, parse and write a corpus in this process; items travel as tables, as between processes."""
    out.mkdir(exist_ok=True)
    reader = ItemReader(0, find_inputs(inputs), options, lambda: parser.tokenizer)
    items = [WorkItem.from_table(item.to_table()) for item in reader]
    assert reader.count == len(items)
    return [write_item(parser, item, options, out, out) for item in items]


def failures_in(reports: list[ShardReport]) -> list[Failure]:
    return [failure for report in reports for failure in report.failures]


@pytest.mark.parametrize("separate", [False, True])
def test_each_text_file_is_parsed_as_by_the_command(parser: Parser, tmp_path: Path, separate: bool) -> None:
    texts = write_texts(tmp_path / "in", 12)
    reports = run(parser, [str(tmp_path / "in")], tmp_path / "out", replace(SMALL, separate=separate))
    assert len(reports) > 3
    expected = [(path, parsed_by_command(parser, text, tmp_path)) for path, text in texts.items()]
    assert documents_in(tmp_path / "out") == expected
    assert sum(report.documents for report in reports) == 12
    assert sum(report.input_bytes for report in reports) == sum(map(len, texts.values()))


def test_a_text_of_a_few_shards_is_parsed_whole(parser: Parser, tmp_path: Path) -> None:
    sizes = [SMALL.shard_bytes // 2, 3 * SMALL.shard_bytes, SMALL.shard_bytes // 2]
    texts = [toy_text(400, seed)[:size].strip() for seed, size in enumerate(sizes)]
    inputs = [tmp_path / f"{number}.txt" for number in range(3)]
    for path, text in zip(inputs, texts, strict=True):
        path.write_text(text)
    reports = run(parser, list(map(str, inputs)), tmp_path / "out")
    assert [(report.documents, report.continues) for report in reports] == [(1, None)] * 3
    documents = dict(documents_in(tmp_path / "out"))
    assert documents[str(inputs[1])] == parsed_by_command(parser, texts[1], tmp_path)


@pytest.mark.parametrize("name", ["english", "parser"])
def test_a_long_document_is_cut_without_a_trace(
    name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The English model has 8 bits: the trees depend on the batches, which are the same therefore."""
    parser = request.getfixturevalue(name)
    monkeypatch.setattr("longarc.runtime.parser.WINDOW_WORDS", 300)
    monkeypatch.setattr("longarc.corpus.read_items.WINDOW_WORDS", 300)
    text = toy_text(150, 3) + " \n" * 40
    (tmp_path / "short.txt").write_text("One.")
    (tmp_path / "long.txt").write_text(text)
    (tmp_path / "last.txt").write_text("Two.")
    inputs = [str(tmp_path / f"{name}.txt") for name in ("short", "long", "last")]
    reports = run(parser, inputs, tmp_path / "out", replace(SMALL, ranges=True, shard_bytes=1000))
    assert len(reports) > 4
    assert [report.continues for report in reports] == [None, None, *[inputs[1]] * (len(reports) - 3), None]
    documents = dict(documents_in(tmp_path / "out"))
    assert list(documents) == inputs
    assert documents[inputs[1]] == parsed_by_command(parser, text, tmp_path, ranges=True)


def test_a_long_treebank_is_cut_without_a_trace(
    parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longarc.corpus.read_items.WINDOW_WORDS", 300)
    first, second = toy_conllu(60, 1), toy_conllu(90, 2)
    treebank = tmp_path / "long.conllu"
    treebank.write_text(f"# newdoc id = a\n{first}# newdoc id = b\n{second}# the end\n")
    reports = run(parser, [str(treebank)], tmp_path / "out")
    parse_files(parser, [treebank], tmp_path / "expected.conllu")
    assert len(reports) > 3
    joined = "".join(path.read_text() for path in sorted((tmp_path / "out").glob("*.conllu")))
    assert joined == (tmp_path / "expected.conllu").read_text()
    assert sum(report.documents for report in reports) == 2
    run(parser, [str(treebank)], tmp_path / "rows", replace(SMALL, format="parquet"))
    rows = read_rows(tmp_path / "rows")
    assert [(row["id"], row["sentence"]) for row in rows] == [
        *(("a", number) for number in range(1, 61)),
        *(("b", number) for number in range(1, 91)),
    ]


def read_rows(folder: Path) -> list[dict[str, object]]:
    """Return the rows of all Parquet shards in order."""
    tables = [pyarrow.parquet.read_table(path) for path in sorted(folder.glob("*.parquet"))]
    rows: list[dict[str, object]] = pa.concat_tables(tables).to_pylist()
    return rows


def write_parquet(path: Path, rows: list[dict[str, object]]) -> None:
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), path)


def write_json(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(("suffix", "write"), [("jsonl", write_json), ("parquet", write_parquet)])
def test_rows_are_documents_with_their_ids(
    parser: Parser, tmp_path: Path, suffix: str, write: Callable[[Path, list[dict[str, object]]], None]
) -> None:
    path = tmp_path / f"rows.{suffix}"
    texts = [toy_text(4, seed) for seed in range(9)]
    write(path, [{"body": text, "url": f"u{number}"} for number, text in enumerate(texts)])
    run(parser, [str(path)], tmp_path / "out", replace(SMALL, column="body", id_column="url"))
    expected = [(f"u{number}", parsed_by_command(parser, text, tmp_path)) for number, text in enumerate(texts)]
    assert documents_in(tmp_path / "out") == expected
    run(parser, [str(path)], tmp_path / "unnamed", replace(SMALL, column="body"))
    assert [id for id, _ in documents_in(tmp_path / "unnamed")] == [f"{path}:{n}" for n in range(1, 10)]


def test_each_line_can_be_a_document_also_in_a_compressed_file(parser: Parser, tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"The dog sees the cat.\r\n\nThe cat sleeps. The dog too.\n"))
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress(b"The bird hears the dog."))
    run(parser, [str(tmp_path / "*.txt.*")], tmp_path / "out", replace(SMALL, input="lines"))
    lines = {
        f"{tmp_path}/a.txt.gz:1": "The dog sees the cat.",
        f"{tmp_path}/a.txt.gz:3": "The cat sleeps. The dog too.",
        f"{tmp_path}/b.txt.xz:1": "The bird hears the dog.",
    }
    expected = [(id, parsed_by_command(parser, text, tmp_path)) for id, text in lines.items()]
    assert documents_in(tmp_path / "out") == expected


def test_json_lines_repeat_the_document_and_can_be_read_back(parser: Parser, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(toy_text(3, 1))
    run(parser, [str(tmp_path / "a.txt")], tmp_path / "out", replace(SMALL, format="jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "out" / "000000-000000.jsonl").read_text().splitlines()]
    assert [(line["document"], line["sentence"]) for line in lines] == [(str(tmp_path / "a.txt"), n) for n in (1, 2, 3)]
    run(parser, [str(tmp_path / "out" / "000000-000000.jsonl")], tmp_path / "again", SMALL)
    assert len(read_all(tmp_path / "again" / "000000-000000.conllu")) == 3


def test_what_cannot_be_read_is_reported_and_the_rest_is_parsed(parser: Parser, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Good.\n\nBad: \xff.")
    (tmp_path / "b.txt").write_bytes(b"x" * 5000 + b"\0")
    (tmp_path / "c.txt").write_text("The dog sees the cat.")
    (tmp_path / "d.jsonl").write_text('{"text": 1, "id": 7}\nno json\n{"text": "The cat sleeps.", "id": 8}\n')
    (tmp_path / "e.conllu").write_text(f"{toy_conllu(1)}1\tonly two columns\n\n{toy_conllu(1)}")
    (tmp_path / "f.parquet").write_text("not Parquet")
    reports = run(parser, [str(tmp_path / f"{name}") for name in sorted(p.name for p in tmp_path.iterdir())],
                  tmp_path / "out", replace(SMALL, shard_bytes=4000))  # fmt: skip
    found = [(failure.id.removeprefix(f"{tmp_path}/"), failure.line) for failure in failures_in(reports)]
    line = toy_conllu(1).count("\n") + 1
    assert sorted(found) == [
        ("7", 1),
        ("a.txt", 3),
        ("b.txt", 1),
        ("d.jsonl:2", 2),
        ("e.conllu", line),
        ("f.parquet", 0),
    ]
    reasons = " ".join(failure.reason for failure in failures_in(reports))
    assert "0xff" in reasons and "NUL" in reasons and "expected text" in reasons and "2 columns" in reasons
    assert str(tmp_path) not in reasons
    assert sum(report.sentences for report in reports) == 4


def test_a_document_that_breaks_the_parser_does_not_stop_the_run(
    parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = write_texts(tmp_path / "in", 3, sentences=2)
    bad = list(texts)[1]
    Path(bad).write_text("boom")
    split = type(parser.tokenizer).spans

    def spans(self: Tokenizer, text: str, *context: Any) -> object:
        if text == "boom":
            raise ZeroDivisionError("boom")
        return split(self, text, *context)

    monkeypatch.setattr(type(parser.tokenizer), "spans", spans)
    reports = run(parser, [str(tmp_path / "in")], tmp_path / "out")
    assert [(failure.id, failure.reason) for failure in failures_in(reports)] == [(bad, "boom")]
    assert [id for id, _ in documents_in(tmp_path / "out")] == [path for path in texts if path != bad]


def test_an_item_that_kills_its_worker_is_given_up(parser: Parser, tmp_path: Path) -> None:
    texts = write_texts(tmp_path / "in", 2, sentences=1)
    (item,) = ItemReader(0, find_inputs([str(tmp_path / "in")]), SMALL, lambda: parser.tokenizer)
    (tmp_path / f"{item.name}.attempts").write_text(str(MAX_ATTEMPTS))
    report = write_item(parser, item, SMALL, tmp_path, tmp_path)
    assert [failure.id for failure in report.failures] == list(texts)
    assert "too little memory" in report.failures[0].reason
    assert report.shard is None and not (tmp_path / f"{item.name}.attempts").exists()


def test_finished_items_are_left_out(parser: Parser, tmp_path: Path) -> None:
    write_texts(tmp_path / "in", 12)
    files = find_inputs([str(tmp_path / "in")])
    names = [item.name for item in ItemReader(3, files, SMALL, lambda: parser.tokenizer)]
    reader = ItemReader(3, files, SMALL, lambda: parser.tokenizer, done=frozenset({0, 2}))
    assert [item.name for item in reader] == [names[1], *names[3:]]
    assert reader.count == len(names)


def test_the_manifest_does_not_depend_on_interruptions(parser: Parser, model: Path, tmp_path: Path) -> None:
    write_texts(tmp_path / "in", 12)
    (tmp_path / "in" / "bad.txt").write_bytes(b"\xff")
    files = find_inputs([str(tmp_path / "in")])

    def parse(out: Path, *stops: int) -> str:
        """Parse a corpus; stop after some items, then start again."""
        for stop in (*stops, 1000):
            folder = CorpusFolder(out, files, SMALL, model)
            assert not folder.open()
            for chunk in folder.chunks()[1]:
                reader = ItemReader(chunk.number, chunk.files, SMALL, lambda: parser.tokenizer, chunk.done)
                for number, item in enumerate(reader):
                    if number == stop:
                        break
                    write_item(parser, item, SMALL, out, folder.progress)
                else:
                    (folder.progress / chunk_file(chunk.number)).write_text(str(reader.count))
        assert folder.finish()["failed"] == 1
        assert folder.open()
        assert not folder.progress.exists()
        return (out / "manifest.json").read_text()

    manifest = parse(tmp_path / "one")
    assert manifest == parse(tmp_path / "two", 1, 2)
    assert documents_in(tmp_path / "one") == documents_in(tmp_path / "two")
    assert json.loads(manifest)["model"]["card"]["name"] == "toy"
