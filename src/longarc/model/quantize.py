"""Make graphs smaller and faster at a small loss of accuracy."""

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
"""Lower bound on a dimension's variance, so that one that hardly varied in the sample is not discarded."""
Moments = Mapping[str, NDArray[np.float64]]
"""The second moments (sum of outer products) of each LSTM's input, by the input's name in the graph."""


def lstms(model: onnx.ModelProto) -> Iterator[tuple[onnx.NodeProto, NDArray[np.float32]]]:
    """Yield the LSTMs of a graph from bottom to top, with their input weights [directions, 4 · size, inputs]."""
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "LSTM":
            yield node, numpy_helper.to_array(tensors[node.input[1]])


def with_lstm_inputs(graph: bytes) -> tuple[bytes, list[str]]:
    """Return the graph with the inputs of its LSTMs, [N, batch, inputs] each, as further outputs, and their names."""
    model = onnx.load_from_string(graph)
    names = [node.input[0] for node, _ in lstms(model)]
    for name in names:
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return bytes(model.SerializeToString()), names


def with_narrow_lstms(graph: bytes, shares: Sequence[float], moments: Moments) -> bytes:
    """Return the graph with fewer input dimensions for its LSTMs; `shares`, from bottom to top: how many each keeps.

    The input weights W of an LSTM are replaced by a product A B of lower rank, which takes fewer multiplications; B
    becomes a matrix product before the LSTM. Trained weights are close to such a product.
    """
    model = onnx.load_from_string(graph)
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    projections: dict[str, onnx.NodeProto] = {}
    for share, (node, weights) in zip(shares, lstms(model), strict=True):
        if share == 1:
            continue
        inputs = weights.shape[2]
        rank = max(1, round(share * inputs))
        left, right = _low_rank(weights.reshape(-1, inputs), rank, moments[node.input[0]])
        tensors[node.input[1]].CopyFrom(numpy_helper.from_array(left.reshape(*weights.shape[:2], -1), node.input[1]))
        name = f"{node.output[0]}_projection"
        model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(right.T), name))
        projections[node.output[0]] = helper.make_node("MatMul", [node.input[0], name], [f"{name}_output"])
        node.input[0] = f"{name}_output"
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        nodes += [projections[node.output[0]], node] if node.output[0] in projections else [node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _low_rank(
    weights: NDArray[np.float32], rank: int, moments: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return two factors of similar scale whose product acts most like the weights on inputs with these moments.

    With S S the moments, the best approximation of W S consists of its largest singular values (Eckart & Young 1936).
    """
    spread = moments / np.diag(moments).mean()
    variances, axes = np.linalg.eigh(spread + LEAST_VARIANCE * np.eye(len(spread)))
    root, inverse_root = ((axes * variances**power) @ axes.T for power in (0.5, -0.5))
    u, s, v = np.linalg.svd(weights.astype(np.float64) @ root, full_matrices=False)
    half = np.sqrt(s[:rank])
    return (u[:, :rank] * half).astype(np.float32), (half[:, None] * (v[:rank] @ inverse_root)).astype(np.float32)


def quantize(graph: bytes, *, scale_per_output: bool = False) -> bytes:
    """Return the graph with the weights of LSTMs and matrix products in 8 bits, with one scale for each matrix or, for
    the products of transformers, which need it, for each of its outputs.

    With a scale per output only 7 bits are used: processors without VNNI instructions add products of 8 bits in 16
    bits, which can overflow.
    """
    if not scale_per_output:
        return _quantize(graph, ["LSTM", "MatMul"], scale_per_output=False)
    return _quantize(_quantize(graph, ["LSTM"], scale_per_output=False), ["MatMul"], scale_per_output=True)


def _quantize(graph: bytes, operators: list[str], *, scale_per_output: bool) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "float.onnx", Path(folder) / "int8.onnx"
        source.write_bytes(graph)
        logging.disable(logging.WARNING)  # its advice to preprocess the graph first
        try:
            quantize_dynamic(
                source,
                target,
                op_types_to_quantize=operators,
                weight_type=QuantType.QInt8,
                per_channel=scale_per_output,
                reduce_range=scale_per_output,
                extra_options={"DefaultTensorType": TensorProto.FLOAT},
            )
        finally:
            logging.disable(logging.NOTSET)
        model = onnx.load(target)
    for tensor in model.graph.initializer:  # as Longarc stores all constants
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    return bytes(model.SerializeToString())
