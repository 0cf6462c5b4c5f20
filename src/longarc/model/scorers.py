"""From the parser's BiLSTM to the scores of all transitions, in two ways.

`JointScorer` is the paper's: each arc has a score for each relation, and transitions with different relations compete.
`FactoredScorer` has one score per arc and chooses relations only for the arcs in the tree: its memory does not grow
with the number of relations, and head and dependent vectors can be much wider for the same work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from torch import Tensor, nn

from longarc.configuration import Configuration
from longarc.model.biaffine import Biaffine
from longarc.model.bilstm import SharedDropout
from longarc.model.graph_writer import BOOL, FLOAT, INT64, GraphWriter
from longarc.runtime.description import Description
from longarc.runtime.session import RELATION_SCORES
from longarc.transitions import get_system
from longarc.transitions.system import ScoreTable

NO_ARC_RELATION = 1
"""The number of the relation that the authors' No-Arc has when it is correct."""


@dataclass(frozen=True)
class TransitionScores:
    """The scores of a batch's transitions; N nodes, R relations."""

    arcs: Tensor
    """[batch, N head, R, N dependent]; R is 1 if relations are scored separately"""
    shift: Tensor
    """[batch, N]"""
    reduce: Tensor | None
    """[batch, N]"""
    no_arc: Tensor | None
    """[batch, N left, N right]; with the authors' No-Arc, the sum (in log space) over all relations"""
    no_arc_target: Tensor | None = None
    """[batch, N left, N right] the authors' No-Arc with the one relation that is correct"""
    no_arc_best: Tensor | None = None
    """[batch, N left, N right] the authors' No-Arc with its best relation"""
    relation_heads: Tensor | None = None
    """[batch, N, relation_dimensions] what separate relation scores are computed from"""
    relation_dependents: Tensor | None = None

    def flat(self, arcs: Tensor) -> Tensor:
        """Return rows [batch, width] in the order of TransitionSystem.positions; arcs: one score each [batch, N, N]."""
        parts = [arcs, self.shift, self.reduce, self.no_arc]
        return torch.cat([part.flatten(1) for part in parts if part is not None], dim=1)

    def target(self, flat: Tensor) -> Tensor:
        """Return rows [batch, width] like `flat` with the scores of correct transitions that add no arc."""
        if self.no_arc_target is None:
            return flat
        others = flat.shape[1] - self.no_arc_target[0].numel()
        return torch.cat([flat[:, :others], self.no_arc_target.flatten(1)], dim=1)

    def table(self) -> ScoreTable:
        """Return what a search compares: each arc and No-Arc with the best relation."""
        no_arc = self.no_arc if self.no_arc_best is None else self.no_arc_best
        reduce, no_arcs = (None if part is None else part.detach().cpu().numpy() for part in (self.reduce, no_arc))
        arcs, shift = (part.detach().cpu().numpy() for part in (self.arcs.amax(dim=2), self.shift))
        return ScoreTable(arcs, shift, reduce, no_arcs)


class Scorer(nn.Module, ABC):
    """What both scorers share: which transitions the system has, and the relation graph."""

    shift: Biaffine
    reduce: Biaffine | None

    def __init__(self, configuration: Configuration, description: Description, inputs: int) -> None:
        super().__init__()
        system = get_system(description.system)
        self.has_no_arc, self.has_reduce = system.has_no_arc, system.has_reduce
        self.relation_count = len(description.relations)

    def export_relations(self, relation_mask: NDArray[np.float32]) -> bytes:
        """Return the graph that labels chosen arcs.

        Inputs: `heads` and `dependents` [arcs, width], rows of the main graph's `relation_heads` and
        `relation_dependents`, and `is_root` [arcs]. Outputs: `relations` [arcs], the best, their `probabilities`, and
        `relation_scores` [arcs, relations].
        """
        g = GraphWriter()
        scores = self._export_relation_scores(g)
        from_root = g.add("Unsqueeze", g.input("is_root", BOOL, "arcs"), g.shape(1))
        masks = (g.constant(row.reshape(1, self.relation_count)) for row in relation_mask)
        output = g.output(RELATION_SCORES, FLOAT, "arcs", self.relation_count)
        scores = g.add("Add", scores, g.add("Where", from_root, *masks), output=output)
        g.add("ArgMax", scores, axis=1, keepdims=0, output=g.output("relations", INT64, "arcs"))
        softmax = g.add("Softmax", scores, axis=1)
        g.add("ReduceMax", softmax, axes=[1], keepdims=0, output=g.output("probabilities", FLOAT, "arcs"))
        return g.serialize()

    @abstractmethod
    def export(self, g: GraphWriter, vectors: str, decoded: str, mask: NDArray[np.float32]) -> None:
        """Add the outputs that score transitions; see runtime.session.Session and `forward`."""

    @abstractmethod
    def _export_relation_scores(self, g: GraphWriter) -> str:
        """Add [arcs, relations] from the inputs `heads` and `dependents`."""

    def _export_shift_and_reduce(self, g: GraphWriter, head: str, dependent: str) -> None:
        for name, layer in (("shift", self.shift), ("reduce", self.reduce)):
            if layer is not None:
                layer.export_diagonal(g, head, dependent, g.output(name, FLOAT, "batch", "nodes"))


