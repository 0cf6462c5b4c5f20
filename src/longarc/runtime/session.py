"""The graph of a model in onnxruntime: batches of word numbers in, scores out."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from longarc.errors import LongarcError
from longarc.runtime.package import Description
from longarc.transitions import get_system
from longarc.transitions.system import ScoreLayout

QUIET = 3  # onnxruntime's warnings are for its developers


@dataclass(frozen=True)
class BatchScores:
    """What the graph says of a batch."""

    scores: NDArray[np.float32]
    """[batch, width], see ScoreLayout; of an arc the best relation's"""
    totals: NDArray[np.float32] | None
    """[batch, width] the same with the log of the summed exponentials over an arc's relations"""
    relations: NDArray[np.integer[Any]]
    """[N head, batch, N dependent] the best relation of each arc"""
    tags: NDArray[np.int64]
    """[batch, N]"""
    fine_tags: NDArray[np.int64] | None


class Session:
    """Runs the graph; may be used from several threads at once, and goes on working in a forked process."""

    def __init__(self, graph: Callable[[], bytes], description: Description, name: str) -> None:
        """`graph` gives the graph's bytes whenever they are needed; they are not kept."""
        self._graph = graph
        self._name = name
        self._description = description
        self._system = get_system(description.system)
        self._owner = 0
        self._session: Any = None
        self._outputs = ["relations", "shift", "tags"]
        self._outputs += ["fine_tags"] if len(description.fine_tags) else []
        self._outputs += ["no_arc"] if self._system.has_no_arc else []
        self._outputs += ["reduce"] if self._system.has_reduce else []
        self._options = onnxruntime.RunOptions()
        self._options.only_execute_path_to_fetches = True
        self._try_out()

    def run(self, words: NDArray[np.int64], lengths: NDArray[np.int32], totals: bool) -> BatchScores:
        """words: [N, batch]; lengths: [batch] in nodes."""
        nodes, batch = words.shape
        layout = ScoreLayout(nodes)
        binding = self._get().io_binding()
        binding.bind_cpu_input("words", np.ascontiguousarray(words))
        binding.bind_cpu_input("lengths", lengths)
        arcs = {
            name: np.empty((batch, layout.width(self._system)), np.float32) for name in ("best", "total")[: 1 + totals]
        }
        # The scores of one sentence are written where they will be searched: of a long one there is room for no copy.
        direct = batch == 1
        for name, flat in arcs.items():
            if direct:
                shape = (nodes, batch, nodes)
                binding.bind_output(name, "cpu", 0, np.float32, shape, flat.ctypes.data)
            else:
                binding.bind_output(name)
        for name in self._outputs:
            binding.bind_output(name)
        self._get().run_with_iobinding(binding, self._options)
        values = binding.get_outputs()[len(arcs) :]
        found = {name: value.numpy() for name, value in zip(self._outputs, values, strict=True)}
        for number, flat in enumerate(arcs.values()):
            if not direct:
                by_head = binding.get_outputs()[number].numpy()
                flat[:, : nodes**2].reshape(batch, nodes, nodes)[:] = by_head.transpose(1, 0, 2)
            self._add_other_scores(flat, layout, found)
        return BatchScores(arcs["best"], arcs.get("total"), found["relations"], found["tags"], found.get("fine_tags"))

    def _add_other_scores(self, flat: NDArray[np.float32], layout: ScoreLayout, found: dict[str, Any]) -> None:
        """Puts the scores that are not of arcs in their places in ScoreLayout rows."""
        nodes = layout.nodes
        flat[:, layout.shift(0) : layout.shift(nodes)] = found["shift"]
        if self._system.has_reduce:
            flat[:, layout.reduce(0) : layout.reduce(nodes)] = found["reduce"]
        if self._system.has_no_arc:
            flat[:, layout.reduce(0) : layout.reduce(nodes)] = 0  # no system has both
            no_arc = flat[:, layout.no_arc(0, 0) :].reshape(len(flat), nodes, nodes)
            no_arc[:] = found["no_arc"].transpose(1, 0, 2)

    def _get(self) -> Any:
        """The session of this process: onnxruntime's threads do not survive a fork."""
        if self._owner != os.getpid():
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1  # the parser has a thread for each core, each with a batch of its own
            options.log_severity_level = QUIET
            try:
                self._session = onnxruntime.InferenceSession(self._graph(), options, providers=["CPUExecutionProvider"])
            except Exception as error:  # onnxruntime's exceptions have no common base but this
                raise LongarcError(f"{self._name}: the graph cannot be loaded: {error}") from None
            self._owner = os.getpid()
        return self._session

    def _try_out(self) -> None:
        """Parses two empty words, to find out now whether the graph is what the description says."""
        names = {output.name for output in self._get().get_outputs()}
        if missing := {*self._outputs, "best", "total"} - names:
            raise LongarcError(f"{self._name}: the graph does not give {', '.join(sorted(missing))}")
        words, lengths = np.array([[1, 1], [0, 0], [0, 0]]), np.array([3, 2], dtype=np.int32)
        last = np.full_like(words, len(self._description.words) - 1)
        try:
            found = self.run(words, lengths, totals=True)
            self.run(last, lengths, totals=True)
        except Exception as error:  # see above
            raise LongarcError(f"{self._name}: the graph does not work: {error}") from None
        fits = found.relations.shape == (3, 2, 3) and found.relations.max() < len(self._description.relations)
        for best, labels in ((found.tags, self._description.tags), (found.fine_tags, self._description.fine_tags)):
            fits = fits and (best is None or (best.shape == (2, 3) and best.max() < len(labels)))
        if not fits:
            raise LongarcError(f"{self._name}: the graph does not fit its description")
        if not np.isfinite(found.scores).all():
            raise LongarcError(f"{self._name}: the graph gives scores that are not numbers", "Its weights are damaged.")
