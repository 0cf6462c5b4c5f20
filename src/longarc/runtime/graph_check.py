"""Check that an ONNX graph is one that Longarc could have written, before onnxruntime sees it.

Fields, operators and attributes are allow-listed: among other things, a graph cannot refer to other files or define
functions. Constants contain exactly the finite numbers that they declare, and sizes follow from the description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.runtime.protobuf import Field, Message, Schema, packed_numbers, read_message

IR_VERSION = 8
DOMAINS = {"": 17, "com.microsoft": 1}
"""The operator sets and their versions."""
FLOAT_VALUE, INT, STRING, TENSOR, GRAPH, INTS = 1, 2, 3, 4, 5, 7
"""The types of attributes."""
VALUE_FIELDS = {FLOAT_VALUE: "f", INT: "i", STRING: "s", TENSOR: "t", GRAPH: "g", INTS: "ints"}
FLOAT, INT8, INT64 = 1, 3, 7
DTYPES: dict[int, Any] = {FLOAT: "<f4", INT8: "<i1", INT64: "<i8"}
"""The types of constants."""
VALUE_TYPES = {FLOAT, 2, INT8, 6, INT64, 9}
"""The types of inputs, outputs and intermediate values: also uint8, int32 and bool."""
DIRECTIONS = {b"forward": 1, b"bidirectional": 2}
"""The directions of LSTMs, and how many each value stands for."""

LSTM_ATTRIBUTES = {"direction": STRING, "hidden_size": INT}
OPERATORS: dict[tuple[str, str], dict[str, int]] = {
    ("", "Add"): {},
    ("", "ArgMax"): {"axis": INT, "keepdims": INT},
    ("", "Cast"): {"to": INT},
    ("", "Concat"): {"axis": INT},
    ("", "Constant"): {"value": TENSOR},
    ("", "Conv"): {"pads": INTS},
    ("", "CumSum"): {},
    ("", "Div"): {},
    ("", "DynamicQuantizeLinear"): {},
    ("", "Expand"): {},
    ("", "Gather"): {"axis": INT},
    ("", "If"): {"then_branch": GRAPH, "else_branch": GRAPH},
    ("", "LSTM"): LSTM_ATTRIBUTES,
    ("", "LayerNormalization"): {"axis": INT, "epsilon": FLOAT_VALUE},
    ("", "MatMul"): {},
    ("", "MatMulInteger"): {},
    ("", "Mul"): {},
    ("", "Pad"): {},
    ("", "ReduceLogSumExp"): {"axes": INTS, "keepdims": INT},
    ("", "ReduceMax"): {"axes": INTS, "keepdims": INT},
    ("", "ReduceSum"): {"keepdims": INT},
    ("", "Relu"): {},
    ("", "Reshape"): {},
    ("", "Scan"): {"body": GRAPH, "num_scan_inputs": INT},
    ("", "Shape"): {},
    ("", "Slice"): {},
    ("", "Softmax"): {"axis": INT},
    ("", "Squeeze"): {},
    ("", "Sub"): {},
    ("", "Transpose"): {"perm": INTS},
    ("", "Unsqueeze"): {},
    ("", "Where"): {},
    ("com.microsoft", "DynamicQuantizeLSTM"): LSTM_ATTRIBUTES,
    ("com.microsoft", "FastGelu"): {},
    ("com.microsoft", "Gelu"): {},
    ("com.microsoft", "FusedMatMul"): {"alpha": FLOAT_VALUE, "transB": INT},
}
"""The attributes of each operator that the exporter and onnxruntime's quantization write."""

MAX_NODES = 2_000
MAX_GRAPHS = 5
"""A scorer of arcs with relations has two Scans, one of them in one of the two branches of an If."""
MAX_INPUTS = 16
"""Inputs of a node."""
MAX_AXES = 4
MAX_SHAPE_VALUE = 1 << 16
MAX_ATTRIBUTE_VALUE = 64
"""The largest axis, padding or type."""
MAX_PACKED_BYTES = 4096

_DIMENSION: Schema = {1: Field("dim_value", int), 2: Field("dim_param", str)}
_SHAPE: Schema = {1: Field("dim", _DIMENSION, repeated=True)}
_TENSOR_TYPE: Schema = {1: Field("elem_type", int), 2: Field("shape", _SHAPE)}
_VALUE_INFO: Schema = {1: Field("name", str), 2: Field("type", {1: Field("tensor_type", _TENSOR_TYPE)})}
_TENSOR: Schema = {
    1: Field("dims", int, repeated=True),
    2: Field("data_type", int),
    4: Field("float_data", bytes),
    5: Field("int32_data", bytes),
    8: Field("name", str),
    9: Field("raw_data", bytes),
    14: Field("data_location", int),
}
_GRAPH: dict[int, Field] = {}
_ATTRIBUTE: Schema = {
    1: Field("name", str),
    2: Field("f", float),
    3: Field("i", int),
    4: Field("s", bytes),
    5: Field("t", _TENSOR),
    6: Field("g", _GRAPH),
    8: Field("ints", int, repeated=True),
    20: Field("type", int),
}
_NODE: Schema = {
    1: Field("input", str, repeated=True),
    2: Field("output", str, repeated=True),
    3: Field("name", str),
    4: Field("op_type", str),
    5: Field("attribute", _ATTRIBUTE, repeated=True),
    7: Field("domain", str),
}
_GRAPH |= {
    1: Field("node", _NODE, repeated=True),
    2: Field("name", str),
    5: Field("initializer", _TENSOR, repeated=True),
    11: Field("input", _VALUE_INFO, repeated=True),
    12: Field("output", _VALUE_INFO, repeated=True),
    13: Field("value_info", _VALUE_INFO, repeated=True),
}
_MODEL: Schema = {
    1: Field("ir_version", int),
    2: Field("producer_name", str),
    3: Field("producer_version", str),
    7: Field("graph", _GRAPH),
    8: Field("opset_import", {1: Field("domain", str), 2: Field("version", int)}, repeated=True),
    14: Field("metadata_props", {1: Field("key", str), 2: Field("value", str)}, repeated=True),
}