class JointScorer(Scorer):
    """Qi & Manning's (2017): a biaffine layer, a ReLU, and a linear layer for relations (and No-Arc)."""

    def __init__(self, configuration: Configuration, description: Description, inputs: int) -> None:
        super().__init__(configuration, description, inputs)
        merge, width = configuration.merge_dimensions, configuration.pair_dimensions
        self.merge = nn.Linear(inputs, merge)
        size = configuration.decoder_size
        self.decoder_merge = nn.Linear(size, merge) if size else None
        self.head = nn.Linear(merge, width)
        self.dependent = nn.Linear(merge, width)
        self.pairs = Biaffine(width, width)
        self.authors_no_arc = self.has_no_arc and configuration.no_arc == "authors"
        self.relations = nn.Linear(width, self.relation_count + (self.has_no_arc and not self.authors_no_arc))
        self.shift = Biaffine(width, 1)
        self.reduce = Biaffine(width, 1) if self.has_reduce else None
        self.dropout = nn.Dropout(configuration.dropout)

    def forward(self, vectors: Tensor, decoded: Tensor) -> TransitionScores:
        """vectors: [N, batch, inputs]. decoded: [N, batch, decoder_size] if there is a decoder, else vectors."""
        merged = self.dropout(torch.relu(self.merge(vectors))).transpose(0, 1)
        head = self.dropout(torch.relu(self.head(merged)))
        if self.decoder_merge is not None:
            merged = self.dropout(torch.relu(self.decoder_merge(decoded))).transpose(0, 1)
        dependent = self.dropout(torch.relu(self.dependent(merged)))
        combined = self.dropout(torch.relu(self.pairs.pairs(head, dependent)))
        arcs = self.relations.weight @ combined + self.relations.bias.unsqueeze(-1)
        no_arc = None
        if self.has_no_arc and not self.authors_no_arc:
            arcs, no_arc = arcs[:, :, :-1], arcs[:, :, -1]
        scores = TransitionScores(
            arcs=arcs,
            shift=self.shift.diagonal(head, dependent).squeeze(-1),
            reduce=None if self.reduce is None else self.reduce.diagonal(head, dependent).squeeze(-1),
            no_arc=no_arc,
        )
        return self._with_authors_no_arc(scores) if self.authors_no_arc else scores

    def _with_authors_no_arc(self, scores: TransitionScores) -> TransitionScores:
        """Add No-Arc as the authors' code has it: an arc from the left word to itself. It competes with every relation,
        and one of them is correct."""
        batch, nodes, relations, _ = scores.arcs.shape
        loops = torch.diagonal(scores.arcs, dim1=1, dim2=3)  # [batch, relations, N]
        parts = loops.logsumexp(dim=1), loops[:, min(NO_ARC_RELATION, relations - 1)], loops.amax(dim=1)
        no_arc, target, best = (part.unsqueeze(-1).expand(batch, nodes, nodes) for part in parts)
        return replace(scores, no_arc=no_arc, no_arc_target=target, no_arc_best=best)

    def export(self, g: GraphWriter, vectors: str, decoded: str, mask: NDArray[np.float32]) -> None:
        """`arcs` has the best relation's score, `totals` the log-sum-exp over all relations.

        The scores of all relations never exist for more than one head at a time: memory grows with the square of the
        length, not with that times the relations.
        """
        merged = g.linear(vectors, self.merge, relu=True)
        head = g.linear(merged, self.head, relu=True)
        if self.decoder_merge is not None:
            merged = g.linear(decoded, self.decoder_merge, relu=True)
        dependent = g.linear(merged, self.dependent, relu=True)
        for name, part in (("relation_heads", head), ("relation_dependents", dependent)):
            output = g.output(name, FLOAT, "batch", "nodes", self.head.out_features)
            g.add("Transpose", part, perm=[1, 0, 2], output=output)
        head, dependent = g.append_one(head), g.append_one(dependent)
        width = self.pairs.outputs
        # [N, batch, pair, pair + 1]: what each head multiplies dependents with.
        left = g.add("MatMul", head, g.constant(self.pairs.weight))
        left = g.add("Reshape", left, g.shape(0, 0, width, width + 1))
        g.add("Transpose", dependent, perm=[1, 2, 0], output="dependents")  # read by the bodies
        masks = _mask_by_head(g, mask, left)
        names = ["arcs", *(["no_arc"] if self.has_no_arc and not self.authors_no_arc else [])]
        by_head = [f"{name}_by_head" for name in names]
        g.nodes.append(self._scan(left, masks, names, by_head))
        for name, scanned in zip(names, by_head, strict=True):
            output = g.output(name, FLOAT, "batch", "nodes", "nodes")
            g.add("Transpose", scanned, perm=[1, 0, 2], output=output)
        if self.authors_no_arc:
            self._export_authors_no_arc(g, head, dependent)
        g.input("with_totals", BOOL)
        g.nodes.append(self._totals_on_request(left, masks, g.output("totals", FLOAT, "batch", "nodes", "nodes")))
        self._export_shift_and_reduce(g, head, dependent)

    def _export_authors_no_arc(self, g: GraphWriter, head: str, dependent: str) -> None:
        """Add the output `no_arc`, the best score of an arc from each word to itself, the same for all right words.

        head, dependent: [N, batch, pair + 1].
        """
        width = self.pairs.outputs
        left = g.add("MatMul", head, g.constant(self.pairs.weight))
        left = g.add("Reshape", left, g.shape(0, 0, width, width + 1))
        combined = g.add("Relu", g.add("MatMul", left, g.add("Unsqueeze", dependent, g.shape(3))))
        scores = g.linear(g.add("Squeeze", combined, g.shape(3)), self.relations)  # [N, batch, relations]
        best = g.add("Transpose", g.add("ReduceMax", scores, axes=[2], keepdims=1), perm=[1, 0, 2])
        row = g.add("Transpose", best, perm=[0, 2, 1])
        zeros = g.add("Sub", row, row)  # [batch, 1, N], which repeats each word's score for all right words
        g.add("Add", best, zeros, output=g.output("no_arc", FLOAT, "batch", "nodes", "nodes"))

    def _scan(self, left: str, masks: str, names: list[str], outputs: list[str]) -> onnx.NodeProto:
        """Compute the named scores head by head, [N head, batch, N dependent] each."""
        body = self._scan_body(names)
        return helper.make_node("Scan", [left, masks], outputs, body=body, num_scan_inputs=2)

    def _totals_on_request(self, left: str, masks: str, output: str) -> onnx.NodeProto:
        """Compute totals in a branch, since only probabilities need them and onnxruntime runs every other node."""
        empty = numpy_helper.from_array(np.zeros((0, 0, 0), np.float32))
        scan = self._scan(left, masks, ["totals"], ["totals_by_head"])
        transpose = helper.make_node("Transpose", ["totals_by_head"], ["computed_totals"], perm=[1, 0, 2])
        branches = {
            "then_branch": ([scan, transpose], "computed_totals"),
            "else_branch": ([helper.make_node("Constant", [], ["no_totals"], value=empty)], "no_totals"),
        }
        graphs = {
            name: helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(value, FLOAT, [None] * 3)])
            for name, (nodes, value) in branches.items()
        }
        return helper.make_node("If", ["with_totals"], [output], **graphs)

    def _scan_body(self, names: list[str]) -> onnx.GraphProto:
        """One head with all dependents of its sentence: the named scores, [batch, N] each."""
        g = GraphWriter(prefix=f"{names[0]}_")
        relations, width = self.relation_count, self.pairs.outputs
        weight, bias = self.relations.weight.detach(), self.relations.bias.detach()
        combined = g.add("Relu", g.add("MatMul", "left", "dependents"))  # [batch, pair, N]
        scores = g.add("MatMul", g.constant(weight[:relations]), combined)
        scores = g.add("Add", scores, g.constant(bias[:relations].unsqueeze(-1)))
        scores = g.add("Add", scores, "mask")  # [batch, relations, N]
        rows = {name: f"row_{name}" for name in names}
        if "totals" in rows:
            g.add("ReduceLogSumExp", scores, axes=[1], keepdims=0, output=rows["totals"])
        if "arcs" in rows:
            g.add("ReduceMax", scores, axes=[1], keepdims=0, output=rows["arcs"])
        if "no_arc" in rows:
            no_arc = g.add("MatMul", g.constant(weight[relations:]), combined)
            no_arc = g.add("Add", no_arc, g.constant(bias[relations:].unsqueeze(-1)))
            g.add("Squeeze", no_arc, g.shape(1), output=rows["no_arc"])
        inputs: list[tuple[str, list[str | int]]] = [("left", ["batch", width, width + 1]), ("mask", [relations, 1])]
        return helper.make_graph(
            g.nodes,
            f"one_head_{names[0]}",
            [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs],
            [helper.make_tensor_value_info(row, FLOAT, ["batch", "nodes"]) for row in rows.values()],
            g.constants,
        )

    def _export_relation_scores(self, g: GraphWriter) -> str:
        width, relations = self.pairs.outputs, self.relation_count
        heads, dependents = (g.input(name, FLOAT, "arcs", width) for name in ("heads", "dependents"))
        combined = g.add("Relu", self.pairs.export_rows(g, heads, dependents))
        scores = g.add("MatMul", combined, g.constant(self.relations.weight[:relations].T))
        return g.add("Add", scores, g.constant(self.relations.bias[:relations]))


