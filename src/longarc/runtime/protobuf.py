"""Read protobuf messages strictly (https://protobuf.dev/programming-guides/encoding/), without copying their bytes.

Only what protobuf's own writers produce is accepted: known fields in ascending order, once each unless repeated, and
numbers in their shortest form. Every reader therefore reads the same from these bytes, so that nothing can be hidden
from a check and still be seen by onnxruntime.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

VARINT, BYTES, FIXED_32 = 0, 2, 5
MAX_FIELDS = 50_000
MAX_DEPTH = 16

Message = dict[str, Any]
"""The values of a message by field name: int, float, str, memoryview, Message, or a list of one of these."""


@dataclass(frozen=True)
class Field:
    """A field of a message: its name and whether it is int, float, str, bytes or a message with other fields."""

    name: str
    kind: Any
    repeated: bool = False


Schema = Mapping[int, Field]


def read_message(content: bytes, schema: Schema) -> Message:
    """Return a message; raise ValueError if the bytes are not one that protobuf writes."""
    return _Reader().read(memoryview(content), schema, 0)


def packed_numbers(data: memoryview) -> Iterator[int]:
    """Yield the numbers of a packed field."""
    position = 0
    while position < len(data):
        number, position = _varint(data, position)
        yield _signed(number)


class _Reader:
    def __init__(self) -> None:
        self._fields = 0

    def read(self, message: memoryview, schema: Schema, depth: int) -> Message:
        if depth > MAX_DEPTH:
            raise ValueError("messages are nested too deeply")
        values: Message = {}
        position = last = 0
        while position < len(message):
            self._fields += 1
            if self._fields > MAX_FIELDS:
                raise ValueError(f"more than {MAX_FIELDS:,} fields")
            tag, position = _varint(message, position)
            number, wire_type = tag >> 3, tag & 7
            field = schema.get(number)
            if field is None or wire_type != _wire_type(field.kind):
                raise ValueError(f"unexpected field {number}")
            if number < last or (number == last and not field.repeated):
                raise ValueError(f"unexpected repetition or order of {field.name}")
            last = number
            value, position = self._value(message, position, field.kind, depth)
            if field.repeated:
                values.setdefault(field.name, []).append(value)
            else:
                values[field.name] = value
        return values

    def _value(self, message: memoryview, position: int, kind: Any, depth: int) -> tuple[Any, int]:
        if kind is float:
            if position + 4 > len(message):
                raise ValueError("a field is longer than its message")
            return struct.unpack_from("<f", message, position)[0], position + 4
        number, position = _varint(message, position)
        if kind is int:
            return _signed(number), position
        end = position + number
        if end > len(message):
            raise ValueError("a field is longer than its message")
        data = message[position:end]
        if kind is str:
            return _text(data), end
        return (data if kind is bytes else self.read(data, kind, depth + 1)), end


def _wire_type(kind: Any) -> int:
    return VARINT if kind is int else FIXED_32 if kind is float else BYTES


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(message):
            break
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if (byte == 0 and shift) or value >= 1 << 64:
                raise ValueError("a number is not in its shortest form")
            return value, position
    raise ValueError("a number has no end")


def _text(data: memoryview) -> str:
    text = str(data, "utf-8")  # UnicodeDecodeError is a ValueError
    if not text.isprintable():
        raise ValueError("a name is not printable")
    return text


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number
