"""The trained network as one ONNX graph, from word numbers to transition scores, for batches of any shape.

The graph is laid out by hand: LSTMs stay the fused operators that onnxruntime is fast at, sentences of different
lengths share a batch, and the scores of all relations of an arc, which nobody needs once the best is known, never exist
for more than one head at a time: memory grows with the square of the sentence, not with that times the relations.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from longarc.model.biaffine import Biaffine
from longarc.model.bilstm import BiLSTM
from longarc.model.network import Network, Tagger
from longarc.model.scorers import FactoredScorer, JointScorer
from longarc.model.spelling import SpellingReader
from longarc.model.tokenizer_network import TokenizerNetwork

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
            y, _ = self._lstm(x, lengths, both)
            y = self.add("Transpose", y, perm=[0, 2, 1, 3])
            x = self.add("Reshape", y, self.shape(0, 0, 2 * both[0].hidden_size))
        return x

    def ends_of_bilstm(self, x: str, lengths: str, bilstm: BiLSTM) -> str:
        """[N, batch, inputs] to [batch, 2 · size]: where both directions end."""
        (both,) = bilstm.layers()
        _, ends = self._lstm(x, lengths, both)
        y = self.add("Transpose", ends, perm=[1, 0, 2])
        return self.add("Reshape", y, self.shape(0, 2 * both[0].hidden_size))

    def _lstm(self, x: str, lengths: str, both: tuple[torch.nn.LSTM, torch.nn.LSTM]) -> tuple[str, str]:
        """One layer: all states [N, 2, batch, size] and the last ones [2, batch, size]."""
        weights = [self.constant(np.stack([_gates(getattr(d, f"weight_{k}_l0")) for d in both])) for k in ("ih", "hh")]
        bias = np.stack([np.concatenate([_gates(d.bias_ih_l0), _gates(d.bias_hh_l0)]) for d in both])
        inputs = [x, *weights, self.constant(bias), lengths]
        states, ends = (f"{self.prefix}n{len(self.nodes)}{part}" for part in ("", "_ends"))
        attributes: dict[str, Any] = {"hidden_size": both[0].hidden_size, "direction": "bidirectional"}
        self.nodes.append(helper.make_node("LSTM", inputs, [states, ends], **attributes))
        return states, ends

    def with_one(self, x: str, axes: int = 3) -> str:
        """Appends a 1 to each vector: […, width] to […, width + 1], so many axes in all."""
        pads = self.constant(np.array([0] * (2 * axes - 1) + [1], dtype=np.int64))
        return self.add("Pad", x, pads, self.constant(np.array(1.0, dtype=np.float32)))


def _gates(tensor: Any) -> NDArray[np.float32]:
    """Torch's gates are input, forget, cell, output; ONNX wants input, output, forget, cell."""
    i, f, g, o = tensor.detach().numpy().reshape(4, -1, *tensor.shape[1:])
    return np.concatenate([i, o, f, g])


Value = tuple[str, int, list[str | int]]
"""Name, type and shape of what goes into a graph or comes out of it."""


