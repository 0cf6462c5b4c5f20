"""The trained network as one ONNX graph, from word numbers to transition scores, for batches of any shape.

The graph is laid out by hand: LSTMs stay the fused operators that onnxruntime is fast at, sentences of different
lengths share a batch, and the scores of all relations of an arc, which nobody needs once the best is known, never exist
for more than one head at a time: memory grows with the square of the sentence, not with that times the relations.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from longarc.model.bilstm import BiLSTM
from longarc.model.network import Biaffine, Network, Tagger

OPSET = 17
IR_VERSION = 8

Array = NDArray[np.generic]


class GraphWriter:
    """Collects nodes and constants under names of its own making."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: Array | torch.Tensor) -> str:
        """A fixed tensor."""
        array = value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        name = f"{self.prefix}c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def shape(self, *dimensions: int) -> str:
        """A fixed shape for Reshape; 0 keeps a dimension, -1 is what is left."""
        return self.constant(np.array(dimensions, dtype=np.int64))

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """One node with one output."""
        name = output or f"{self.prefix}n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def linear(self, x: str, layer: torch.nn.Linear, relu: bool = False) -> str:
        """x W + b over the last axis."""
        y = self.add("MatMul", x, self.constant(layer.weight.T))
        y = self.add("Add", y, self.constant(layer.bias))
        return self.add("Relu", y) if relu else y

    def bilstm(self, x: str, lengths: str, bilstm: BiLSTM) -> str:
        """[N, batch, inputs] to [N, batch, 2 · size]."""
        for both in bilstm.layers():
            weights = [
                self.constant(np.stack([_gates(getattr(d, f"weight_{k}_l0")) for d in both])) for k in ("ih", "hh")
            ]
            bias = np.stack(
                [np.concatenate([_gates(d.bias_ih_l0), _gates(d.bias_hh_l0)]) for d in both],
            )
            y = self.add(
                "LSTM",
                x,
                *weights,
                self.constant(bias),
                lengths,
                hidden_size=both[0].hidden_size,
                direction="bidirectional",
            )
            y = self.add("Transpose", y, perm=[0, 2, 1, 3])
            x = self.add("Reshape", y, self.shape(0, 0, 2 * both[0].hidden_size))
        return x

    def with_one(self, x: str) -> str:
        """Appends a 1 to each vector: [N, batch, width] to [N, batch, width + 1]."""
        pads = self.constant(np.array([0, 0, 0, 0, 0, 1], dtype=np.int64))
        return self.add("Pad", x, pads, self.constant(np.array(1.0, dtype=np.float32)))


def _gates(tensor: Any) -> NDArray[np.float32]:
    """Torch's gates are input, forget, cell, output; ONNX wants input, output, forget, cell."""
    i, f, g, o = tensor.detach().numpy().reshape(4, -1, *tensor.shape[1:])
    return np.concatenate([i, o, f, g])


