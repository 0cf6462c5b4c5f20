"""Load thousands of mutated model files: each gives one clear error or works.

Run as `python -m tests.helpers.model_fuzz MODEL COUNT SEED`, in a process with limits of memory and time; it prints how
many files were accepted.
"""

from __future__ import annotations

import copy
import io
import json
import random
import resource
import signal
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import onnx

from longarc.errors import LongarcError
from longarc.runtime.graph_check import OPERATORS
from longarc.runtime.model_file import read_model_file
from longarc.runtime.parser import Parser

MORE_MEMORY = 1 << 30
"""Bytes of address space that the process may use besides what it used before the first file."""
SECONDS = 10
"""The time for one file; the process dies of SIGALRM after it."""
SENTENCES = [["the", "dog", "sees", "a", "cat", "."], ["x"], ["word"] * 40]
NUMBERS = [0, 1, -1, 2, 3, 7, 8, 64, 127, 128, 255, 1 << 16, (1 << 31) - 1, -(1 << 31)]
LARGE = [1 << 40, (1 << 63) - 1, -(1 << 63)]
TEXTS = ["", "_", "a\tb", "a\nb", "\x1b[31mred", "\ud800", "\u202e", "\0", "x" * 5000, "root", "words", "é"]
VALUES: list[Any] = [None, True, [], {}, 0, -1, 10**30, 1.5, 1e308, [[]], [1], {"a": 1}, ["a", "a"], [["a"]], *TEXTS]


def pack(entries: dict[str, bytes]) -> bytes:
    """Return an archive with correct checksums, compressed as Longarc does."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in entries.items():
            kind = zipfile.ZIP_STORED if name.endswith(".onnx") else zipfile.ZIP_DEFLATED
            archive.writestr(name, data, kind)
    return stream.getvalue()


def unpack(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def mutated_json(data: Any, rng: random.Random) -> Any:
    """Return JSON data with a value replaced, removed or repeated somewhere."""
    if isinstance(data, (dict, list)) and data and rng.random() < 0.8:
        data = copy.copy(data)
        key: Any = rng.choice(list(data) if isinstance(data, dict) else range(len(data)))
        choice = rng.random()
        if choice < 0.1:
            del data[key]
        elif choice < 0.2:
            if isinstance(data, dict):
                data[rng.choice(TEXTS)] = data[key]
            else:
                data.insert(rng.randrange(len(data)), data[key])
        else:
            data[key] = mutated_json(data[key], rng)
        return data
    return rng.choice(VALUES)


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with a few changed, inserted, removed or repeated."""
    result = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        start = rng.randrange(len(result) + 1)
        end = start + rng.choice([0, 1, 1, 2, 16])
        result[start:end] = rng.choice([b"", rng.randbytes(1), rng.randbytes(2), bytes(result[start:end]) * 2])
    return bytes(result)


def mutated_graph(content: bytes, rng: random.Random) -> bytes:
    """Return a graph with one to three changed fields."""
    model = onnx.load_from_string(content)
    messages = list(messages_in(model))
    names = [name for message in messages if isinstance(message, onnx.NodeProto) for name in message.output]
    for _ in range(rng.choice([1, 1, 2, 3])):
        # Small messages outnumber the others, so that first a type of message is chosen.
        kind = rng.choice(sorted({type(message).__name__ for message in messages}))
        change_field(rng.choice([item for item in messages if type(item).__name__ == kind]), names, rng)
    return bytes(model.SerializeToString())


def messages_in(message: Any) -> Any:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for item in value if hasattr(value, "append") or hasattr(value, "add") else [value]:
                yield from messages_in(item)


def change_field(message: Any, names: list[str], rng: random.Random) -> None:
    fields = list(message.DESCRIPTOR.fields) if rng.random() < 0.2 else [field for field, _ in message.ListFields()]
    if not fields:
        return
    field = rng.choice(fields)
    value = getattr(message, field.name)
    if hasattr(value, "append") or hasattr(value, "add"):  # repeated
        if not len(value):
            if field.message_type is not None:
                value.add()
            return
        index = rng.randrange(len(value))
        choice = rng.random()
        if choice < 0.3:
            del value[index]
        elif choice < 0.5:
            value.append(value[index])
        elif field.message_type is None:
            value[index] = other(value[index], field, names, rng)
        else:
            value[index].CopyFrom(rng.choice(value))
    elif field.message_type is not None:
        message.ClearField(field.name) if rng.random() < 0.5 else value.SetInParent()
    else:
        try:
            setattr(message, field.name, other(value, field, names, rng))
        except ValueError:  # an enumeration without this number
            message.ClearField(field.name)


def other(value: Any, field: Any, names: list[str], rng: random.Random) -> Any:
    if isinstance(value, str):
        texts = [text for text in TEXTS if text.isprintable() or text == "\x1b[31mred"]
        return rng.choice([*texts, *(name for _, name in OPERATORS), *names])
    if isinstance(value, bytes):
        return mutated_bytes(value, rng)
    if isinstance(value, float):
        return rng.choice([0.0, 1e38, -1e38, float("nan"), float("inf")])
    wide = field.cpp_type == field.CPPTYPE_INT64
    return rng.choice([*NUMBERS, *(LARGE if wide else []), value + 1 if abs(value) < 1 << 30 else 0])


def mutated_file(content: bytes, rng: random.Random) -> bytes:
    entries = unpack(content)
    choice = rng.random()
    if choice < 0.05:
        return mutated_bytes(content, rng)
    name = rng.choice([name for name in entries if name.endswith(".json") == (choice < 0.45)])
    if choice < 0.35:
        data = json.loads(entries[name])
        for _ in range(rng.choice([1, 1, 3])):
            data = mutated_json(data, rng)
        entries[name] = json.dumps(data).encode()
    elif choice < 0.45 or choice > 0.85 or name.endswith(".bin"):
        entries[name] = mutated_bytes(entries[name], rng)
    else:
        entries[name] = mutated_graph(entries[name], rng)
    return pack(entries)


def try_file(content: bytes) -> str:
    """Return "works" or an error's message; raise anything that is no clear error."""
    try:
        model = read_model_file(io.BytesIO(content))
        for graph in model.graphs.values():
            # Onnxruntime reads exactly what was checked: there is only one way to write it.
            assert onnx.load_from_string(graph).SerializeToString() == graph, "another way to write a graph"
        parser = Parser(model, threads=1)
        for parsed in map(parser.parse, SENTENCES):
            assert all(0 <= head <= len(parsed.forms) for head in parsed.node_heads[1:]), "no tree"
            str(parsed)
    except LongarcError as error:
        assert str(error).replace("\n", "").isprintable(), "an error that harms the terminal"
        return error.message
    return "works"


def main(path: str, count: int, seed: int) -> None:
    content = Path(path).read_bytes()
    assert try_file(content) == "works"
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MORE_MEMORY,) * 2)
    results: Counter[str] = Counter()
    for number in range(seed, seed + count):
        hostile = mutated_file(content, random.Random(number))
        signal.alarm(SECONDS)
        try:
            results[try_file(hostile)] += 1
        except Exception:
            print(f"seed {number} of {path}", file=sys.stderr)
            raise
        signal.alarm(0)
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
