"""Graphs made smaller and faster at a small price in accuracy, which is for the model's card to tell."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic


def with_narrow_inputs(graph: bytes, share: float) -> bytes:
    """The same graph in which LSTMs that read other LSTMs do so through fewer dimensions, `share` of those they had.

    Their input weights W are replaced by the nearest product A B of less than full rank (Eckart & Young 1936), which
    takes fewer multiplications: B becomes a matrix product before the LSTM. Trained weights are near to such a product.
    """
    model = onnx.load_from_string(graph)
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        if node.op_type == "LSTM":
            weights = numpy_helper.to_array(tensors[node.input[1]])  # [directions, 4 · size, inputs]
            size, inputs = weights.shape[1] // 4, weights.shape[2]
            if inputs >= 2 * size:
                above, below = _product(weights.reshape(-1, inputs), round(share * inputs))
                tensors[node.input[1]].CopyFrom(
                    numpy_helper.from_array(above.reshape(*weights.shape[:2], -1), node.input[1])
                )
                name = f"{node.output[0]}_below"
                model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(below.T), name))
                nodes.append(helper.make_node("MatMul", [node.input[0], name], [f"{name}_read"]))
                node.input[0] = f"{name}_read"
        nodes.append(node)
    if len(nodes) == len(model.graph.node):
        return graph
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _product(weights: NDArray[np.float32], rank: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The two factors, of about the same size."""
    u, s, v = np.linalg.svd(weights.astype(np.float64), full_matrices=False)
    root = np.sqrt(s[:rank])
    return (u[:, :rank] * root).astype(np.float32), (root[:, None] * v[:rank]).astype(np.float32)


def with_small_words(graph: bytes, count: int) -> bytes:
    """The same graph with the first `count` words only, their vectors in 8 bits, each with a scale of its own."""
    model = onnx.load_from_string(graph)
    place, gather = next((i, node) for i, node in enumerate(model.graph.node) if "words" in node.input)
    table = next(tensor for tensor in model.graph.initializer if tensor.name == gather.input[0])
    vectors = numpy_helper.to_array(table)[:count]
    scales = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-6) / 127
    table.CopyFrom(numpy_helper.from_array(np.round(vectors / scales).astype(np.int8), table.name))
    model.graph.initializer.append(numpy_helper.from_array(scales.astype(np.float32), "word_scales"))
    del model.graph.node[place]
    for number, node in enumerate(
        [
            helper.make_node("Gather", [table.name, "words"], ["small_words"], axis=0),
            helper.make_node("Cast", ["small_words"], ["plain_words"], to=TensorProto.FLOAT),
            helper.make_node("Gather", ["word_scales", "words"], ["scales_of_words"], axis=0),
            helper.make_node("Mul", ["plain_words", "scales_of_words"], list(gather.output)),
        ]
    ):
        model.graph.node.insert(place + number, node)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def quantized(graph: bytes) -> bytes:
    """The same graph with the weights of LSTMs and matrix products in 8 bits."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "float.onnx", Path(folder) / "int8.onnx"
        source.write_bytes(graph)
        logging.disable(logging.WARNING)  # its advice to preprocess the graph first
        try:
            quantize_dynamic(
                source,
                target,
                op_types_to_quantize=["LSTM", "MatMul"],
                weight_type=QuantType.QInt8,
                extra_options={"DefaultTensorType": TensorProto.FLOAT},
            )
        finally:
            logging.disable(logging.NOTSET)
        return target.read_bytes()
