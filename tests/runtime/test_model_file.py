"""Model files: deterministic, and hostile ones are rejected."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from longarc.errors import LongarcError
from longarc.runtime.installed_models import EMBEDDED
from longarc.runtime.model_file import DIGESTS, MAX_COMPRESSED_BYTES, read_card, read_model_file, write_model_file
from longarc.runtime.parser import load
from tests.helpers.model_fuzz import pack, unpack
from tests.helpers.small_models import packaged
from tests.helpers.tiny_encoders import untrained_on_an_encoder


def rewritten(change: Callable[[dict[str, bytes]], None]) -> Callable[[bytes], bytes]:
    def rewrite(content: bytes) -> bytes:
        entries = unpack(content)
        change(entries)
        return pack(entries)

    return rewrite


def description_with(**changes: object) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        entries["model.json"] = json.dumps(json.loads(entries["model.json"]) | changes).encode()

    return change


def encoder_with(**values: object) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        data = json.loads(entries["model.json"])
        data["encoder"] |= values
        entries["model.json"] = json.dumps(data).encode()

    return change


def card_with(**values: object) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        entries["card.json"] = json.dumps(json.loads(entries["card.json"]) | values).encode()

    return change


def tokenizer_with(**values: object) -> Callable[[dict[str, bytes]], None]:
    tokenizer = {"characters": "ab", "has_spaces": False, "multiword_tokens": {}, "multiword_endings": {}}
    return description_with(tokenizer=tokenizer | values)


def nan_weights(entries: dict[str, bytes]) -> None:
    model = onnx.load_from_string(entries["model.onnx"])
    tensor = max(model.graph.initializer, key=lambda t: len(t.raw_data))
    array = numpy_helper.to_array(tensor) * np.nan
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    entries["model.onnx"] = model.SerializeToString()


def external_weights(entries: dict[str, bytes]) -> None:
    model = onnx.load_from_string(entries["model.onnx"])
    tensor = model.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "../../../../etc/passwd"
    tensor.ClearField("raw_data")
    entries["model.onnx"] = model.SerializeToString()


def large_compressed_graph(content: bytes) -> bytes:
    """A graph that is too large to be compressed, but otherwise valid: its documentation is long."""
    entries = unpack(content)
    model = onnx.load_from_string(entries["model.onnx"])
    model.doc_string = " " * (MAX_COMPRESSED_BYTES + 1)
    entries["model.onnx"] = model.SerializeToString()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return stream.getvalue()


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
    "too many words": rewritten(encoder_with(words=[str(i) for i in range(100_000)], trained=100_000)),
    "words are numbers": rewritten(encoder_with(words=[1, 2, 3])),
    "words are not distinct": rewritten(encoder_with(words=["a", "a", "b"])),
    "more trained words than words": rewritten(encoder_with(trained=1_000_000)),
    "characters are a list": rewritten(encoder_with(characters=["a"])),
    "unknown encoder": rewritten(encoder_with(kind="os.system")),
    "unknown column": rewritten(description_with(columns={"evil": ["a", "b"]})),
    "columns are a list": rewritten(description_with(columns=["upos"])),
    "an old format": rewritten(description_with(format=0)),
    "no graph for relations": rewritten(lambda entries: entries.__delitem__("relations.onnx")),
    "another system": rewritten(description_with(system="covington")),
    "NaN weights": rewritten(nan_weights),
    "weights in another file": rewritten(external_weights),
    "a large compressed graph": large_compressed_graph,
    "many entries": rewritten(lambda entries: entries.update({f"x{i}": b"" for i in range(100)})),
    "a system that is a list": rewritten(description_with(system=[])),
    "a scheme that is an object": rewritten(description_with(scheme={})),
    "a single root that is a number": rewritten(description_with(single_root=1)),
    "a relation with a tab": rewritten(description_with(relations=["a\tb", "root"])),
    "a relation with a surrogate": rewritten(description_with(relations=["a\ud800", "root"])),
    "an empty relation": rewritten(description_with(relations=["", "root"])),
    "a tag with an escape sequence": rewritten(description_with(columns={"upos": ["\x1b[31m", "b"]})),
    "an empty tag": rewritten(description_with(columns={"upos": ["", "b"]})),
    "a tag that is very long": rewritten(description_with(columns={"upos": ["x" * 5000, "b"]})),
    "words with newlines": rewritten(encoder_with(words=["\0unknown", "\0root", "a\nb"])),
    "words without the root": rewritten(encoder_with(words=["a", "b", "c"])),
    "characters with surrogates": rewritten(encoder_with(characters="a\ud800")),
    "a lone surrogate in a key": rewritten(description_with(**{"\udc80": 1})),
    "a tokenizer that is a list": rewritten(description_with(tokenizer=[])),
    "a tokenizer without a graph": rewritten(tokenizer_with()),
    "a tokenizer with line breaks that are no truth value": rewritten(tokenizer_with(line_breaks=1)),
    "a multiword token without words": rewritten(tokenizer_with(multiword_tokens={"a": []})),
    "a multiword token with an empty word": rewritten(tokenizer_with(multiword_tokens={"a": ["b", ""]})),
    "a multiword token of many words": rewritten(tokenizer_with(multiword_tokens={"a": ["b"] * 1000})),
    "a multiword token with a tab": rewritten(tokenizer_with(multiword_endings={"a": ["", "a\tb"]})),
    "a card that is a list": rewritten(lambda entries: entries.update({"card.json": b"[]"})),
    "an attribution that is a number": rewritten(card_with(attribution=123)),
    "a licence with a newline": rewritten(card_with(licence="a\nb")),
    "a name with an escape sequence": rewritten(card_with(name="\x1b]0;title\x07")),
    "a name that changes the direction": rewritten(card_with(name="a\u202eb")),
    "scores that are a list": rewritten(card_with(scores=[1])),
    "scores that are texts": rewritten(card_with(scores={"dev_las": "90"})),
    "scores that are not numbers": rewritten(card_with(scores={"dev_las": float("nan")})),
    "a card that is deep": rewritten(card_with(versions=[[[[[[[[[[1]]]]]]]]]])),
    "a number that is infinite": rewritten(lambda entries: entries.update({"card.json": b'{"x": 1e999}'})),
    "an unknown key with an escape sequence": rewritten(card_with(**{"\x1b[2J": 1})),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_or_broken_model_is_refused(toy_models: Path, tmp_path: Path, kind: str) -> None:
    content = (toy_models / "toy" / "toy.longarc").read_bytes()
    (tmp_path / "bad.longarc").write_bytes(HOSTILE[kind](content))
    with pytest.raises(LongarcError) as error:
        load(tmp_path / "bad.longarc", threads=1)
    assert "bad.longarc" in str(error.value)
    assert str(error.value).replace("\n", " ").isprintable() and len(str(error.value)) < 1000


def test_entries_that_point_elsewhere_are_not_even_looked_at(toy_models: Path, tmp_path: Path) -> None:
    content = rewritten(lambda entries: entries.update({"../evil.txt": b"x", "/etc/evil": b"x"}))
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "odd.longarc").write_bytes(content((toy_models / "toy" / "toy.longarc").read_bytes()))
    load(tmp_path / "m" / "odd.longarc", threads=1)
    assert not (tmp_path / "evil.txt").exists()


def test_the_same_model_gives_the_same_file(toy_models: Path, tmp_path: Path) -> None:
    package = read_model_file(toy_models / "toy" / "toy.longarc")
    write_model_file(tmp_path / "again.longarc", package)
    assert (tmp_path / "again.longarc").read_bytes() == (toy_models / "toy" / "toy.longarc").read_bytes()


def test_small_graphs_are_compressed(toy_models: Path) -> None:
    with zipfile.ZipFile(toy_models / "toy" / "toy.longarc") as archive:
        graphs = [entry for entry in archive.filelist if entry.filename.endswith(".onnx")]
    for entry in graphs:
        assert (entry.compress_type == zipfile.ZIP_DEFLATED) == (entry.file_size <= MAX_COMPRESSED_BYTES)
    assert any(entry.compress_size < entry.file_size for entry in graphs)


def test_a_card_that_longarc_writes_can_be_read(toy_models: Path, tmp_path: Path) -> None:
    package = read_model_file(toy_models / "toy" / "toy.longarc")
    card = {**package.card, "attribution": "one line\nanother\x1b[31m"}
    write_model_file(tmp_path / "lines.longarc", replace(package, card=card))
    assert read_card(tmp_path / "lines.longarc")["attribution"] == "one line another [31m"


REPORT = """
import pathlib, sys, time
from longarc.errors import LongarcError
from longarc.runtime.model_file import read_model_file