def export_onnx(network: Network, relation_mask: NDArray[np.float32]) -> bytes:
    """The graph as bytes.

    Inputs: `words` [N, batch] int64 and `lengths` [batch] int32, in nodes. Where words are spelled: `spelled`
    [words, width], what `export_spelling`'s graph says of the different words of the batch, and `spellings` [N, batch]
    int64, which of them each one is. Where arcs are scored with relations: `with_total` bool, if `total` is wanted.

    Outputs, where arcs are scored together with relations, by head, sentence and dependent: `best` [N, batch, N], the
    score of the best relation of each arc; `relations` (uint8, or int16 where there are more than 256), which one that
    is; `total`, the log of the summed exponentials over all relations; `no_arc`, where the system has it. Otherwise
    `arcs` [batch, N, N] (and `no_arc` likewise), and `relation_heads` and `relation_dependents` [batch, N, width] for
    the graph that finds relations. By sentence and word: `shift` [batch, N]; `reduce`, where the system has it; and of
    each column that the model predicts the best value, int64.

    relation_mask [2, relations] is added to the scores of relations: row 0 for arcs from the root, row 1 for others.
    """
    network.eval()
    size = network.size
    g = GraphWriter()
    table = network.embedding.fixed.clone()
    table[: size.trained_words] += network.embedding.trained.detach()
    embedded = g.add("Gather", g.constant(table), "words", axis=0)
    inputs: list[Value] = [
        ("words", TensorProto.INT64, ["nodes", "batch"]),
        ("lengths", TensorProto.INT32, ["batch"]),
    ]
    if network.spelling is not None:
        embedded = g.add("Concat", embedded, g.add("Gather", "spelled", "spellings", axis=0), axis=-1)
        inputs += [
            ("spelled", TensorProto.FLOAT, ["words", 2 * size.spelling_size]),
            ("spellings", TensorProto.INT64, ["nodes", "batch"]),
        ]
    read = g.bilstm(embedded, "lengths", network.tagger_lstm)
    merged = g.linear(read, network.tagger_merge, relu=True)
    below = [embedded if size.parser_reads_words else read]
    for name, tagger in network.taggers.items():
        assert isinstance(tagger, Tagger)
        below.append(_add_tagger(g, tagger, merged, name))
    below_all = g.add("Concat", *below, axis=-1)
    parsed = g.bilstm(below_all, "lengths", network.parser_lstm)
    if isinstance(network.scorer, FactoredScorer):
        outputs = _add_factored_scorer(g, network.scorer, parsed)
    else:
        outputs = _add_joint_scorer(g, network.scorer, parsed, relation_mask)
        inputs.append(("with_total", TensorProto.BOOL, []))
    by_word: list[str | int] = ["batch", "nodes"]
    outputs += [
        ("shift", TensorProto.FLOAT, by_word),
        *([("reduce", TensorProto.FLOAT, by_word)] if size.has_reduce else []),
        *((name, TensorProto.INT64, by_word) for name in size.tags),
    ]
    return _serialised(g, inputs, outputs)


def export_spelling(spelling: SpellingReader) -> bytes:
    """The graph that reads words: `characters` [longest, words] int64 and `character_counts` [words] int32 in,
    `spelled` [words, width] out."""
    spelling.eval()
    g = GraphWriter()
    letters = g.add("Gather", g.constant(spelling.table.weight), "characters", axis=0)
    g.add("Identity", g.ends_of_bilstm(letters, "character_counts", spelling.lstm), output="spelled")
    return _serialised(
        g,
        [
            ("characters", TensorProto.INT64, ["longest", "words"]),
            ("character_counts", TensorProto.INT32, ["words"]),
        ],
        [("spelled", TensorProto.FLOAT, ["words", "width"])],
    )


def export_relations(scorer: FactoredScorer, relation_mask: NDArray[np.float32]) -> bytes:
    """The graph that finds the relations of chosen arcs.

    Inputs: `heads` and `dependents` [arcs, width], rows of what the main graph gave, and `is_root` [arcs] bool.
    Outputs: `relations` [arcs] int64, the best, and `probabilities` [arcs].
    """
    scorer.eval()
    g = GraphWriter()
    width, relations = scorer.size.relation_dimensions, scorer.size.relations
    head, dependent = (g.with_one(name, axes=2) for name in ("heads", "dependents"))
    left = g.add("MatMul", head, g.constant(scorer.relations.weight))
    left = g.add("Reshape", left, g.shape(0, relations, width + 1))
    right = g.add("Unsqueeze", dependent, g.shape(2))
    scores = g.add("Squeeze", g.add("MatMul", left, right), g.shape(2))
    of_root = g.add("Unsqueeze", "is_root", g.shape(1))
    masks = (g.constant(row.reshape(1, relations)) for row in relation_mask)
    scores = g.add("Add", scores, g.add("Where", of_root, *masks))
    g.add("ArgMax", scores, axis=1, keepdims=0, output="relations")
    g.add("ReduceMax", g.add("Softmax", scores, axis=1), axes=[1], keepdims=0, output="probabilities")
    return _serialised(
        g,
        [
            ("heads", TensorProto.FLOAT, ["arcs", width]),
            ("dependents", TensorProto.FLOAT, ["arcs", width]),
            ("is_root", TensorProto.BOOL, ["arcs"]),
        ],
        [("relations", TensorProto.INT64, ["arcs"]), ("probabilities", TensorProto.FLOAT, ["arcs"])],
    )


