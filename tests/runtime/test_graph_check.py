"""Only graphs that Longarc writes are accepted."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from longarc.data.pieces import Pieces
from longarc.model.spelling_reader import SpellingReader
from longarc.model.tokenizer_network import TokenizerNetwork
from longarc.runtime.features import MAIN
from longarc.runtime.graph_check import OPERATORS, check_graph
from longarc.runtime.installed_models import EMBEDDED
from longarc.runtime.model_file import RELATIONS, ModelFile, table_rows
from longarc.runtime.spelled_words import SPELLING, SpelledWords
from longarc.training.packaging import make_int8
from longarc.transitions import SYSTEMS
from tests.helpers.prepared_training import FACTORED, SMALL, prepared
from tests.helpers.tiny_encoders import untrained_on_an_encoder


def exported(folder: Path, system: str, **changes: Any) -> ModelFile:
    model, _ = prepared(folder, system, **changes)
    return model.to_model_file({})


def written_graphs(folder: Path) -> Iterator[bytes]:
    """Yield graphs of every kind that Longarc writes or has written."""
    for system in SYSTEMS:
        for scorer in ({}, FACTORED):
            model = exported(folder, system, **{**scorer, "spelling_size": 0})
            yield from (*model.graphs.values(), *make_int8(model).graphs.values())
    yield exported(folder, "covington", spelling_size=4).graphs[SPELLING]
    yield SpellingReader(SMALL, SpelledWords(None, Pieces(["x"]))).export()
    yield TokenizerNetwork(9).export()
    for family in ("bert", "xlm-roberta"):
        trained, _ = untrained_on_an_encoder(folder, family, pooling="mean")
        yield from trained.to_model_file({}).graphs.values()
    with zipfile.ZipFile(EMBEDDED / "en_ewt.longarc") as archive:
        yield from (archive.read(name) for name in archive.namelist() if name.endswith(".onnx"))


def operators_in(graph: Any) -> Iterator[tuple[tuple[str, str], dict[str, int]]]:
    for node in graph.node:
        yield (node.domain, node.op_type), {attribute.name: attribute.type for attribute in node.attribute}
        for attribute in node.attribute:
            yield from operators_in(attribute.g)


def test_the_list_of_operators_and_attributes_is_complete_and_minimal(tmp_path: Path) -> None:
    operators = dict(
        item for content in written_graphs(tmp_path) for item in operators_in(onnx.load_from_string(content).graph)
    )
    assert operators == OPERATORS


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return exported(tmp_path_factory.mktemp("joint"), "covington", spelling_size=4)


def checked(model: ModelFile, content: bytes, graph: str = MAIN) -> None:
    check_graph(content, table_rows(model.description).get(graph, {}), len(model.description.relations))


def varint_with_a_useless_byte(content: bytes) -> bytes:
    assert content[:2] == b"\x08\x08"  # ir_version = 8
    return b"\x08\x88\x00" + content[2:]


ENCODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a number that is longer than needed": ("shortest form", varint_with_a_useless_byte),
    "a number of more than 64 bits": ("shortest form", lambda content: b"\x08" + b"\xff" * 9 + b"\x7f" + content[2:]),
    "an unknown field": ("unexpected field", lambda content: content + b"\xba\x06\x00"),
    "a second version": ("repetition", lambda content: b"\x08\x07" + content),
    "a second graph": ("repetition", lambda content: content + b"\x3a\x00"),
    "fields in another order": ("repetition", lambda content: content[2:] + content[:2]),
    "another wire type": ("unexpected field", lambda content: b"\x0d\x08\x00\x00\x00" + content[2:]),
    "a field that ends too late": ("longer than", lambda content: content + b"\x72\x7f"),
    "a name that is not UTF-8": ("decode", lambda content: content[:2] + b"\x12\x01\xff" + content[2:]),
    "a name with an escape sequence": ("printable", lambda content: content[:2] + b"\x12\x01\x1b" + content[2:]),
    "messages without end": ("nested too deeply", lambda content: content[:2] + nested(40)),
    "very many fields": ("more than", lambda content: content + b"\x72\x00" * 60_000),
}


def nested(depth: int) -> bytes:
    """Return the field `graph` with graphs in attributes of nodes of graphs."""
    content = b""
    for tag in [b"\x32", b"\x2a", b"\x0a"] * depth + [b"\x3a"]:  # g, attribute, node; graph
        size = len(content)
        content = tag + bytes([size & 0x7F | 0x80, size >> 7] if size > 0x7F else [size]) + content
    return content


@pytest.mark.parametrize("kind", ENCODINGS)
def test_a_graph_can_be_written_in_one_way_only(model: ModelFile, kind: str) -> None:
    checked(model, model.graphs[MAIN])
    problem, change = ENCODINGS[kind]
    with pytest.raises(ValueError, match=problem):
        checked(model, change(model.graphs[MAIN]))


def constant(graph: Any, name: str, array: Any) -> str:
    graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return name


def add_node(graph: Any, operator: str, inputs: list[str], **options: Any) -> None:
    graph.node.append(helper.make_node(operator, inputs, [f"new_{operator}"], **options))


def largest(graph: Any) -> Any:
    return max(graph.initializer, key=lambda tensor: len(tensor.raw_data))


def replace_largest(graph: Any, change: Callable[[Any], Any]) -> None:
    tensor = largest(graph)
    tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(change(numpy_helper.to_array(tensor))), tensor.name))


def nan(array: Any) -> Any:
    return np.where(np.arange(array.size).reshape(array.shape) == 3, np.nan, array).astype(array.dtype)


def external(graph: Any) -> None:
    tensor = largest(graph)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "../secret"), ("length", "4")):
        tensor.external_data.add(key=key, value=value)


def node(graph: Any, operator: str) -> Any:
    return next(node for node in graph.node if node.op_type == operator)


def set_constant(graph: Any, name: str, array: Any) -> None:
    tensor = next(tensor for tensor in graph.initializer if tensor.name == name)
    tensor.CopyFrom(numpy_helper.from_array(np.asarray(array), name))


def expand_to(graph: Any, *sizes: int) -> None:
    concat = next(item for item in graph.node if item.output[0] == node(graph, "Expand").input[1])
    set_constant(graph, concat.input[1], np.array(sizes))


def body_of(graph: Any) -> Any:
    return next(attribute for attribute in node(graph, "Scan").attribute if attribute.name == "body").g


GRAPHS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "weights in another file": ("unexpected field 13", external),
    "a location without a file": (
        "refers to another file",
        lambda g: setattr(largest(g), "data_location", TensorProto.EXTERNAL),
    ),
    "NaN": ("not numbers", lambda g: replace_largest(g, nan)),
    "NaN in the body of a Scan": ("not numbers", lambda g: replace_largest(body_of(g), nan)),
    "infinity": ("not numbers", lambda g: replace_largest(g, lambda array: array + np.float32(np.inf))),
    "64-bit weights": ("unexpected type", lambda g: replace_largest(g, lambda array: array.astype(np.float64))),
    "16-bit weights": ("unexpected type", lambda g: replace_largest(g, lambda array: array.astype(np.float16))),
    "too few numbers": ("size that it declares", lambda g: largest(g).dims.__setitem__(0, 10**6)),
    "a negative size": ("unexpected type or shape", lambda g: largest(g).dims.__setitem__(0, -1)),
    "numbers stored twice": ("not stored as expected", lambda g: largest(g).float_data.append(1.0)),
    "another number of words": (
        "Gather does not have",
        lambda g: set_constant(g, node(g, "Gather").input[0], np.zeros((5, 8), np.float32)),
    ),
    "an LSTM of another size": (
        "LSTM does not have",
        lambda g: set_constant(g, node(g, "LSTM").input[2], np.zeros((2, 48, 11), np.float32)),
    ),
    "a Loop": ("'Loop' is not allowed", lambda g: add_node(g, "Loop", ["words"])),
    "a tensor of zeros": ("'ConstantOfShape' is not allowed", lambda g: add_node(g, "ConstantOfShape", ["words"])),
    "an unknown domain": ("'Add' is not allowed", lambda g: add_node(g, "Add", ["words"], domain="evil")),
    "an unknown attribute": ("expected attributes", lambda g: add_node(g, "Relu", ["words"], alpha=1)),
    "an attribute of another type": ("value of axis", lambda g: add_node(g, "Softmax", ["words"], axis=[1])),
    "a large constant": (
        "Constant does not have",
        lambda g: add_node(g, "Constant", [], value=numpy_helper.from_array(np.zeros(9, np.float32))),
    ),
    "a sum of constants": (
        "reads only constants",
        lambda g: add_node(g, "Add", [g.initializer[0].name, g.initializer[1].name]),
    ),
    "a large padding": ("Pad does not have", lambda g: set_constant(g, node(g, "Pad").input[1], [0] * 5 + [9999])),
    "a very large number in a shape": ("too large", lambda g: constant(g, "big", np.array([1 << 40]))),
    "a large Expand": ("Expand does not have", lambda g: expand_to(g, 60_000, 60_000)),
    "an Expand by a constant": (
        "Expand reads only constants",
        lambda g: node(g, "Expand").input.__setitem__(1, constant(g, "sizes", [50_000, 50_000, 1])),
    ),
    "many nodes": ("more than", lambda g: g.node.extend([node(g, "Relu")] * 3000)),
    "many Scans": ("more than", lambda g: g.node.extend([renamed(node(g, "Scan"), str(i)) for i in range(3)])),
    "a name twice": ("defined twice", lambda g: g.node.append(g.node[0])),
    "a sparse constant": ("unexpected field 15", lambda g: g.sparse_initializer.add()),
    "an output that is a list": (
        "unexpected field 4",
        lambda g: g.output.append(helper.make_tensor_sequence_value_info("x", 1, [1])),
    ),
}


def renamed(original: Any, suffix: str) -> Any:
    copy = onnx.NodeProto()
    copy.CopyFrom(original)
    for index, name in enumerate(copy.output):
        copy.output[index] = name + suffix
    return copy


@pytest.mark.parametrize("kind", GRAPHS)
def test_a_hostile_graph_is_refused(model: ModelFile, kind: str) -> None:
    proto = onnx.load_from_string(model.graphs[MAIN])
    problem, change = GRAPHS[kind]
    change(proto.graph)
    with pytest.raises(ValueError, match=problem):
        checked(model, proto.SerializeToString())


def test_functions_and_other_versions_of_onnx_are_refused(model: ModelFile) -> None:
    proto = onnx.load_from_string(model.graphs[MAIN])
    proto.functions.add(name="Relu", domain="evil")
    with pytest.raises(ValueError, match="unexpected field 25"):
        checked(model, proto.SerializeToString())
    proto = onnx.load_from_string(model.graphs[MAIN])
    proto.opset_import.add(domain="evil", version=1)
    with pytest.raises(ValueError, match="version of ONNX"):
        checked(model, proto.SerializeToString())


def test_masks_have_a_value_for_each_relation(model: ModelFile) -> None:
    proto = onnx.load_from_string(model.graphs[RELATIONS])
    set_constant(proto.graph, node(proto.graph, "Where").input[1], np.zeros((1, 999), np.float32))
    with pytest.raises(ValueError, match="Where does not have"):
        checked(model, proto.SerializeToString(), RELATIONS)
