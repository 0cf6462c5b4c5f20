"""Tables of vectors in 8 bits."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def with_8_bit_table(graph: bytes, name: str, count: int) -> bytes:
    """Return the graph with the first `count` rows of the table that the input `name` indexes, in 8 bits."""
    model = onnx.load_from_string(graph)
    position, gather = next((i, node) for i, node in enumerate(model.graph.node) if name in node.input)
    table = next(tensor for tensor in model.graph.initializer if tensor.name == gather.input[0])
    vectors = numpy_helper.to_array(table)[:count]
    scales = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-6) / 127
    table.CopyFrom(numpy_helper.from_array(np.round(vectors / scales).astype(np.int8), table.name))
    model.graph.initializer.append(numpy_helper.from_array(scales.astype(np.float32), f"{name}_scales"))
    del model.graph.node[position]
    nodes = [
        helper.make_node("Gather", [table.name, name], [f"{name}_in_8_bits"], axis=0),
        helper.make_node("Cast", [f"{name}_in_8_bits"], [f"{name}_unscaled"], to=TensorProto.FLOAT),
        helper.make_node("Gather", [f"{name}_scales", name], [f"scales_of_{name}"], axis=0),
        helper.make_node("Mul", [f"{name}_unscaled", f"scales_of_{name}"], list(gather.output)),
    ]
    for offset, node in enumerate(nodes):
        model.graph.node.insert(position + offset, node)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