def _serialised(g: GraphWriter, inputs: list[Value], outputs: list[Value]) -> bytes:
    given, wanted = ([helper.make_tensor_value_info(*value) for value in side] for side in (inputs, outputs))
    graph = helper.make_graph(g.nodes, "longarc", given, wanted, g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def export_tokenizer(network: TokenizerNetwork) -> bytes:
    """The graph that splits text.

    Inputs: `characters` and `categories` [longest, windows] int64, `lengths` [windows] int32. Output: `labels`
    [longest, windows] int64.
    """
    network.eval()
    g = GraphWriter()
    embedded = g.add(
        "Concat",
        g.add("Gather", g.constant(network.characters.weight), "characters", axis=0),
        g.add("Gather", g.constant(network.categories.weight), "categories", axis=0),
        axis=-1,
    )
    convolution = network.convolution
    margin = convolution.kernel_size[0] // 2
    seen = g.add(
        "Conv",
        g.add("Transpose", embedded, perm=[1, 2, 0]),
        g.constant(convolution.weight),
        g.constant(cast(torch.Tensor, convolution.bias)),
        pads=[margin, margin],
    )
    seen = g.add("Transpose", g.add("Relu", seen), perm=[2, 0, 1])
    scores = g.linear(g.bilstm(seen, "lengths", network.lstm), network.labels)
    g.add("ArgMax", scores, axis=-1, keepdims=0, output="labels")
    shape: list[str | int] = ["longest", "windows"]
    return _serialised(
        g,
        [
            ("characters", TensorProto.INT64, shape),
            ("categories", TensorProto.INT64, shape),
            ("lengths", TensorProto.INT32, ["windows"]),
        ],
        [("labels", TensorProto.INT64, shape)],
    )


def _add_tagger(g: GraphWriter, tagger: Tagger, merged: str, output: str) -> str:
    """Adds the output of best tags; gives the expected tag embedding [N, batch, tag_dimensions]."""
    logits = g.linear(g.linear(merged, tagger.hidden, relu=True), tagger.logits)
    best = g.add("ArgMax", logits, axis=-1, keepdims=0)
    g.add("Transpose", best, perm=[1, 0], output=output)
    return g.add("MatMul", g.add("Softmax", logits, axis=-1), g.constant(tagger.table))


def _add_factored_scorer(g: GraphWriter, scorer: FactoredScorer, parsed: str) -> list[Value]:
    """Adds the outputs that score transitions where relations are found apart."""
    head, dependent = (g.with_one(g.linear(parsed, layer, relu=True)) for layer in (scorer.head, scorer.dependent))
    right = g.add("Transpose", dependent, perm=[1, 2, 0])
    width = scorer.size.pair_dimensions + 1
    weights = scorer.pairs.weight.detach().view(width, scorer.pairs.outputs, width)
    outputs: list[Value] = []
    for name, number in (("arcs", 0), *((("no_arc", 1),) if scorer.size.has_no_arc else ())):
        left = g.add("Transpose", g.add("MatMul", head, g.constant(weights[:, number])), perm=[1, 0, 2])
        g.add("MatMul", left, right, output=name)
        outputs.append((name, TensorProto.FLOAT, ["batch", "nodes", "nodes"]))
    for layer, name in ((scorer.relation_head, "relation_heads"), (scorer.relation_dependent, "relation_dependents")):
        g.add("Transpose", g.linear(parsed, layer, relu=True), perm=[1, 0, 2], output=name)
        outputs.append((name, TensorProto.FLOAT, ["batch", "nodes", scorer.size.relation_dimensions]))
    _add_diagonals(g, scorer, head, dependent)
    return outputs


def _add_joint_scorer(g: GraphWriter, scorer: JointScorer, parsed: str, mask: NDArray[np.float32]) -> list[Value]:
    """Adds the outputs that score transitions where each arc is scored with each relation."""
    merged = g.linear(parsed, scorer.merge, relu=True)
    head, dependent = (g.with_one(g.linear(merged, layer, relu=True)) for layer in (scorer.head, scorer.dependent))
    width = scorer.size.pair_dimensions
    # [N, batch, pair, pair + 1]: what each head multiplies dependents with.
    left = g.add("MatMul", head, g.constant(scorer.pairs.weight))
    left = g.add("Reshape", left, g.shape(0, 0, width, width + 1))
    g.add("Transpose", dependent, perm=[1, 2, 0], output="dependents")  # which the bodies read
    masks = _mask_by_row(g, mask, left)
    names = ["best", "relations", *(["no_arc"] if scorer.size.has_no_arc else [])]
    g.nodes.append(_scan(scorer, left, masks, names, names))
    g.nodes.append(_totals_if_wanted(scorer, left, masks))
    _add_diagonals(g, scorer, head, dependent)
    return [(name, _type_of(name, scorer), ["nodes", "batch", "nodes"]) for name in (*names, "total")]


def _scan(scorer: JointScorer, left: str, masks: str, wanted: list[str], outputs: list[str]) -> onnx.NodeProto:
    """Goes over all heads; the wanted outputs, each [N, batch, N]."""
    body = _scoring_body(scorer, wanted)
    return helper.make_node("Scan", [left, masks], outputs, body=body, num_scan_inputs=2)


def _totals_if_wanted(scorer: JointScorer, left: str, masks: str) -> onnx.NodeProto:
    """A second round for the totals, which only probabilities need: onnxruntime runs every node that it may."""
    nothing = numpy_helper.from_array(np.zeros((0, 0, 0), np.float32))
    branches = {
        "then_branch": (_scan(scorer, left, masks, ["total"], ["found_total"]), "found_total"),
        "else_branch": (helper.make_node("Constant", [], ["no_total"], value=nothing), "no_total"),
    }
    graphs = {
        name: helper.make_graph(
            [node], name, [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, [None, None, None])]
        )
        for name, (node, output) in branches.items()
    }
    return helper.make_node("If", ["with_total"], ["total"], **graphs)