def export_onnx(network: Network, relation_mask: NDArray[np.float32]) -> bytes:
    """The graph as bytes.

    Inputs: `words` [N, batch] int64 and `lengths` [batch] int32, in nodes. Outputs, by head, sentence and dependent:
    `best` [N, batch, N], the score of the best relation of each arc; `relations` (uint8, or int16 where there are more
    than 256), which one that is; `total`, the log of the summed exponentials over all relations; `no_arc`, where the
    system has it. By sentence and word: `shift` [batch, N]; `reduce`, where the system has it; `tags` and, where the
    model has them, `fine_tags`, int64. relation_mask [2, relations] is added to the scores of relations: row 0 for arcs
    from the root, row 1 for others.
    """
    network.eval()
    size = network.size
    g = GraphWriter()
    table = network.embedding.fixed.clone()
    table[: size.trained_words] += network.embedding.trained.detach()
    embedded = g.add("Gather", g.constant(table), "words", axis=0)
    read = g.bilstm(embedded, "lengths", network.tagger_lstm)
    merged = g.linear(read, network.tagger_merge, relu=True)
    below = [embedded if size.parser_reads_words else read, _add_tagger(g, network.tagger, merged, "tags")]
    if network.fine_tagger is not None:
        below.append(_add_tagger(g, network.fine_tagger, merged, "fine_tags"))
    below_all = g.add("Concat", *below, axis=-1)
    parsed = g.bilstm(below_all, "lengths", network.parser_lstm)
    merged = g.linear(parsed, network.parser_merge, relu=True)
    head = g.with_one(g.linear(merged, network.head, relu=True))
    dependent = g.with_one(g.linear(merged, network.dependent, relu=True))
    _add_pairs(g, network, head, dependent, relation_mask)
    by_pair, by_word = ["nodes", "batch", "nodes"], ["batch", "nodes"]
    outputs = [
        ("best", TensorProto.FLOAT, by_pair),
        ("relations", _relation_type(network), by_pair),
        ("total", TensorProto.FLOAT, by_pair),
        *([("no_arc", TensorProto.FLOAT, by_pair)] if size.has_no_arc else []),
        ("shift", TensorProto.FLOAT, by_word),
        *([("reduce", TensorProto.FLOAT, by_word)] if size.has_reduce else []),
        ("tags", TensorProto.INT64, by_word),
        *([("fine_tags", TensorProto.INT64, by_word)] if size.fine_tags else []),
    ]
    graph = helper.make_graph(
        g.nodes,
        "longarc",
        [
            helper.make_tensor_value_info("words", TensorProto.INT64, ["nodes", "batch"]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
        ],
        [helper.make_tensor_value_info(*output) for output in outputs],
        g.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
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


def _add_tagger(g: GraphWriter, tagger: Tagger, merged: str, output: str) -> str:
    """Adds the output of best tags; gives the expected tag embedding [N, batch, tag_dimensions]."""
    logits = g.linear(g.linear(merged, tagger.hidden, relu=True), tagger.logits)
    best = g.add("ArgMax", logits, axis=-1, keepdims=0)
    g.add("Transpose", best, perm=[1, 0], output=output)
    return g.add("MatMul", g.add("Softmax", logits, axis=-1), g.constant(tagger.table))


def _add_pairs(g: GraphWriter, network: Network, head: str, dependent: str, mask: NDArray[np.float32]) -> None:
    """Adds the outputs that score transitions. head, dependent: [N, batch, pair + 1]"""
    width = network.size.pair_dimensions
    # [N, batch, pair, pair + 1]: what each head multiplies dependents with.
    left = g.add("MatMul", head, g.constant(network.pairs.weight))
    left = g.add("Reshape", left, g.shape(0, 0, width, width + 1))
    g.add("Transpose", dependent, perm=[1, 2, 0], output="dependents")  # which the bodies read
    masks = _mask_by_row(g, mask, left)
    # The totals have a loop of their own, so that it can be left out where no probabilities are wanted.
    for outputs in (["best", "relations", *(["no_arc"] if network.size.has_no_arc else [])], ["total"]):
        body = _scoring_body(network, outputs)
        g.nodes.append(helper.make_node("Scan", [left, masks], outputs, body=body, num_scan_inputs=2))
    _add_diagonal(g, network.shift, head, dependent, "shift")
    if network.reduce is not None:
        _add_diagonal(g, network.reduce, head, dependent, "reduce")


def _mask_by_row(g: GraphWriter, mask: NDArray[np.float32], like: str) -> str:
    """[N, relations, 1]: row 0 of the mask for the root, row 1 for every other head."""
    nodes = g.add("Slice", g.add("Shape", like), g.shape(0), g.shape(1))
    others = g.add("Sub", nodes, g.shape(1))
    relations = mask.shape[1]
    target = g.add("Concat", others, g.shape(relations, 1), axis=0)
    rest = g.add("Expand", g.constant(mask[1].reshape(1, relations, 1)), target)
    return g.add("Concat", g.constant(mask[0].reshape(1, relations, 1)), rest, axis=0)


def _scoring_body(network: Network, wanted: list[str]) -> onnx.GraphProto:
    """One head with all dependents of its sentence: the wanted outputs, each [batch, N]."""
    size = network.size
    g = GraphWriter(prefix=f"{wanted[0]}_")
    weight, bias = network.relations.weight.detach(), network.relations.bias.detach()
    combined = g.add("Relu", g.add("MatMul", "left", "dependents"))  # [batch, pair, N]
    scores = g.add("MatMul", g.constant(weight[: size.relations]), combined)
    scores = g.add("Add", scores, g.constant(bias[: size.relations].unsqueeze(-1)))
    scores = g.add("Add", scores, "mask")  # [batch, relations, N]
    rows = {name: f"row_{name}" for name in wanted}
    if "total" in wanted:
        g.add("ReduceLogSumExp", scores, axes=[1], keepdims=0, output=rows["total"])
    if "best" in wanted:
        g.add("ReduceMax", scores, axes=[1], keepdims=0, output=rows["best"])
        number = g.add("ArgMax", scores, axis=1, keepdims=0)
        g.add("Cast", number, to=_relation_type(network), output=rows["relations"])
    if "no_arc" in wanted:
        no_arc = g.add("MatMul", g.constant(weight[size.relations :]), combined)
        no_arc = g.add("Add", no_arc, g.constant(bias[size.relations :].unsqueeze(-1)))
        g.add("Squeeze", no_arc, g.shape(1), output=rows["no_arc"])
    kinds = {"relations": _relation_type(network)}
    pair = size.pair_dimensions
    return helper.make_graph(
        g.nodes,
        f"one_head_{wanted[0]}",
        [
            helper.make_tensor_value_info("left", TensorProto.FLOAT, ["batch", pair, pair + 1]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, [size.relations, 1]),
        ],
        [
            helper.make_tensor_value_info(row, kinds.get(name, TensorProto.FLOAT), ["batch", "nodes"])
            for name, row in rows.items()
        ],
        g.constants,
    )


def _relation_type(network: Network) -> int:
    """The smallest type that can number all relations: there is one number for every pair of words."""
    return int(TensorProto.UINT8 if network.size.relations <= 256 else TensorProto.INT16)


def _add_diagonal(g: GraphWriter, biaffine: Biaffine, head: str, dependent: str, output: str) -> None:
    """[batch, N] the score of each word as both head and dependent."""
    left = g.add("MatMul", head, g.constant(biaffine.weight))
    product = g.add("ReduceSum", g.add("Mul", left, dependent), g.shape(-1), keepdims=0)
    g.add("Transpose", product, perm=[1, 0], output=output)
