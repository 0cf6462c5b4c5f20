"""The graphs of a model: batches of sentences in, scores out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longarc.data.batches import groups_of_like_length
from longarc.data.sentence import NO_HEAD
from longarc.data.vocabulary import Labels
from longarc.errors import LongarcError
from longarc.runtime.features import MAIN, Arrays, Forms, lengths_in_nodes
from longarc.runtime.graph import Graph
from longarc.runtime.model_file import RELATIONS, ModelFile
from longarc.transitions import get_system
from longarc.transitions.system import Ints, ScoreTable

LARGE_BATCH = 100_000
"""Pairs of nodes, padding included, above which a batch is no measure of the memory that others need."""
ARCS_AT_ONCE = 128
"""Arcs labelled at once: each needs a vector per relation, and these should stay in the processor's cache."""
TOTALS = "totals"
RELATION_SCORES = "relation_scores"
DTYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}


@dataclass(frozen=True)
class BatchScores:
    """The network's output for a batch."""

    scores: ScoreTable
    """The score of each transition with its best relation, or with any relation; see Description.arc_score"""
    totals: ScoreTable | None
    """The same summed (in log space) over relations"""
    labels: dict[str, Ints]
    """[batch, N] the best label of each word in each predicted column"""
    relation_heads: NDArray[np.float32]
    """[batch, N, width] what the relation graph reads of heads"""
    relation_dependents: NDArray[np.float32]
    logits: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    """[batch, N, labels] the scores of the labels of each predicted column, on request"""