def _mask_by_row(g: GraphWriter, mask: NDArray[np.float32], like: str) -> str:
    """[N, relations, 1]: row 0 of the mask for the root, row 1 for every other head."""
    nodes = g.add("Slice", g.add("Shape", like), g.shape(0), g.shape(1))
    others = g.add("Sub", nodes, g.shape(1))
    relations = mask.shape[1]
    target = g.add("Concat", others, g.shape(relations, 1), axis=0)
    rest = g.add("Expand", g.constant(mask[1].reshape(1, relations, 1)), target)
    return g.add("Concat", g.constant(mask[0].reshape(1, relations, 1)), rest, axis=0)


def _scoring_body(scorer: JointScorer, wanted: list[str]) -> onnx.GraphProto:
    """One head with all dependents of its sentence: the wanted outputs, each [batch, N]."""
    size = scorer.size
    g = GraphWriter(prefix=f"{wanted[0]}_")
    weight, bias = scorer.relations.weight.detach(), scorer.relations.bias.detach()
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
        g.add("Cast", number, to=_type_of("relations", scorer), output=rows["relations"])
    if "no_arc" in wanted:
        no_arc = g.add("MatMul", g.constant(weight[size.relations :]), combined)
        no_arc = g.add("Add", no_arc, g.constant(bias[size.relations :].unsqueeze(-1)))
        g.add("Squeeze", no_arc, g.shape(1), output=rows["no_arc"])
    pair = size.pair_dimensions
    return helper.make_graph(
        g.nodes,
        f"one_head_{wanted[0]}",
        [
            helper.make_tensor_value_info("left", TensorProto.FLOAT, ["batch", pair, pair + 1]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, [size.relations, 1]),
        ],
        [helper.make_tensor_value_info(row, _type_of(name, scorer), ["batch", "nodes"]) for name, row in rows.items()],
        g.constants,
    )


def _type_of(output: str, scorer: JointScorer) -> int:
    """Relations have the smallest type that can number them all: there is one number for every pair of words."""
    if output != "relations":
        return int(TensorProto.FLOAT)
    return int(TensorProto.UINT8 if scorer.size.relations <= 256 else TensorProto.INT16)


def _add_diagonals(g: GraphWriter, scorer: JointScorer | FactoredScorer, head: str, dependent: str) -> None:
    """Adds the scores of Shift and, where the system has it, Reduce."""
    _add_diagonal(g, scorer.shift, head, dependent, "shift")
    if scorer.reduce is not None:
        _add_diagonal(g, scorer.reduce, head, dependent, "reduce")


def _add_diagonal(g: GraphWriter, biaffine: Biaffine, head: str, dependent: str, output: str) -> None:
    """[batch, N] the score of each word as both head and dependent."""
    left = g.add("MatMul", head, g.constant(biaffine.weight))
    product = g.add("ReduceSum", g.add("Mul", left, dependent), g.shape(-1), keepdims=0)
    g.add("Transpose", product, perm=[1, 0], output=output)
