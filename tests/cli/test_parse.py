"""`longarc parse` on CoNLL-U: only predicted columns change, pipes work, errors are reported."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.ci import skip_or_fail
from tests.helpers.command import LONGARC, run_longarc
from tests.helpers.toy_treebank import toy_conllu

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
def test_only_the_predicted_columns_change(toy_models: Path, tmp_path: Path, keep_tags: bool) -> None:
    (tmp_path / "in.conllu").write_bytes(ODD_INPUT.encode())
    model = toy_models / "toy" / "toy.longarc"
    options = ["--keep-tags"] if keep_tags else []
    result = run_longarc("parse", tmp_path / "in.conllu", "-m", model, "-o", tmp_path / "out.conllu", *options)
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


def test_the_output_is_valid_conllu_where_the_input_is(toy_models: Path, tmp_path: Path) -> None:
    validator = Path(sys.executable).with_name("udvalidate")
    if not validator.exists():
        skip_or_fail("udvalidate (of the package udtools) is not installed")
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
    result = run_longarc(
        "parse", tmp_path / "in.conllu", "-m", toy_models / "toy" / "toy.longarc", "-o", tmp_path / "out.conllu"
    )
    assert result.returncode == 0, result.stderr
    for name in ("in", "out"):
        checked = subprocess.run(
            [validator, "--level=2", "--lang=ud", tmp_path / f"{name}.conllu"], capture_output=True
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_pipes_work(toy_models: Path) -> None:
    text = toy_conllu(20, seed=9)
    result = run_longarc("parse", "-", "-m", toy_models / "toy" / "toy.longarc", stdin=text.encode())
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.decode().split("\n")) == len(text.split("\n"))


def test_a_kill_leaves_nothing_under_the_final_name(toy_models: Path, tmp_path: Path) -> None:
    command = [*LONGARC, "parse", "-"]
    command += ["-m", str(toy_models / "toy" / "toy.longarc"), "-o", str(tmp_path / "out.conllu")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(toy_conllu(50).encode())
        process.stdin.flush()
        while not list(tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    assert not (tmp_path / "out.conllu").exists()


def test_tokens_one_sentence_per_line_are_parsed(toy_models: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("the dog sees the cat .\n\nthe bird hears the child today .\n")
    model = toy_models / "toy" / "toy.longarc"
    options = ["--input", "tokens", "--to", "jsonl", "--probabilities"]
    result = run_longarc("parse", tmp_path / "in.txt", "-m", model, *options)
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


def test_parsing_never_imports_torch(toy_models: Path) -> None:
    code = (
        "import sys, longarc.runtime.parser as p; "
        f"p.load({str(toy_models / 'toy' / 'toy.longarc')!r}).parse(['the', 'dog']); "
        "assert not {'torch', 'onnx', 'matplotlib'} & set(sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_mistakes_end_with_a_message(toy_models: Path, tmp_path: Path) -> None:
    model = toy_models / "toy" / "toy.longarc"
    (tmp_path / "bad.conllu").write_text("1\ta\n\n")
    cases: list[tuple[list[str | Path], bytes]] = [
        (["parse", tmp_path / "bad.conllu", "-m", model, "-o", tmp_path / "out.conllu"], b"bad.conllu:1"),
        (["parse", tmp_path / "bad.conllu", "-m", "klingon"], b"neither a file nor the name of a model"),
        (["parse", tmp_path / "bad.conllu", "-m", tmp_path / "none.longarc"], b"none.longarc"),
        (["info", tmp_path / "bad.conllu"], b"not a Longarc model"),
    ]
    for arguments, message in cases:
        result = run_longarc(*arguments)
        assert result.returncode == 2
        assert message in result.stderr
        assert b"Traceback" not in result.stderr
    assert not list(tmp_path.glob("*out*"))