start = time.monotonic()
try:
    read_model_file(sys.argv[1])
except LongarcError as error:
    status = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    print(time.monotonic() - start, int(status["VmHWM"].split()[0]) / 1024, error.message)
"""


def zeros(name: str, size: int) -> Callable[[bytes], bytes]:
    """Return a change that compresses many zeros into a small file."""

    def change(content: bytes) -> bytes:
        entries = unpack(content)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for entry, data in entries.items():
                if entry != name:
                    archive.writestr(entry, data)
            with archive.open(name, "w", force_zip64=True) as target:
                for _ in range(size >> 20):
                    target.write(bytes(1 << 20))
        return stream.getvalue()

    return change


BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "many lists": rewritten(lambda entries: entries.update({"model.json": b"[" + b"[]," * (80 << 20) + b"1]"})),
    "as many lists as fit": rewritten(
        lambda entries: entries.update({"model.json": b'{"a":[' + b"[]," * ((31 << 20) // 3) + b"1]}"})
    ),
    "many objects in a card": rewritten(
        lambda entries: entries.update({"card.json": b'{"a":[' + b"{}," * 340_000 + b"1]}"})
    ),
    "deep lists": rewritten(lambda entries: entries.update({"model.json": b"[" * (30 << 20)})),
    "a number of many digits": rewritten(lambda entries: entries.update({"model.json": b'{"a":' + b"9" * (30 << 20)})),
    "a graph of zeros": zeros("model.onnx", 1 << 30),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads the highest use of memory from /proc")
@pytest.mark.parametrize("kind", BOMBS)
def test_a_small_file_that_unpacks_to_much_is_refused_at_once(toy_models: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bomb.longarc"
    path.write_bytes(BOMBS[kind]((toy_models / "toy" / "toy.longarc").read_bytes()))
    report = subprocess.run([sys.executable, "-c", REPORT, path], capture_output=True, text=True, check=True).stdout
    seconds, megabytes, message = report.split(maxsplit=2)
    assert "bomb.longarc" in message
    assert float(seconds) < 2 and float(megabytes) < 300


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory")
@pytest.mark.parametrize(("name", "count"), [("toy.longarc", 1000), ("toy-int8.longarc", 1000), ("encoder", 500)])
def test_a_mutated_model_gives_a_clear_error_or_works(toy_models: Path, tmp_path: Path, name: str, count: int) -> None:
    path = toy_models / "toy" / name
    if name == "encoder":
        path = tmp_path / "encoder.longarc"
        write_model_file(path, packaged(untrained_on_an_encoder(tmp_path, "bert", spelling_size=4)[0]))
    command = [sys.executable, "-m", "tests.helpers.model_fuzz", str(path), str(count), "0"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-3000:]
    outcomes = json.loads(result.stdout)
    assert sum(outcomes.values()) == count and outcomes["works"] > count / 20 and len(outcomes) > count / 10


def test_every_embedded_model_has_its_digest() -> None:
    lines = (EMBEDDED / DIGESTS).read_text().splitlines()
    assert {line.split()[1] for line in lines} == {path.name for path in EMBEDDED.glob("*.longarc")}
    for line in lines:
        digest, name = line.split()
        assert hashlib.sha256((EMBEDDED / name).read_bytes()).hexdigest() == digest


def test_an_embedded_model_that_was_changed_is_refused(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longarc.runtime.model_file.EMBEDDED", tmp_path)
    shutil.copy(model, tmp_path / "xx.longarc")
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    (tmp_path / DIGESTS).write_text(f"{digest}  xx.longarc\n")
    read_model_file(tmp_path / "xx.longarc")
    read_model_file(model)
    (tmp_path / DIGESTS).write_text(f"{digest[::-1]}  xx.longarc\n")
    with pytest.raises(LongarcError, match="not the model that was released"):
        read_model_file(tmp_path / "xx.longarc")
