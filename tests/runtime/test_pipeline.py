"""Files in, parsed files out, without the command line."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from longarc.data.conll import parse_conll, read_all
from longarc.data.files import ByteCounter
from longarc.data.formats import InputFormat
from longarc.data.sentence import MISC
from longarc.errors import InputError, LongarcError
from longarc.runtime.parse_progress import ParseProgress
from longarc.runtime.parser import Parser, load
from longarc.runtime.pipeline import (
    InputOptions,
    InputReader,
    ParseOptions,
    SentenceWriter,
    conll_encoding,
    format_sentence,
    parse_files,
)

ROW = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t_\n"
CONLLU = "# sent_id = 1\n" + ROW.format(1, "She") + ROW.format(2, "left") + "\n"
CONLLX = "1\tHunde\t_\tNN\tNN\t_\t2\tsubj\t2\tPSUBJ\n2\tbellen\t_\tVB\tVB\t_\t0\troot\t_\t_\n\n"
JSON = '{"comments": ["# sent_id = 1"], "tokens": [{"id": 1, "form": "She"}, {"id": 2, "form": "left"}]}\n'


def forms_in(parser: Parser, data: str, format: InputFormat | None = None) -> list[list[str]]:
    reader = InputReader(io.BytesIO(data.encode()), parser.tokenizer, InputOptions(format=format))
    return [sentence.forms for sentence in reader]


@pytest.mark.parametrize("data", [CONLLU, CONLLX.replace("Hunde", "She").replace("bellen", "left"), JSON, "She left"])
def test_the_format_of_an_input_is_detected(english: Parser, data: str) -> None:
    assert forms_in(english, data) == [["She", "left"]]


def test_tokens_are_read_if_asked_for(english: Parser) -> None:
    assert forms_in(english, "a.b c\n\nd\n", "tokens") == [["a.b", "c"], ["d"]]


def test_raw_text_is_numbered_and_named(english: Parser) -> None:
    source = io.BytesIO(b"She left. He stayed.")
    options = InputOptions(format="text", ranges=True)
    first, second = InputReader(source, english.tokenizer, options, first_number=7, document="a")
    assert first.comments == ["# newdoc id = a", "# sent_id = 7", "# text = She left."]
    assert second.comments == ["# sent_id = 8", "# text = He stayed."]
    assert "TokenRange=10:12" in second.to_conll()


def test_what_follows_the_last_sentence_is_the_tail(english: Parser) -> None:
    reader = InputReader(io.BytesIO(f"{CONLLU}# end\n".encode()), english.tokenizer)
    assert len(list(reader)) == 1
    assert reader.tail == "# end\n"


def test_invalid_sentences_are_skipped_if_someone_wants_to_know(english: Parser, tmp_path: Path) -> None:
    source = tmp_path / "in.conllu"
    source.write_text(CONLLU + CONLLU.replace("2\tleft", "7\tleft") + CONLLU)
    errors: list[InputError] = []
    report = parse_files(english, [source], tmp_path / "out.conllu", on_invalid=errors.append)
    assert (report.sentences, [error.line for error in errors]) == (2, [7])
    with pytest.raises(InputError, match=r"in\.conllu:7"):
        parse_files(english, [source], tmp_path / "other.conllu")
    assert not (tmp_path / "other.conllu").exists()


def test_files_are_written_one_after_the_other(english: Parser, tmp_path: Path) -> None:
    first, second, text = tmp_path / "a.conllu", tmp_path / "b.conllu", tmp_path / "c.txt"
    first.write_text("\ufeff" + CONLLU.rstrip("\n"))
    second.write_text("\ufeff" + CONLLU + "# end\n")
    text.write_text("He stayed.")
    target = tmp_path / "out.conllu"
    report = parse_files(english, [first, second, text], target)
    output = target.read_text()
    assert (report.sentences, report.lost) == (3, {})
    assert (output.startswith("\ufeff"), output.count("\ufeff")) == (True, 1)
    assert f"# end\n\n# newdoc id = {text}\n# sent_id = 3\n" in output
    assert [sentence.forms for sentence in read_all(target)] == [["She", "left"]] * 2 + [["He", "stayed", "."]]


def test_a_single_file_keeps_every_byte_that_is_not_predicted(english: Parser, tmp_path: Path) -> None:
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu"
    data = "\ufeff" + CONLLU.replace("\n", "\r\n") + "\r\n# end"
    source.write_bytes(data.encode())
    parse_files(english, [source], target)
    rows = [line.split(b"\t") for line in target.read_bytes().split(b"\n")]
    kept = [b"\t".join([*row[:2], *[b"_"] * 6, *row[8:]]) if len(row) > 1 else row[0] for row in rows]
    assert b"\n".join(kept).decode() == data


def test_what_conllx_cannot_represent_is_counted(english: Parser, tmp_path: Path) -> None:
    source = tmp_path / "in.conllu"
    source.write_text(CONLLU)
    report = parse_files(english, [source], tmp_path / "out.conll", ParseOptions(output_format="conllx"))
    assert report.lost == {"comments": 1}


def written(parser: Parser, source: str, format: str, *, probabilities: bool) -> str:
    stream = io.BytesIO()
    writer = SentenceWriter(stream, format)
    for parsed in parser.stream(parse_conll(source), probabilities=probabilities):
        writer.write(parsed)
    return stream.getvalue().decode()


@pytest.mark.parametrize(
    ("source", "misc"),
    [(CONLLU, "_"), (CONLLX, "PHEAD=2|PDEPREL=PSUBJ"), (CONLLU.replace("\t_\n", "\tA=b|Prob=0.1|C\n"), "A=b|C")],
)
def test_probabilities_are_written_and_outdated_ones_removed(english: Parser, source: str, misc: str) -> None:
    tokens = json.loads(written(english, source, "jsonl", probabilities=True))["tokens"]
    first, second = parse_conll(written(english, source, "conllu", probabilities=True))[0].word_rows
    assert first[MISC] == (f"{misc}|" if misc != "_" else "") + f"Prob={tokens[0]['probability']:.4f}"
    assert second[MISC].endswith(f"Prob={tokens[1]['probability']:.4f}")
    assert tokens[0].get("misc", "_") == misc
    assert parse_conll(written(english, source, "conllu", probabilities=False))[0].word_rows[0][MISC] == misc
    assert "prob" not in written(english, source, "jsonl", probabilities=False).lower()


def test_writing_does_not_change_the_sentence_or_its_probabilities(english: Parser) -> None:
    parsed = english.parse(["She", "left"])
    before = parsed.to_conll()
    assert "Prob=" in format_sentence(parsed, "conllu", parsed.probabilities)
    assert parsed.to_conll() == before


def test_the_encoding_of_the_input_is_kept_if_columns_can_be_written_in_it(english: Parser, tmp_path: Path) -> None:
    assert [conll_encoding(name) for name in ("latin-1", "utf-16")] == ["latin-1", "utf-8"]
    for encoding, expected in (("latin-1", "latin-1"), ("utf-16", "utf-8")):
        source, target = tmp_path / "in.txt", tmp_path / "out.conllu"
        source.write_bytes("Two cafés.".encode(encoding))
        parse_files(english, [source], target, ParseOptions(InputOptions(encoding=encoding)))
        assert "cafés" in target.read_bytes().decode(expected)
    with pytest.raises(LongarcError, match="utf-16"):
        SentenceWriter(io.BytesIO(), "conllu", "utf-16")


def test_bytes_are_counted_before_decompression(english: Parser, tmp_path: Path) -> None:
    source = tmp_path / "in.conllu.gz"
    source.write_bytes(gzip.compress(CONLLU.encode() * 1000))
    counter = ByteCounter()
    reader = InputReader(source, english.tokenizer, counter=counter)
    assert sum(1 for _ in reader) == 1000
    assert counter.count == source.stat().st_size


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_sentences_when_they_are_parsed(model: Path, tmp_path: Path, threads: int) -> None:
    source, progress = tmp_path / "in.conllu", ParseProgress()
    source.write_text(CONLLU * 300)
    assert progress.share(source.stat().st_size) == 0
    parse_files(load(model, threads=threads), [source], tmp_path / "out.conllu", progress=progress)
    assert progress.sentences_parsed == progress.sentences_read == 300
    assert progress.share(source.stat().st_size) == 1
    assert progress.share(2 * source.stat().st_size) == 0.5