class FactoredScorer(Scorer):
    """Dozat & Manning's (2017), for transitions: one biaffine layer for arcs, another for the relations of arcs."""

    def __init__(self, configuration: Configuration, description: Description, inputs: int) -> None:
        super().__init__(configuration, description, inputs)
        width = configuration.pair_dimensions
        dependent_inputs = configuration.decoder_size or inputs
        self.head = nn.Linear(inputs, width)
        self.dependent = nn.Linear(dependent_inputs, width)
        self.pairs = Biaffine(width, 1 + self.has_no_arc)
        self.shift = Biaffine(width, 1)
        self.reduce = Biaffine(width, 1) if self.has_reduce else None
        self.relation_head = nn.Linear(inputs, configuration.relation_dimensions)
        self.relation_dependent = nn.Linear(dependent_inputs, configuration.relation_dimensions)
        self.relations = Biaffine(configuration.relation_dimensions, self.relation_count)
        self.dropout = SharedDropout(configuration.dropout)

    def forward(self, vectors: Tensor, decoded: Tensor) -> TransitionScores:
        """vectors: [N, batch, inputs]. decoded: [N, batch, decoder_size] if there is a decoder, else vectors."""
        head, dependent, relation_head, relation_dependent = (
            self.dropout(torch.relu(layer(inputs))).transpose(0, 1)
            for layer, inputs in (
                (self.head, vectors),
                (self.dependent, decoded),
                (self.relation_head, vectors),
                (self.relation_dependent, decoded),
            )
        )
        pairs = self.pairs.pairs(head, dependent)
        return TransitionScores(
            arcs=pairs[:, :, :1],
            shift=self.shift.diagonal(head, dependent).squeeze(-1),
            reduce=None if self.reduce is None else self.reduce.diagonal(head, dependent).squeeze(-1),
            no_arc=pairs[:, :, 1] if self.has_no_arc else None,
            relation_heads=relation_head,
            relation_dependents=relation_dependent,
        )

    def relation_logits(self, heads: Tensor, dependents: Tensor) -> Tensor:
        """Return [arcs, relations] for arcs whose words have these vectors [arcs, relation_dimensions]."""
        return self.relations.diagonal(heads, dependents)

    def export(self, g: GraphWriter, vectors: str, decoded: str, mask: NDArray[np.float32]) -> None:
        head = g.append_one(g.linear(vectors, self.head, relu=True))
        dependent = g.append_one(g.linear(decoded, self.dependent, relu=True))
        right = g.add("Transpose", dependent, perm=[1, 2, 0])
        width = self.head.out_features + 1
        weights = self.pairs.weight.detach().view(width, self.pairs.outputs, width)
        for number, name in enumerate(["arcs", "no_arc"][: self.pairs.outputs]):
            left = g.add("Transpose", g.add("MatMul", head, g.constant(weights[:, number])), perm=[1, 0, 2])
            g.add("MatMul", left, right, output=g.output(name, FLOAT, "batch", "nodes", "nodes"))
        layers = {
            "relation_heads": (self.relation_head, vectors),
            "relation_dependents": (self.relation_dependent, decoded),
        }
        for name, (layer, inputs) in layers.items():
            output = g.output(name, FLOAT, "batch", "nodes", layer.out_features)
            g.add("Transpose", g.linear(inputs, layer, relu=True), perm=[1, 0, 2], output=output)
        self._export_shift_and_reduce(g, head, dependent)

    def _export_relation_scores(self, g: GraphWriter) -> str:
        width = self.relation_head.out_features
        heads, dependents = (g.input(name, FLOAT, "arcs", width) for name in ("heads", "dependents"))
        return self.relations.export_rows(g, heads, dependents)


def _mask_by_head(g: GraphWriter, mask: NDArray[np.float32], like: str) -> str:
    """Add [N, relations, 1]: row 0 of the mask for the root, row 1 for every other head."""
    nodes = g.add("Slice", g.add("Shape", like), g.shape(0), g.shape(1))
    others = g.add("Sub", nodes, g.shape(1))
    relations = mask.shape[1]
    target = g.add("Concat", others, g.shape(relations, 1), axis=0)
    rest = g.add("Expand", g.constant(mask[1].reshape(1, relations, 1)), target)
    return g.add("Concat", g.constant(mask[0].reshape(1, relations, 1)), rest, axis=0)