def check_graph(content: bytes, rows: Mapping[str, int], relations: int) -> None:
    """Raise ValueError if the graph is not one that Longarc could have written.

    rows: how many rows the table has from which each of these inputs selects. relations: how many there are.
    """
    model = read_message(content, _MODEL)
    operator_sets = {item.get("domain"): item.get("version") for item in model.get("opset_import", [])}
    if model.get("ir_version") != IR_VERSION or not operator_sets.items() <= DOMAINS.items():
        raise ValueError("unknown version of ONNX")
    _Checker(rows, relations).check(model.get("graph", {}), _Scope())


@dataclass
class _Scope:
    """What a graph defines, including the graphs around it."""

    names: set[str] = field(default_factory=set)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)
    nodes: dict[str, Message] = field(default_factory=dict)
    """The node that computes each value."""

    def inner(self) -> _Scope:
        return _Scope(set(self.names), dict(self.constants), dict(self.nodes))

    def define(self, names: list[str]) -> None:
        for name in filter(None, names):
            if name in self.names:
                raise ValueError(f"{name!r} is defined twice")
            self.names.add(name)


class _Checker:
    def __init__(self, rows: Mapping[str, int], relations: int) -> None:
        self._rows = rows
        self._relations = relations
        self._nodes = self._graphs = 0

    def check(self, graph: Message, scope: _Scope) -> None:
        for value in (*graph.get("input", []), *graph.get("output", []), *graph.get("value_info", [])):
            _check_type(value)
        scope.define([value.get("name", "") for value in graph.get("input", [])])
        for tensor in graph.get("initializer", []):
            scope.define([tensor.get("name", "")])
            scope.constants[tensor.get("name", "")] = _constant(tensor)
        nodes = graph.get("node", [])
        self._graphs += 1
        self._nodes += len(nodes)
        if self._graphs > MAX_GRAPHS or self._nodes > MAX_NODES:
            raise ValueError(f"more than {MAX_GRAPHS} graphs or {MAX_NODES:,} nodes")
        for node in nodes:
            scope.define(node.get("output", []))
            scope.nodes |= dict.fromkeys(node.get("output", []), node)
        for node in nodes:
            self._check_node(node, scope)

    def _check_node(self, node: Message, scope: _Scope) -> None:
        operator, inputs = node.get("op_type", ""), [name for name in node.get("input", []) if name]
        allowed = OPERATORS.get((node.get("domain", ""), operator))
        if allowed is None:
            raise ValueError(f"operator {operator!r} is not allowed")
        if len(node.get("input", [])) > MAX_INPUTS:
            raise ValueError(f"{operator} has more than {MAX_INPUTS} inputs")
        if inputs and scope.constants.keys() >= set(inputs):
            raise ValueError(f"{operator} reads only constants")
        attributes = dict(_attributes(node, allowed))
        for name, kind in allowed.items():
            if kind == GRAPH:
                self.check(attributes[name], scope.inner())
        self._check_sizes(operator, node.get("input", []), attributes, scope)

    def _check_sizes(self, operator: str, inputs: list[str], attributes: Message, scope: _Scope) -> None:
        constants = [scope.constants.get(name) for name in inputs]
        if operator in ("LSTM", "DynamicQuantizeLSTM"):
            fits = _lstm_fits(constants, attributes, is_quantized=operator != "LSTM")
        elif operator == "Gather":
            table = constants[0]
            rows = self._rows.get(inputs[1]) if len(inputs) == 2 else None
            fits = rows is None or (table is not None and table.ndim == 2 and len(table) == rows)
        elif operator == "Pad":
            fits = len(constants) == 3 and constants[1] is not None and set(constants[1].flat) <= {0, 1}
        elif operator == "Where":
            fits = all(value is not None and value.shape == (1, self._relations) for value in constants[1:])
        elif operator == "Expand":
            fits = len(inputs) == 2 and self._repeats_relations(constants[0], inputs[1], scope)
        elif operator == "Constant":
            fits = _constant(attributes["value"]).size == 0
        else:
            fits = True
        if not fits:
            raise ValueError(f"{operator} does not have the expected size")

    def _repeats_relations(self, row: NDArray[Any] | None, shape: str, scope: _Scope) -> bool:
        """Whether a row of relations is repeated for the nodes of a sentence but the first."""
        concat = scope.nodes.get(shape, {})
        parts = concat.get("input", [])
        if row is None or row.shape != (1, self._relations, 1) or concat.get("op_type") != "Concat" or len(parts) != 2:
            return False
        sub = scope.nodes.get(parts[0], {})
        nodes = scope.nodes.get(next(iter(sub.get("input", [])), ""), {})
        size = scope.constants.get(parts[1])
        is_count = (sub.get("op_type"), nodes.get("op_type")) == ("Sub", "Slice")
        return is_count and size is not None and size.tolist() == [self._relations, 1]


