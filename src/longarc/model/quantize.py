"""Graphs made smaller and faster at a small price in accuracy, which is for the model's card to tell."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

LEAST_VARIANCE = 1e-4
"""What every dimension is taken to vary at least, so that one that hardly did in the sample is not thrown away."""
Moments = Mapping[str, NDArray[np.float64]]
"""Of what an LSTM reads, under the name that it has in the graph: the sum of its outer products with itself."""


def lstms(model: onnx.ModelProto) -> Iterator[tuple[onnx.NodeProto, NDArray[np.float32]]]:
    """The LSTMs of a graph, from the lowest to the highest, with their input weights [directions, 4 · size, inputs]."""
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "LSTM":
            yield node, numpy_helper.to_array(tensors[node.input[1]])


def with_inputs_shown(graph: bytes) -> tuple[bytes, list[str]]:
    """The same graph with what its LSTMs read, [N, batch, inputs] each, among its outputs; and their names."""
    model = onnx.load_from_string(graph)
    names = [node.input[0] for node, _ in lstms(model)]
    for name in names:
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return bytes(model.SerializeToString()), names


def with_narrow_inputs(graph: bytes, shares: Sequence[float], moments: Moments) -> bytes:
    """The same graph in which LSTMs read fewer dimensions: `shares` says for each, from the lowest to the highest, how
    much it keeps of those it had; 1 leaves it as it is.

    Their input weights W are replaced by a product A B of less than full rank, which takes fewer multiplications: B
    becomes a matrix product before the LSTM. Trained weights are near to such a product.
    """
    model = onnx.load_from_string(graph)
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    narrow: dict[str, onnx.NodeProto] = {}
    for share, (node, weights) in zip(shares, lstms(model), strict=True):
        if share == 1:
            continue
        inputs = weights.shape[2]
        rank = max(1, round(share * inputs))
        above, below = _product(weights.reshape(-1, inputs), rank, moments[node.input[0]])
        tensors[node.input[1]].CopyFrom(numpy_helper.from_array(above.reshape(*weights.shape[:2], -1), node.input[1]))
        name = f"{node.output[0]}_below"
        model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(below.T), name))
        narrow[node.output[0]] = helper.make_node("MatMul", [node.input[0], name], [f"{name}_read"])
        node.input[0] = f"{name}_read"
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        nodes += [narrow[node.output[0]], node] if node.output[0] in narrow else [node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _product(
    weights: NDArray[np.float32], rank: int, moments: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The two factors, of about the same size, whose product does nearest to what the weights do to what they read.

    Of W S, S S being the moments, the nearest product is that of its largest singular values (Eckart & Young 1936).
    """
    spread = moments / np.diag(moments).mean()
    variances, axes = np.linalg.eigh(spread + LEAST_VARIANCE * np.eye(len(spread)))
    root, back = ((axes * variances**power) @ axes.T for power in (0.5, -0.5))
    u, s, v = np.linalg.svd(weights.astype(np.float64) @ root, full_matrices=False)
    half = np.sqrt(s[:rank])
    return (u[:, :rank] * half).astype(np.float32), (half[:, None] * (v[:rank] @ back)).astype(np.float32)


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
