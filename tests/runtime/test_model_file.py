"""Model files: deterministic, and hostile ones are rejected."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longarc.errors import LongarcError
from longarc.runtime.model_file import read_model_file, write_model_file
from longarc.runtime.parser import load


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


def encoder_with(**values: object) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        data = json.loads(entries["model.json"])
        data["encoder"] |= values
        entries["model.json"] = json.dumps(data).encode()

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
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_or_broken_model_is_refused(toy_models: Path, tmp_path: Path, kind: str) -> None:
    content = (toy_models / "toy" / "toy.longarc").read_bytes()
    (tmp_path / "bad.longarc").write_bytes(HOSTILE[kind](content))
    with pytest.raises(LongarcError) as error:
        load(tmp_path / "bad.longarc", threads=1)
    assert "bad.longarc" in str(error.value)


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
