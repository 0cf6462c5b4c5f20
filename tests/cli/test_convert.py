"""`longarc convert`: formats, encodings, compression, pipes and output files."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from longarc.data.conll import read_all
from longarc.trees.structure import is_projective
from tests.data.test_conll import ROW
from tests.helpers.command import LONGARC, longarc
from tests.helpers.converted_files import conllu_files, conllx_files
from tests.helpers.generators import PACK, UNPACK, quick, sentence_of, word
from tests.helpers.small_files import CONLLU, CONLLX, JSON, NONPROJECTIVE

# ---------------------------------------------------------------------------------------------------------------------
# Lossless


def test_standard_input_and_output_pass_bytes_through() -> None:
    data = b"\xef\xbb\xbf# a\r\n" + ROW.replace(b"\n", b"\r\n") + b" \r\n# end"
    assert longarc("convert", "-", "-", stdin=data).stdout == data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("convert")


def done(*arguments: str | Path, stdin: bytes = b"") -> bytes:
    """What a command that succeeds without a word writes to standard output."""
    outcome = longarc(*arguments, stdin=stdin)
    assert (outcome.status, outcome.stderr) == (0, "")
    return outcome.stdout


# ---------------------------------------------------------------------------------------------------------------------
# CoNLL-X and CoNLL-U


@settings(quick, max_examples=30)
@given(conllx_files())
def test_conllx_to_conllu_and_back_gives_the_same_bytes(folder: Path, data: bytes) -> None:
    (folder / "a.conll").write_bytes(data)
    done("convert", folder / "a.conll", folder / "b.conllu")
    done("convert", folder / "b.conllu", folder / "c.conll")
    assert (folder / "c.conll").read_bytes() == data


LOSSES = {
    "comments: 1": "# text\n" + word(1, 0),
    "comments: 2": "# text\n" + word(1, 0) + "# stray\n" + word(2, 0),
    "multiword tokens: 1": word("1-2") + word(1, 0) + word(2, 1),
    "empty nodes: 1": word(1, 0) + word("1.1"),
    "DEPS values: 1": word(1, 0).replace("_\t_\n", "0:root\t_\n"),
    "MISC values: 1": word(1, 0).replace("_\n", "SpaceAfter=No\n"),
    "spaces in FORM, LEMMA or other columns: 1": word(1, 0, "New York"),
    "or other columns: 1": word(1, 0).replace("w\t_", "w\tNew York"),
}


@pytest.mark.parametrize(("reported", "text"), list(LOSSES.items()))
def test_what_conllx_cannot_hold_is_reported(reported: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(text + "\n")
    outcome = longarc("convert", "--from", "conllu", tmp_path / "in.conllu", tmp_path / "out.conll")
    assert outcome.status == 0
    assert "CoNLL-X cannot represent everything; left out: " in outcome.stderr
    assert reported in outcome.stderr
    rows = [line.split("\t") for line in (tmp_path / "out.conll").read_text().splitlines() if line]
    assert [row[0] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    assert all(" " not in field for row in rows for field in row)


@pytest.mark.parametrize("text", [CONLLX + "# end\n", "# only a comment\n"])
def test_comments_after_the_last_sentence_are_not_lost_silently_either(text: str, tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(text)
    outcome = longarc("convert", "--from", "conllu", tmp_path / "in.conllu", tmp_path / "out.conll")
    assert "comments: 1" in outcome.stderr
    assert "#" not in (tmp_path / "out.conll").read_text()


def test_nothing_is_reported_where_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "in.conll").write_text(CONLLX)
    assert done("convert", tmp_path / "in.conll", tmp_path / "out.conll") == b""
    assert (tmp_path / "out.conll").read_text() == CONLLX


# ---------------------------------------------------------------------------------------------------------------------
# JSON lines


@settings(quick, max_examples=30)
@given(conllu_files())
def test_conllu_to_json_lines_and_back_gives_the_same_bytes(folder: Path, data: bytes) -> None:
    (folder / "a.conllu").write_bytes(data)
    done("convert", folder / "a.conllu", folder / "b.jsonl")
    done("convert", folder / "b.jsonl", folder / "c.conllu")
    assert (folder / "c.conllu").read_bytes() == data


# ---------------------------------------------------------------------------------------------------------------------
# Which format

AS_CONLLX = CONLLU.split("Dogs bark\n")[1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("out.conllu", CONLLU),
        ("out.conll", AS_CONLLX),
        ("out.conllx", AS_CONLLX),
        ("out.jsonl", JSON),
        ("out.ndjson", JSON),
        ("da.ddt.v1.conllu", CONLLU),
        ("OUT.CONLLU", CONLLU),
        ("out.JsonL", JSON),
    ],
)
@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_the_suffix_chooses_the_format(name: str, expected: str, packing: str, tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    assert longarc("convert", tmp_path / "in.conllu", tmp_path / (name + packing)).status == 0
    data = (tmp_path / (name + packing)).read_bytes()
    assert UNPACK[packing](data).decode() == expected


@pytest.mark.parametrize("name", ["out", "out.txt", "out.gz", "conllu"])
def test_a_suffix_that_says_nothing_is_an_error_with_a_hint(name: str, tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    outcome = longarc("convert", tmp_path / "in.conllu", tmp_path / name)
    assert outcome.status == 2
    assert "the suffix does not select a format" in outcome.stderr
    assert ".conllu, .conll or .jsonl" in outcome.stderr
    assert "--to" in outcome.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "in.conllu"]


def test_to_overrules_the_suffix(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    done("convert", "--to", "jsonl", tmp_path / "in.conllu", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == JSON


def test_from_overrules_the_content_and_the_name(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(JSON)
    assert done("convert", "--from", "jsonl", tmp_path / "in.txt", "-").decode() == CONLLU
    (tmp_path / "in.jsonl").write_text(CONLLU)
    assert done("convert", "--from", "conllu", tmp_path / "in.jsonl", "-").decode() == CONLLU


def test_pipes_work_both_ways() -> None:
    assert done("convert", "-", "-", stdin=CONLLX.encode()).decode() == CONLLX, "the format is kept"
    as_json = done("convert", "--to", "jsonl", "-", "-", stdin=CONLLU.encode())
    assert as_json.decode() == JSON
    assert done("convert", "--from", "jsonl", "-", "-", stdin=as_json).decode() == CONLLU
    assert done("convert", "-", "-", stdin=gzip.compress(CONLLU.encode())).decode() == CONLLU


def test_commands_can_be_chained_in_a_shell(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_bytes(CONLLU.replace("\n", "\r\n").encode() * 3)
    command = f"'{sys.executable}' -c 'from longarc.cli.main import run; run()' convert"
    chain = f"{command} in.conllu - | {command} - out.conllu"
    outcome = subprocess.run(["sh", "-c", chain], cwd=tmp_path, capture_output=True, timeout=60)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, b"", b"")
    assert (tmp_path / "out.conllu").read_bytes() == (tmp_path / "in.conllu").read_bytes()


def test_a_reader_that_has_had_enough_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU * 20_000)
    command = f"'{sys.executable}' -c 'from longarc.cli.main import run; run()' convert in.conllu - | head -n 1"
    outcome = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=60)
    assert (outcome.stdout, outcome.stderr) == (b"# sent_id = 1\n", b"")


# ---------------------------------------------------------------------------------------------------------------------
# Projective and not


@pytest.mark.parametrize("scheme", ["head", "path", "head+path"])
def test_projectivised_trees_become_what_they_were(scheme: str, tmp_path: Path) -> None:
    text = CONLLU + NONPROJECTIVE + "# end\n"
    (tmp_path / "a.conllu").write_text(text)
    done("convert", "--projectivize", scheme, tmp_path / "a.conllu", tmp_path / "b.conllu")
    first, second = read_all(tmp_path / "b.conllu")
    assert not is_projective(sentence_of(NONPROJECTIVE).node_heads)
    assert is_projective(second.node_heads)
    assert first.to_conll() == CONLLU
    changed = [row[0] for row, old in zip(second.rows, sentence_of(NONPROJECTIVE).rows, strict=True) if row != old]
    assert changed == (["5"] if scheme == "head" else ["2", "5"])
    done("convert", "--deprojectivize", tmp_path / "b.conllu", tmp_path / "c.conllu")
    assert (tmp_path / "c.conllu").read_text() == text


def test_projectivize_and_deprojectivize_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU)
    outcome = longarc("convert", "--projectivize", "head", "--deprojectivize", tmp_path / "a.conllu", "-")
    assert outcome.status == 2
    assert "exclude each other" in outcome.stderr


def test_an_unknown_scheme_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    outcome = longarc("convert", "--projectivize", "tail", tmp_path / "a.conllu", "-")
    assert outcome.status == 2
    assert "head+path" in outcome.stderr


# ---------------------------------------------------------------------------------------------------------------------
# Encodings


def test_the_encoding_is_kept_unless_another_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "in.conll").write_bytes(CONLLX.encode("latin-1"))
    done("convert", "--encoding", "latin-1", tmp_path / "in.conll", tmp_path / "same.conll")
    assert (tmp_path / "same.conll").read_bytes() == CONLLX.encode("latin-1")
    options = ("--encoding", "latin-1", "--output-encoding", "utf-8")
    done("convert", *options, tmp_path / "in.conll", tmp_path / "out.conll")
    assert (tmp_path / "out.conll").read_bytes() == CONLLX.encode()
    done("convert", "--encoding", "latin-1", tmp_path / "in.conll", tmp_path / "out.jsonl")
    assert "gør" in (tmp_path / "out.jsonl").read_text(encoding="utf-8")


def test_a_character_that_the_output_encoding_lacks_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU.replace("bark", "λ1"))
    outcome = longarc("convert", "--output-encoding", "latin-1", tmp_path / "in.conllu", tmp_path / "out.conllu")
    assert outcome.status == 2
    assert "'λ' cannot be written in latin-1" in outcome.stderr
    assert "--output-encoding utf-8" in outcome.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "in.conllu"]


def test_an_unknown_output_encoding_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    outcome = longarc("convert", "--output-encoding", "klingon", tmp_path / "in.conllu", tmp_path / "out.conllu")
    assert outcome.status == 2
    assert "unknown encoding 'klingon'" in outcome.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "in.conllu"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_an_encoding_with_a_byte_order_mark_is_refused_or_writes_one_mark(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU * 3)
    outcome = longarc("convert", "--output-encoding", encoding, tmp_path / "in.conllu", tmp_path / "out.conllu")
    assert outcome.status == 2 or (tmp_path / "out.conllu").read_bytes().decode(encoding) == CONLLU * 3


# ---------------------------------------------------------------------------------------------------------------------
# Where the output goes


def test_a_symbolic_link_stays_one_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "real.conllu").write_text("old")
    (tmp_path / "link.conllu").symlink_to("store/real.conllu")
    (tmp_path / "dangling.conllu").symlink_to("store/new.conllu")
    for name, real in (("link.conllu", "real.conllu"), ("dangling.conllu", "new.conllu")):
        done("convert", tmp_path / "in.conllu", tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "store" / real).read_text() == CONLLU
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == ["new.conllu", "real.conllu"]


def test_the_name_that_was_given_says_whether_to_compress(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    (tmp_path / "out.conllu.gz").symlink_to("object-1234")
    done("convert", tmp_path / "in.conllu", tmp_path / "out.conllu.gz")
    assert gzip.decompress((tmp_path / "object-1234").read_bytes()).decode() == CONLLU


def test_a_device_is_written_and_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    done("convert", tmp_path / "in.conllu", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_that_has_a_name_is_written_as_it_is(tmp_path: Path) -> None:
    """`/dev/stdout` into a pipe; what a shell makes of `>(…)` is such a name too."""
    (tmp_path / "in.conllu").write_text(CONLLU)
    outcome = subprocess.run(
        [*LONGARC, "convert", "in.conllu", "/dev/stdout"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, CONLLU, "")


@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_a_file_can_be_converted_in_place(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"in.conllu{packing}"
    path.write_bytes(PACK[packing](NONPROJECTIVE.encode() * 300))
    done("convert", "--projectivize", "head", path, path)
    assert len(read_all(path)) == 300
    done("convert", "--deprojectivize", path, path)
    assert UNPACK[packing](path.read_bytes()) == NONPROJECTIVE.encode() * 300
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_written_over_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    (tmp_path / "out.conllu").touch()
    (tmp_path / "out.conllu").chmod(0o600)
    done("convert", tmp_path / "in.conllu", tmp_path / "out.conllu")
    assert (tmp_path / "out.conllu").stat().st_mode & 0o777 == 0o600


def test_the_same_sentences_give_the_same_archive(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(CONLLU)
    for suffix in (".gz", ".xz"):
        for name in ("a", "b"):
            done("convert", tmp_path / "in.conllu", tmp_path / f"{name}.conllu{suffix}")
        assert (tmp_path / f"a.conllu{suffix}").read_bytes() == (tmp_path / f"b.conllu{suffix}").read_bytes()