def _check_type(value: Message) -> None:
    tensor = value.get("type", {}).get("tensor_type", {})
    dimensions = tensor.get("shape", {}).get("dim", [])
    if tensor.get("elem_type") not in VALUE_TYPES or any(len(dimension) > 1 for dimension in dimensions):
        raise ValueError(f"{value.get('name', '')!r} has an unexpected type")


def _attributes(node: Message, allowed: Mapping[str, int]) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a node's attributes, which must be exactly the allowed ones."""
    attributes = node.get("attribute", [])
    if sorted(attribute.get("name", "") for attribute in attributes) != sorted(allowed):
        raise ValueError(f"{node['op_type']} does not have the expected attributes")
    for attribute in attributes:
        name, kind = attribute["name"], allowed[attribute["name"]]
        value = attribute.get(VALUE_FIELDS[kind])
        numbers = value if kind == INTS else [value] if kind == INT and name != "hidden_size" else []
        if (
            attribute.get("type") != kind
            or attribute.keys() != {"name", "type", VALUE_FIELDS[kind]}
            or (kind == STRING and value not in DIRECTIONS)
            or (kind == FLOAT_VALUE and not 0 < value < 1)
            or any(abs(number) > MAX_ATTRIBUTE_VALUE for number in numbers)
        ):
            raise ValueError(f"{node['op_type']} has an unexpected value of {name}")
        yield name, value


def _lstm_fits(constants: list[NDArray[Any] | None], attributes: Message, *, is_quantized: bool) -> bool:
    """Whether the weights of an LSTM have the sizes that its number of units requires; onnxruntime relies on it."""
    size, count = attributes["hidden_size"], DIRECTIONS[attributes["direction"]]
    shapes: dict[int, tuple[int | None, ...]] = {
        1: (count, 4 * size, None),
        2: (count, 4 * size, size),
        3: (count, 8 * size),
    }
    if is_quantized:
        shapes |= {1: (count, None, 4 * size), 2: (count, size, 4 * size), **dict.fromkeys((8, 9, 10, 11), (count,))}
    if len(constants) != (12 if is_quantized else 5):
        return False
    return all(_has_shape(constants[index], shape) for index, shape in shapes.items())


def _has_shape(array: NDArray[Any] | None, shape: tuple[int | None, ...]) -> bool:
    if array is None or array.ndim != len(shape):
        return False
    return all(size in (actual, None) for actual, size in zip(array.shape, shape, strict=True))


def _constant(tensor: Message) -> NDArray[Any]:
    """Return the numbers of a tensor; large ones are not copied."""
    name, kind, dims = tensor.get("name", ""), tensor.get("data_type"), tensor.get("dims", [])
    data_fields = sorted(tensor.keys() - {"name", "data_type", "dims", "data_location"})
    if tensor.get("data_location", 0) != 0:
        raise ValueError("it refers to another file")
    if kind not in DTYPES or len(dims) > MAX_AXES or any(size < 0 for size in dims):
        raise ValueError(f"constant {name!r} has an unexpected type or shape")
    if data_fields == ["int32_data"] and kind == INT8 and len(tensor["int32_data"]) <= MAX_PACKED_BYTES:
        numbers = list(packed_numbers(tensor["int32_data"]))
        if not all(-128 <= number < 128 for number in numbers):
            raise ValueError(f"constant {name!r} has values that are too large")
        values = np.array(numbers, "<i1")
    elif data_fields in (["raw_data"], [], *([["float_data"]] if kind == FLOAT else [])):
        data = tensor[data_fields[0]] if data_fields else memoryview(b"")
        if len(data) != prod(dims) * np.dtype(DTYPES[kind]).itemsize:
            raise ValueError(f"constant {name!r} does not have the size that it declares")
        values = np.frombuffer(data, DTYPES[kind])
    else:
        raise ValueError(f"constant {name!r} is not stored as expected")
    if values.size != prod(dims):
        raise ValueError(f"constant {name!r} does not have the size that it declares")
    if kind == FLOAT and not np.isfinite(values).all():
        raise ValueError("it contains weights that are not numbers")
    if kind == INT64 and not ((values >= -1) & (values <= MAX_SHAPE_VALUE)).all():
        raise ValueError(f"constant {name!r} has values that are too large")
    return values.reshape(dims)