class Session:
    """Runs the graphs. Thread-safe, and usable in forked processes.

    The main graph reads what the encoder's featurizer gives and returns `arcs` [batch, N, N], `shift` [batch, N],
    `reduce` and `no_arc` if the system has them, `relation_heads` and `relation_dependents` [batch, N, width], and the
    best label [batch, N] and the logits [N, batch, labels] of each column. If the score of an arc includes its best
    relation, it also has an input `with_totals` and an output `totals` [batch, N, N].
    """

    def __init__(self, model: ModelFile, reload: Callable[[], ModelFile], name: str) -> None:
        """`reload` returns the model once more in a forked process: its graphs are not kept here."""
        self._name = name
        self._description = model.description
        system = get_system(model.description.system)
        self._outputs = ["arcs", "shift", "relation_heads", "relation_dependents", *model.description.columns]
        self._outputs += ["reduce"] if system.has_reduce else []
        self._outputs += ["no_arc"] if system.has_no_arc else []

        def open_one(graph: str) -> Graph:
            keeps_memory = graph == MAIN and model.description.features.keeps_memory
            return Graph(model.graphs[graph], lambda: reload().graphs[graph], name, keeps_memory=keeps_memory)

        try:
            self._main, self._relations = open_one(MAIN), open_one(RELATIONS)
            encoder_graphs = {graph: open_one(graph) for graph in model.description.features.graphs}
            self.inputs: Callable[[Forms], Arrays] = model.description.features.graph_inputs(encoder_graphs)
            self._declared = {output.name: output for output in self._main.session.get_outputs()}
            self._has_totals = TOTALS in self._declared
            self._probe()
        except LongarcError:
            raise
        except Exception as error:  # onnxruntime's exceptions have no other common base
            raise LongarcError(f"{name}: the graph does not work: {error}") from None

    def run(self, sentences: Forms, *, totals: bool, logits: bool = False) -> BatchScores:
        """Score the sentences of a batch; cells beyond a sentence's end are arbitrary."""
        extra = [logits_of(name) for name in self._description.columns] if logits else []
        if extra and not self._declared.keys() >= set(extra):
            hint = "It was packaged by an earlier version: package its training again with `longarc package`."
            raise LongarcError(f"{self._name}: the model does not return the scores of all labels", hint)
        searches_totals = self._has_totals and self._description.arc_score == "total"
        with_totals = (totals and self._has_totals) or searches_totals
        extra += [TOTALS] if with_totals else []
        lengths = lengths_in_nodes(sentences)
        features = self._description.features
        groups = groups_of_like_length(lengths, features.group_cost, features.padding_power)
        if len(groups) <= 1:
            arrays = self._run_group(sentences, extra)
        else:
            arrays = self._allocate(len(sentences), int(lengths.max()), extra, np.zeros)
            for rows in groups:
                for name, part in self._run_group([sentences[row] for row in rows.tolist()], extra).items():
                    index: Any = (rows, slice(part.shape[1]), *(slice(size) for size in part.shape[2:]))
                    arrays[name][index] = part
        for name, column in self._description.columns.items():
            self._check_labels(arrays[name], column.labels)
        scores = ScoreTable(
            arrays[TOTALS if searches_totals else "arcs"],
            arrays["shift"],
            arrays.get("reduce"),
            arrays.get("no_arc"),
            self._description.crossing_cost,
        )
        total_scores = replace(scores, arcs=arrays[TOTALS]) if with_totals else scores
        return BatchScores(
            scores,
            total_scores if totals else None,
            {name: arrays[name] for name in self._description.columns},
            arrays["relation_heads"],
            arrays["relation_dependents"],
            {name: arrays[logits_of(name)] for name in self._description.columns} if logits else {},
        )

    def _run_group(self, sentences: Forms, extra: list[str]) -> Arrays:
        """Run the main graph; it writes into arrays made here, so that a long sentence's scores do not exist twice.

        extra: the outputs to compute besides those that every search needs.
        """
        inputs = self.inputs(sentences)
        arrays = self._allocate(len(sentences), int(inputs["lengths"].max()), extra, np.empty)
        logits = {logits_of(name) for name in self._description.columns}
        binding = self._main.session.io_binding()
        for name, value in inputs.items():
            binding.bind_cpu_input(name, np.ascontiguousarray(value))
        if self._has_totals:
            binding.bind_cpu_input("with_totals", np.array(TOTALS in extra))
        for name, array in arrays.items():
            shape = _nodes_first(array).shape if name in logits else array.shape
            binding.bind_output(name, "cpu", 0, array.dtype, shape, array.ctypes.data)
        self._main.run_bound(binding, is_large=arrays["arcs"].size > LARGE_BATCH)
        return {name: _nodes_first(array).swapaxes(0, 1) if name in logits else array for name, array in arrays.items()}

    def _check_labels(self, numbers: Ints, labels: Labels) -> None:
        if numbers.dtype != np.int64 or not 0 <= numbers.min(initial=0) <= numbers.max(initial=0) < len(labels):
            raise LongarcError(f"{self._name}: the graph does not fit its description")

    def _allocate(self, batch: int, nodes: int, extra: list[str], make: Callable[..., NDArray[Any]]) -> Arrays:
        arrays = {}
        for name in [*self._outputs, *extra]:
            declared = self._declared[name]
            sizes = [size if isinstance(size, int) else nodes for size in declared.shape[2:]]
            arrays[name] = make((batch, nodes, *sizes), DTYPES[declared.type])
        return arrays

    def relations(self, scores: BatchScores, heads: Ints) -> tuple[Ints, NDArray[np.float32]]:
        """[batch, N] Return the best relation of each word to its head [batch, N] and its probability given the arc;
        arbitrary for the root and for padding."""
        words = np.nonzero(heads != NO_HEAD)
        numbers, probabilities = np.zeros(heads.shape, np.int64), np.zeros(heads.shape, np.float32)
        numbers[words], probabilities[words] = self._label_arcs(["relations", "probabilities"], scores, heads)
        self._check_labels(numbers, self._description.relations)
        return numbers, probabilities

    def relation_scores(self, scores: BatchScores, heads: Ints) -> NDArray[np.float32]:
        """[arcs, relations] Return the scores of all relations of the arcs in `heads` [batch, N], row by row."""
        (result,) = self._label_arcs([RELATION_SCORES], scores, heads)
        return np.asarray(result.reshape(-1, len(self._description.relations)))

    def _label_arcs(self, outputs: list[str], scores: BatchScores, heads: Ints) -> list[NDArray[Any]]:
        """[arcs, …] Return outputs of the relation graph for the arcs in `heads` [batch, N], row by row."""
        rows, words = np.nonzero(heads != NO_HEAD)
        head_of = heads[rows, words]
        inputs: dict[str, Any] = {
            "heads": scores.relation_heads[rows, head_of],
            "dependents": scores.relation_dependents[rows, words],
            "is_root": head_of == 0,
        }
        parts = [
            self._relations.run(outputs, {name: value[start : start + ARCS_AT_ONCE] for name, value in inputs.items()})
            for start in range(0, len(rows), ARCS_AT_ONCE)
        ]
        return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)] or [np.zeros(0)] * len(outputs)

    def _probe(self) -> None:
        """Score a few words to find out now whether the graphs fit the description."""
        if missing := set(self._outputs) - self._declared.keys():
            raise LongarcError(f"{self._name}: the graph does not return {', '.join(sorted(missing))}")
        last_word, last_character = self._description.features.probe()
        result = self.run([["", last_word], [last_character]], totals=True)
        self.relations(result, np.array([[NO_HEAD, 2, 0], [NO_HEAD, 0, NO_HEAD]]))
        assert result.totals is not None
        for table in (result.scores, result.totals):
            if not all(np.isfinite(array).all() for array in table.arrays.values()):
                message = f"{self._name}: the graph gives scores that are not numbers"
                raise LongarcError(message, "Its weights are damaged.")


def logits_of(column: str) -> str:
    """Return the name of the output with the scores of a column's labels."""
    return f"{column}_logits"


def _nodes_first(array: NDArray[Any]) -> NDArray[Any]:
    """Return the memory of an array [batch, N, labels] as an array [N, batch, labels]."""
    batch, nodes, labels = array.shape
    return array.reshape(nodes, batch, labels)
