"""Write ONNX graphs operator by operator.

Graphs are written by hand so that LSTMs stay the fused operators that onnxruntime runs fast, and sentences of different
lengths can share a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8

FLOAT, INT64, INT32, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL

Array = NDArray[np.generic]
Value = tuple[str, int, list[str | int]]
"""Name, type and shape of an input or output of a graph."""


class GraphWriter:
    """Collects nodes and constants and names them."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []

    def input(self, name: str, type: int, *shape: str | int) -> str:
        """Declare an input of the graph."""
        self.inputs.append((name, type, list(shape)))
        return name

    def output(self, name: str, type: int, *shape: str | int) -> str:
        """Declare an output of the graph; pass the name as `output` to the node that computes it."""
        self.outputs.append((name, type, list(shape)))
        return name

    def constant(self, value: Array | torch.Tensor) -> str:
        """Add a constant tensor."""
        array = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        name = f"{self.prefix}c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def shape(self, *dimensions: int) -> str:
        """Add a constant shape for Reshape; 0 keeps a dimension, −1 is inferred."""
        return self.constant(np.array(dimensions, dtype=np.int64))

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        name = output or f"{self.prefix}n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def linear(self, x: str, layer: torch.nn.Linear, relu: bool = False, output: str | None = None) -> str:
        """Add x W + b over the last axis; `output` names the sum."""
        y = self.add("MatMul", x, self.constant(layer.weight.T))
        y = self.add("Add", y, self.constant(layer.bias), output=output)
        return self.add("Relu", y) if relu else y

    def append_one(self, x: str, axes: int = 3) -> str:
        """Append a 1 to each vector of a tensor with this many axes: […, width] to […, width + 1]."""
        pads = self.constant(np.array([0] * (2 * axes - 1) + [1], dtype=np.int64))
        return self.add("Pad", x, pads, self.constant(np.array(1.0, dtype=np.float32)))

    def pad(self, x: str, widths: list[int]) -> str:
        """Add zeros; widths: how many before the beginning of each axis, and then how many after each end."""
        pads = self.constant(np.array(widths, dtype=np.int64))
        return self.add("Pad", x, pads, self.constant(np.array(0.0, dtype=np.float32)))

    def serialize(self) -> bytes:
        """Return the checked graph as bytes."""
        inputs, outputs = (
            [helper.make_tensor_value_info(*value) for value in side] for side in (self.inputs, self.outputs)
        )
        graph = helper.make_graph(self.nodes, "longarc", inputs, outputs, self.constants)
        domains = {"": OPSET, **{node.domain: 1 for node in self.nodes if node.domain}}
        operator_sets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
        model = helper.make_model(graph, opset_imports=operator_sets, ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
