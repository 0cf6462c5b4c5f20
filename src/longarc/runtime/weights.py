"""Looking at the weights inside an ONNX file without loading it: a model with broken numbers is refused.

Onnxruntime's ReLU turns NaN into 0, so that broken weights would go unnoticed and give nonsense. Only the little of the
protobuf encoding that leads to the weights is read here (https://protobuf.dev/programming-guides/encoding/).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

GRAPH_FIELD, INITIALIZER_FIELD, TYPE_FIELD, RAW_DATA_FIELD = 7, 5, 2, 9
FLOAT = 1
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def all_weights_are_numbers(graph: bytes) -> bool:
    """Whether every 32-bit weight of the graph is finite; ValueError if the bytes are not protobuf."""
    view = memoryview(graph)
    for number, body in _fields(view):
        if number != GRAPH_FIELD:
            continue
        for inner, tensor in _fields(body):
            if inner == INITIALIZER_FIELD and not _is_finite(tensor):
                return False
    return True


def _is_finite(tensor: memoryview) -> bool:
    kind, data = 0, memoryview(b"")
    for number, body in _fields(tensor):
        if number == TYPE_FIELD:
            kind = int.from_bytes(body, "little")
        elif number == RAW_DATA_FIELD:
            data = body
    if kind != FLOAT or len(data) % 4:
        return True
    return bool(np.isfinite(np.frombuffer(data, dtype="<f4")).all())


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and content of each field; a small whole number as its first byte."""
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        kind = tag & 7
        if kind == VARINT:
            value, position = _varint(message, position)
            yield tag >> 3, memoryview(bytes([value & 0xFF]))
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(kind, 0)
        if kind == BYTES:
            size, position = _varint(message, position)
        if kind not in (FIXED64, FIXED32, BYTES) or position + size > len(message):
            raise ValueError("not a protobuf message")
        yield tag >> 3, message[position : position + size]
        position += size


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(message) or shift > 63:
            raise ValueError("not a protobuf message")
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return value, position
        shift += 7
